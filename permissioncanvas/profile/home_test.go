package profile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// place is a fake machine: a user's home with what a test puts in it.
type place struct {
	root, hermes, config string
	env                  map[string]string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root := t.TempDir()
	p := &place{root: root, env: map[string]string{}}
	switch runtime.GOOS {
	case "windows":
		p.env["LOCALAPPDATA"], p.env["APPDATA"] = filepath.Join(root, "local"), filepath.Join(root, "roaming")
		p.hermes, p.config = filepath.Join(root, "local", "hermes"), filepath.Join(root, "roaming")
	case "darwin":
		p.env["HOME"] = root
		p.hermes, p.config = filepath.Join(root, ".hermes"), filepath.Join(root, "Library", "Application Support")
	default:
		p.env["HOME"] = root
		p.hermes, p.config = filepath.Join(root, ".hermes"), filepath.Join(root, ".config")
	}
	return p
}

func (p *place) get(name string) string { return p.env[name] }

// at is a path of the fake machine.
func (p *place) at(elem ...string) string { return filepath.Join(append([]string{p.root}, elem...)...) }

// profileIn puts a policy under a profile home.
func profileIn(t *testing.T, home string) {
	t.Helper()
	dir := filepath.Join(home, "permission-canvas")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policy.json"), []byte("{}"), 0o600))
}

func in(home string) string { return filepath.Join(home, "permission-canvas") }

func TestDir(t *testing.T) {
	tests := []struct {
		name string
		set  func(t *testing.T, p *place) (dataDir, home string)
		want func(p *place) string
	}{
		{"nothing: the configuration directory", func(*testing.T, *place) (string, string) { return "", "" },
			func(p *place) string { return in(p.config) }},
		{"Hermes's home where it exists", func(t *testing.T, p *place) (string, string) {
			require.NoError(t, os.MkdirAll(p.hermes, 0o700))
			return "", ""
		}, func(p *place) string { return in(p.hermes) }},
		{"Hermes's home that is a file", func(t *testing.T, p *place) (string, string) {
			require.NoError(t, os.MkdirAll(filepath.Dir(p.hermes), 0o700))
			require.NoError(t, os.WriteFile(p.hermes, nil, 0o600))
			return "", ""
		}, func(p *place) string { return in(p.config) }},
		{"D11 a profile stays where it is when Hermes comes", func(t *testing.T, p *place) (string, string) {
			profileIn(t, p.config)
			require.NoError(t, os.MkdirAll(p.hermes, 0o700))
			return "", ""
		}, func(p *place) string { return in(p.config) }},
		{"a profile in Hermes's home", func(t *testing.T, p *place) (string, string) {
			profileIn(t, p.hermes)
			return "", ""
		}, func(p *place) string { return in(p.hermes) }},
		{"HERMES_HOME", func(t *testing.T, p *place) (string, string) {
			require.NoError(t, os.MkdirAll(p.hermes, 0o700))
			p.env["HERMES_HOME"] = p.at("h")
			return "", ""
		}, func(p *place) string { return in(p.at("h")) }},
		{"HERMES_HOME with a profile", func(t *testing.T, p *place) (string, string) {
			profileIn(t, p.at("h"))
			p.env["HERMES_HOME"] = p.at("h") + string(filepath.Separator)
			return "", ""
		}, func(p *place) string { return in(p.at("h")) }},
		{"HERMES_HOME that is Hermes's usual home", func(t *testing.T, p *place) (string, string) {
			profileIn(t, p.hermes)
			p.env["HERMES_HOME"] = p.hermes
			return "", ""
		}, func(p *place) string { return in(p.hermes) }},
		{"HERMES_HOME alone", func(t *testing.T, p *place) (string, string) {
			p.env = map[string]string{"HERMES_HOME": p.at("h")}
			return "", ""
		}, func(p *place) string { return in(p.at("h")) }},
		{"PERMISSION_CANVAS_HOME is the directory itself", func(t *testing.T, p *place) (string, string) {
			p.env["PERMISSION_CANVAS_HOME"], p.env["HERMES_HOME"] = p.at("c"), p.at("h")
			return "", ""
		}, func(p *place) string { return p.at("c") }},
		{"PERMISSION_CANVAS_HOME ends a conflict", func(t *testing.T, p *place) (string, string) {
			profileIn(t, p.config)
			profileIn(t, p.hermes)
			p.env["PERMISSION_CANVAS_HOME"] = in(p.config)
			return "", ""
		}, func(p *place) string { return in(p.config) }},
		{"a home", func(t *testing.T, p *place) (string, string) {
			profileIn(t, p.config)
			return "", p.at("e")
		}, func(p *place) string { return in(p.at("e")) }},
		{"a home ends a conflict", func(t *testing.T, p *place) (string, string) {
			profileIn(t, p.config)
			profileIn(t, p.hermes)
			return "", p.hermes
		}, func(p *place) string { return in(p.hermes) }},
		{"a home and the same PERMISSION_CANVAS_HOME", func(t *testing.T, p *place) (string, string) {
			p.env["PERMISSION_CANVAS_HOME"] = in(p.at("e"))
			return "", p.at("e")
		}, func(p *place) string { return in(p.at("e")) }},
		{"the usual home does not count as a choice", func(t *testing.T, p *place) (string, string) {
			p.env["PERMISSION_CANVAS_HOME"] = p.at("c")
			return "", p.config
		}, func(p *place) string { return p.at("c") }},
		{"the usual home by HERMES_HOME does not either", func(t *testing.T, p *place) (string, string) {
			p.env["PERMISSION_CANVAS_HOME"], p.env["HERMES_HOME"] = p.at("c"), p.at("h")
			return "", p.at("h")
		}, func(p *place) string { return p.at("c") }},
		{"a data directory", func(t *testing.T, p *place) (string, string) { return p.at("d"), "" },
			func(p *place) string { return p.at("d") }},
		{"a data directory before a home", func(t *testing.T, p *place) (string, string) { return p.at("d"), p.at("e") },
			func(p *place) string { return p.at("d") }},
		{"a data directory with nothing in the environment", func(t *testing.T, p *place) (string, string) {
			p.env = nil
			return p.at("d"), ""
		}, func(p *place) string { return p.at("d") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			dataDir, home := tt.set(t, p)
			got, err := profile.Dir(dataDir, home, p.get)
			require.NoError(t, err)
			require.Equal(t, tt.want(p), got)
		})
	}
}

func TestDirRefuses(t *testing.T) {
	conflict := func(t *testing.T, err error, dirs ...string) {
		t.Helper()
		var c *profile.ConflictError
		require.ErrorAs(t, err, &c)
		require.Equal(t, dirs, []string{c.First, c.Second})
		require.ErrorContains(t, err, dirs[0])
		require.ErrorContains(t, err, dirs[1])
	}
	t.Run("D10 an argument and the environment", func(t *testing.T) {
		p := newPlace(t)
		p.env["PERMISSION_CANVAS_HOME"] = p.at("c")
		_, err := profile.Dir("", p.at("e"), p.get)
		conflict(t, err, in(p.at("e")), p.at("c"))
		_, err = profile.Dir(p.at("d"), "", p.get)
		conflict(t, err, p.at("d"), p.at("c"))
	})
	t.Run("two profiles in usual places", func(t *testing.T) {
		p := newPlace(t)
		profileIn(t, p.hermes)
		profileIn(t, p.config)
		_, err := profile.Dir("", "", p.get)
		conflict(t, err, in(p.hermes), in(p.config))
	})
	t.Run("one in HERMES_HOME and one in a usual place", func(t *testing.T) {
		p := newPlace(t)
		profileIn(t, p.at("h"))
		profileIn(t, p.config)
		p.env["HERMES_HOME"] = p.at("h")
		_, err := profile.Dir("", "", p.get)
		conflict(t, err, in(p.at("h")), in(p.config))
	})
	t.Run("D11 a profile would be left behind", func(t *testing.T) {
		p := newPlace(t)
		profileIn(t, p.config)
		p.env["HERMES_HOME"] = p.at("h")
		_, err := profile.Dir("", "", p.get)
		var m *profile.MigrationError
		require.ErrorAs(t, err, &m)
		require.Equal(t, profile.MigrationError{Old: in(p.config), New: in(p.at("h"))}, *m)
		require.ErrorContains(t, err, m.Old)
		require.ErrorContains(t, err, m.New)
	})
	for _, name := range []string{"PERMISSION_CANVAS_HOME", "HERMES_HOME"} {
		t.Run("relative "+name, func(t *testing.T) {
			p := newPlace(t)
			p.env[name] = filepath.Join("some", "where")
			_, err := profile.Dir("", "", p.get)
			require.ErrorContains(t, err, name)
			require.ErrorContains(t, err, "absolute")
		})
	}
	t.Run("no home at all", func(t *testing.T) {
		_, err := profile.Dir("", "", func(string) string { return "" })
		require.ErrorContains(t, err, "is not set")
		require.ErrorContains(t, err, "--data-dir")
	})
}

func TestDirMakesNothing(t *testing.T) {
	p := newPlace(t)
	_, err := profile.Dir("", "", p.get)
	require.NoError(t, err)
	entries, err := os.ReadDir(p.root)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestDefaultHome(t *testing.T) {
	p := newPlace(t)
	t.Setenv("HERMES_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	for name, value := range p.env {
		t.Setenv(name, value)
	}
	home, err := profile.DefaultHome()
	require.NoError(t, err)
	require.Equal(t, p.config, home)
}
