package arch_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/arch"
)

const (
	agentsSide = "the agent's side must not hold the person's side"
	noReview   = "the agent's side must not hold the means to approve"
	noCgo      = "it builds without cgo"
	decides    = "it decides; it does nothing"
)

var rules = arch.Rules{
	Module: "github.com/permission-canvas/permission-canvas",

	May: map[string][]string{
		"driver":            {},
		"driver/cua":        {"driver", "internal/mcpwire", "internal/strictjson"},
		"driver/sim":        {"driver", "internal/strictjson"},
		"driver/atspi":      {"driver"},
		"driver/witnessed":  {"driver"},
		"driver/desktop":    {"driver", "driver/cua", "driver/atspi", "driver/witnessed"},
		"driver/drivertest": {"driver"},

		"redact": {"driver"},
		"audit":  {"internal/statefile", "internal/strictjson"},

		"approval":                 {"approval/internal/ledger"},
		"approval/review":          {"approval", "approval/internal/ledger", "internal/visible"},
		"approval/internal/ledger": {"internal/statefile", "internal/strictjson"},
		"approval/detached":        {"approval", "internal/statefile", "internal/strictjson"},
		"approval/canon": {"approval", "approval/review", "approval/detached", "audit", "internal/statefile",
			"internal/visible", "internal/strictjson", "approval/canon/card", "approval/canon/turn", "approval/canon/profile"},
		"approval/canon/card":      {"internal/strictjson", "internal/visible"},
		"approval/canon/turn":      {"internal/strictjson"},
		"approval/canon/profile":   {"internal/statefile", "internal/strictjson"},
		"approval/canon/canontest": {"approval/canon", "approval/canon/card", "approval/canon/turn", "approval/canon/profile"},

		"permissioncanvas": {"driver", "driver/desktop", "permissioncanvas/profile", "permissioncanvas/sight",
			"permissioncanvas/manifest", "permissioncanvas/policy", "permissioncanvas/guard", "permissioncanvas/handoff",
			"redact", "approval", "audit", "internal/strictjson"},
		"permissioncanvas/profile":  {"driver", "permissioncanvas/policy", "internal/statefile", "internal/strictjson"},
		"permissioncanvas/sight":    {"driver", "permissioncanvas/policy", "redact"},
		"permissioncanvas/manifest": {"internal/strictjson"},
		"permissioncanvas/policy":   {"driver", "internal/strictjson"},
		"permissioncanvas/guard":    {},
		"permissioncanvas/handoff":  {"internal/statefile", "internal/strictjson"},
		"permissioncanvas/control": {"driver", "permissioncanvas/profile", "permissioncanvas/sight", "permissioncanvas/policy",
			"permissioncanvas/guard", "permissioncanvas/handoff", "redact", "approval/review", "audit", "internal/statefile",
			"internal/visible", "internal/strictjson"},
		"permissioncanvas/panel":      {"permissioncanvas/control", "internal/visible"},
		"permissioncanvas/canvastest": {"permissioncanvas", "driver/sim", "permissioncanvas/control"},

		// A main that chooses a driver needs the interface's name.
		"shim":                   {"permissioncanvas", "permissioncanvas/guard", "internal/mcpwire", "internal/strictjson"},
		"shim/permission-canvas": {"shim", "permissioncanvas", "driver", "driver/desktop", "driver/sim", "internal/strictjson"},
		"shim/pc":                {"permissioncanvas/control", "driver", "driver/desktop", "driver/sim", "internal/visible"},
		"shim/pc-canvas":         {"permissioncanvas/panel", "permissioncanvas/control", "driver/desktop", "driver/sim"},
		"shim/pc-canon": {"approval/canon", "approval/canon/card", "approval/canon/turn", "approval/canon/profile",
			"internal/mcpwire", "internal/strictjson", "internal/visible"},

		"examples/quickstart": {"permissioncanvas", "driver/sim", "permissioncanvas/control"},
		"examples/embed":      {"permissioncanvas", "driver/sim"},
		"examples/mcphost":    {"permissioncanvas", "driver/sim"},
		"examples/canonhost":  {"permissioncanvas", "driver/sim", "approval/canon"},

		"internal/statefile":  {},
		"internal/strictjson": {},
		"internal/mcpwire":    {"internal/strictjson"},
		"internal/visible":    {},
		"internal/arch":       {},
		"internal/fixture":    {},
		"scripts/gate":        {},
	},

	Home: map[string][]string{
		"github.com/modelcontextprotocol/go-sdk": {"internal/mcpwire", "driver/cua", "shim", "shim/pc-canon", "examples/mcphost"},
		"github.com/gofrs/flock":                 {"internal/statefile"},
		"github.com/google/renameio/v2":          {"internal/statefile"},
		"github.com/disintegration/imaging":      {"redact"},
		"golang.org/x/sys":                       {"internal/statefile", "driver/cua"},
		"golang.org/x/text":                      {"permissioncanvas/policy", "redact"}, // one reading of what texts are alike
		"golang.org/x/image":                     {"driver/sim"},
		"github.com/jezek/xgb":                   {"driver/cua", "internal/fixture"},
		"github.com/godbus/dbus/v5":              {"driver/atspi"},
		// The driver's capability manifests are YAML, and are read as it reads them.
		"go.yaml.in/yaml/v3":              {"permissioncanvas/manifest"},
		"gioui.org":                       {"permissioncanvas/panel"},
		"charm.land/bubbletea/v2":         {"shim/pc"}, // draws pc watch; version 1 asks the terminal at every start
		"github.com/charmbracelet/x/ansi": {"shim/pc"}, // how wide a text is, as what draws it has it
	},

	ForTests: []string{
		"github.com/stretchr/testify/require",
		"github.com/rogpeppe/go-internal",
		"github.com/google/jsonschema-go",
		"pgregory.net/rapid",
	},

	TestCode: []string{"driver/drivertest", "permissioncanvas/canvastest", "approval/canon/canontest", "internal/fixture"},

	NotDirectly: map[string][]string{
		"driver":                    {"os", "os/exec", "net", "net/http", "io/fs", "path/filepath"},
		"approval":                  {"os/exec", "net", "net/http"}, // x/sys reaches net on Windows
		"approval/review":           {"os/exec", "net", "net/http"},
		"audit":                     {"os/exec", "net", "net/http"},
		"permissioncanvas/policy":   {"os", "io/fs", "path/filepath", "time"},
		"permissioncanvas/guard":    {"os", "io/fs", "path/filepath", "time"},
		"permissioncanvas/manifest": {"os", "io/fs", "path/filepath", "time"},
	},

	Never: map[string]map[string]string{
		"permissioncanvas": {
			"approval/review":          noReview,
			"permissioncanvas/control": agentsSide,
			"approval/canon":           "a host that wants no network gets none of ours",
			"gioui.org":                "hosts embed this without cgo",
		},
		"shim": {
			"approval/review":          "no approval tool may face the model",
			"permissioncanvas/control": agentsSide,
			"gioui.org":                noCgo,
		},
		"shim/permission-canvas": {
			"approval/review":          "the agent-facing executable cannot approve",
			"permissioncanvas/control": "the agent-facing executable cannot edit rules",
			"permissioncanvas/panel":   agentsSide,
			"approval/canon":           "the agent-facing executable speaks to no channel",
			"gioui.org":                noCgo,
		},
		"shim/pc":                   {"gioui.org": "approving works over a plain terminal"},
		"permissioncanvas/control":  {"gioui.org": noCgo, "net/http": "the person's side speaks to no network"},
		"permissioncanvas/policy":   {"os/exec": decides, "net": decides},
		"permissioncanvas/guard":    {"os/exec": decides, "net": decides},
		"permissioncanvas/manifest": {"os/exec": decides, "net": decides},
		"redact":                    {"os/exec": decides, "net": decides},
		"approval":                  {"approval/review": noReview},
		"driver/sim":                {"os/exec": "a desktop in memory starts nothing", "net": "a desktop in memory reaches nothing"},
	},
}

var style = arch.Style{
	Long: map[string]string{
		"approval/internal/ledger/codec.go:codec": "a visitor has a method for each kind of member",
	},

	Writers: map[string]string{
		"internal/statefile":          "it is the door",
		"internal/arch":               "it names the functions",
		"internal/fixture":            "a test's browser profile",
		"driver/drivertest":           "the script of a lying driver in a test's folder",
		"permissioncanvas/canvastest": "the rules that a host's test gives, in that test's folder",
		"scripts/gate":                "the reports of a test run, which are nobody's state",
		"shim/permission-canvas":      "the log file that its user names",
		"examples/...":                "an example writes where its user says",
	},

	// In pieces, or this line would be found.
	Machine: []string{"/wor" + "k/main", "/wor" + "k/shared", "/roo" + "t/", "/tmp/" + "d1", "/tmp/" + "cua"},
}

func TestArrows(t *testing.T) {
	require.Empty(t, rules.CheckTables())
	root, err := arch.Root()
	require.NoError(t, err)
	for _, goos := range []string{"linux", "windows", "darwin"} {
		t.Run(goos, func(t *testing.T) {
			t.Parallel()
			packages, err := arch.List(root, rules.Module, goos)
			require.NoError(t, err)
			require.NotEmpty(t, packages)
			for _, p := range packages {
				for _, fault := range rules.Check(p) {
					t.Error(fault)
				}
			}
		})
	}
}

func TestStyle(t *testing.T) {
	root, err := arch.Root()
	require.NoError(t, err)
	here := style
	if home, err := os.UserHomeDir(); err == nil && strings.Count(home, "/") > 1 {
		here.Machine = append(here.Machine, home+"/")
	}
	if strings.Count(root, "/") > 1 {
		here.Machine = append(here.Machine, root+"/")
	}
	faults, err := here.CheckTree(root)
	require.NoError(t, err)
	for _, fault := range faults {
		t.Error(fault)
	}
}
