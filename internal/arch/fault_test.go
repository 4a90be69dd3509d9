package arch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/arch"
)

// planted makes a package of ours as go list would tell it.
func planted(name string, imports ...string) arch.Package {
	return arch.Package{ImportPath: rules.Module + "/" + name, Imports: imports, Deps: imports}
}

func ours(name string) string { return rules.Module + "/" + name }

func TestPlantedImportsAreFound(t *testing.T) {
	for _, test := range []struct {
		name    string
		planted arch.Package
		want    string
	}{
		{"the agent's side imports review", planted("permissioncanvas", ours("approval/review")),
			"permissioncanvas -> approval/review: no such arrow"},
		{"the agent's side reaches review", arch.Package{ImportPath: ours("permissioncanvas"), Deps: []string{ours("approval/review")}},
			"permissioncanvas reaches approval/review: the agent's side must not hold the means to approve"},
		{"the agent's main reaches control", arch.Package{ImportPath: ours("shim/permission-canvas"), Deps: []string{ours("permissioncanvas/control")}},
			"the agent-facing executable cannot edit rules"},
		{"the agent's main reaches Gio", arch.Package{ImportPath: ours("shim/permission-canvas"), Deps: []string{"gioui.org/app"}},
			"shim/permission-canvas reaches gioui.org/app: it builds without cgo"},
		{"policy starts processes", planted("permissioncanvas/policy", "os/exec"), "permissioncanvas/policy reaches os/exec"},
		{"policy opens files", planted("permissioncanvas/policy", "os"), "permissioncanvas/policy imports os itself"},
		{"policy reads the clock", planted("permissioncanvas/policy", "time"), "permissioncanvas/policy imports time itself"},
		{"guard imports one of ours", planted("permissioncanvas/guard", ours("driver")), "no such arrow"},
		{"a second door to disk", planted("approval", "github.com/gofrs/flock"),
			"approval imports github.com/gofrs/flock; its homes are [internal/statefile]"},
		{"a module without a home", planted("redact", "example.com/new"), "redact imports example.com/new; its homes are []"},
		{"a module whose name only begins alike", planted("internal/statefile", "github.com/gofrs/flocks"), "its homes are []"},
		{"a test's module in production", planted("audit", "github.com/stretchr/testify/require"), "only tests may"},
		{"testing in production", planted("audit", "testing"), "no test code in production"},
		{"test code in production", planted("audit", ours("driver/drivertest")), "audit -> driver/drivertest: no such arrow"},
		{"another module of testify in a test", arch.Package{ImportPath: ours("audit"), XTestImports: []string{"github.com/stretchr/testify/assert"}},
			"its test imports github.com/stretchr/testify/assert, which has no home"},
		{"a package missing from the table", planted("internal/new"), "internal/new: not in the table of packages"},
		{"a package that does not load", arch.Package{ImportPath: ours("audit"), Error: &struct{ Err string }{"import cycle"}}, "import cycle"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Contains(t, strings.Join(rules.Check(test.planted), "\n"), test.want)
		})
	}
}

func TestWhatIsAllowedIsNoFault(t *testing.T) {
	for name, p := range map[string]arch.Package{
		"an arrow of the table":             planted("redact", ours("driver"), "fmt"),
		"a module at home":                  planted("internal/statefile", "github.com/google/renameio/v2/maybe"),
		"test code that uses testing":       planted("driver/drivertest", "testing", "github.com/stretchr/testify/require"),
		"a test that uses what tests may":   {ImportPath: ours("audit"), TestImports: []string{"pgregory.net/rapid", ours("driver/sim")}},
		"a package of another system":       {ImportPath: ours("x"), Error: &struct{ Err string }{"build constraints exclude all Go files in x"}},
		"what a package may reach, not use": {ImportPath: ours("audit"), Imports: []string{"os"}, Deps: []string{"net", "os"}},
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, rules.Check(p)) })
	}
}

func TestALineThatProtectsNothingIsAFault(t *testing.T) {
	broken := arch.Rules{
		Module:      "example.test/m",
		May:         map[string][]string{"a": {"gone"}},
		Home:        map[string][]string{"example.test/mod": {"moved"}},
		TestCode:    []string{"old"},
		NotDirectly: map[string][]string{"former": {"os"}},
		Never:       map[string]map[string]string{"a": {"nowhere.org/x": "why", "approval/typo": "why"}, "late": nil},
	}
	faults := strings.Join(broken.CheckTables(), "\n")
	for _, name := range []string{"gone", "moved", "old", "former", "nowhere.org/x", "approval/typo", "late"} {
		require.Contains(t, faults, name)
	}
}

func TestPlantedStyleIsFound(t *testing.T) {
	const head = "// Package a is planted.\npackage a\n"
	long := strings.Repeat("\n", 60)
	for _, test := range []struct{ name, file, text, want string }{
		{"init", "a/a.go", head + "func init() {}\n", "func init"},
		{"an option function", "a/a.go", head + "func WithLogger() {}\n", "func WithLogger"},
		{"a default logger", "a/a.go", head + "var l = slog.Default()\n", "slog.Default"},
		{"a wide interface", "a/a.go", head + "type I interface { A(); B(); C(); D(); E() }\n", "interface I has 5 methods"},
		{"a long function", "a/a.go", head + "func f() {" + long + "}\n", "func f has 61 lines"},
		{"a long file", "a/a.go", head + strings.Repeat("\n", 500), "502 lines; at most 500"},
		{"a vague name", "a/utils.go", head, "named for the thing"},
		{"a vague test", "a/helpers_test.go", head, "named for the thing"},
		{"a second door to disk", "a/a.go", head + "var e = os.WriteFile(n, b, 0)\n", "os.WriteFile"},
		{"what is no Go", "a/a.go", "package", "expected"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Contains(t, strings.Join(style.CheckSource(test.file, []byte(test.text)), "\n"), test.want)
		})
	}
}

func TestStyleLeavesInPeace(t *testing.T) {
	const head = "// Package a is planted.\npackage a\n"
	for name, test := range map[string]struct{ file, text string }{
		"a method that begins with With": {"a/a.go", head + "func (t T) WithLogger() {}\n"},
		"a function named Without":       {"a/a.go", head + "func Without() {}\n"},
		"a function named Within":        {"a/a.go", head + "func Within() {}\n"},
		"a test that writes":             {"a/a_test.go", head + "var e = os.WriteFile(n, b, 0)\n"},
		"an example that writes":         {"examples/quickstart/main.go", head + "var e = os.WriteFile(n, b, 0)\n"},
		"a file that another tool made":  {"a/a.go", "// Code generated by x. DO NOT EDIT.\n\n" + head + "func init() {}\n"},
		"a program that is run by hand":  {"a/a.go", "//go:build ignore\n\npackage main\nfunc init() {}\n"},
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, style.CheckSource(test.file, []byte(test.text))) })
	}
}

func TestATreeIsCheckedWhole(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"good/a.go":              "// Package good is planted.\npackage good\n",
		"good/a_test.go":         "package good_test\n",
		"bare/a.go":              "package bare\n",
		"twice/a.go":             "// Package twice is planted.\npackage twice\n",
		"twice/b.go":             "// Package twice is planted again.\npackage twice\n",
		"odd/a.go":               "// This is odd.\npackage odd\n",
		"docs/notes.md":          "see " + style.Machine[0] + "/README.md\n",
		"picture.png":            "\x00" + style.Machine[0],
		".cache/a.go":            "package cached\n",
		"good/testdata/a.go":     "package whatever\n",
		"good/testdata/rapid/xy": style.Machine[0],
	} {
		path := filepath.Join(root, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	faults, err := style.CheckTree(root)
	require.NoError(t, err)
	require.Equal(t, []string{
		"bare: no package comment",
		"docs/notes.md:1: " + style.Machine[0] + " is a place on one machine only",
		`odd: the package comment does not begin with "Package odd"`,
		"twice: more than one package comment",
	}, faults)
}
