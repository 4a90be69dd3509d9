package desktop_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/desktop"
)

func exe(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// put makes an executable file, or ourselves under another name.
func put(t *testing.T, dir, name string, ourselves bool) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, exe(name))
	if !ourselves {
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700))
		return path
	}
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, path))
	return path
}

func TestPC22Find(t *testing.T) {
	root := t.TempDir()
	bin, other, data := filepath.Join(root, "bin"), filepath.Join(root, "other"), filepath.Join(root, "data")
	onPath := put(t, bin, "cua-driver", false)
	given := put(t, other, "my-driver", false)
	put(t, filepath.Join(data, "driver", "0.9.0"), "cua-driver", false)
	newest := put(t, filepath.Join(data, "driver", "0.37.0"), "cua-driver", false)
	put(t, filepath.Join(data, "driver", "v1"), "cua-driver", false)
	us := filepath.Join(root, "us")
	named := put(t, us, "permission-canvas", true)
	put(t, us, "cua-driver", true)
	dud := filepath.Join(other, "dud")
	require.NoError(t, os.WriteFile(dud, nil, 0o600))

	tests := []struct {
		name     string
		explicit string
		env      map[string]string
		data     string
		want     string
		how      string
		fails    string
	}{
		{name: "a path given", explicit: given, env: map[string]string{"PATH": bin}, want: given, how: "as given"},
		{name: "a command given", explicit: "my-driver", env: map[string]string{"PATH": other}, want: given, how: "as given"},
		{name: "a path that is not there", explicit: given + "x", fails: "not exist"},
		{name: "a directory", explicit: other, fails: "not a file"},
		{name: "ourselves given", explicit: named, fails: "itself"},
		{name: "ourselves given by name", explicit: "permission-canvas", env: map[string]string{"PATH": us}, fails: "itself"},
		{name: "the variable", env: map[string]string{"HERMES_CUA_DRIVER_CMD": given, "PATH": bin}, data: data, want: given, how: "HERMES_CUA_DRIVER_CMD"},
		{name: "the variable is wrong", env: map[string]string{"HERMES_CUA_DRIVER_CMD": "nope", "PATH": bin}, fails: "HERMES_CUA_DRIVER_CMD"},
		{
			name: "the variable names us", env: map[string]string{"HERMES_CUA_DRIVER_CMD": "permission-canvas", "PATH": us + string(os.PathListSeparator) + bin},
			want: onPath, how: "passed over",
		},
		{name: "the newest installed one", env: map[string]string{"PATH": bin}, data: data, want: newest, how: "installed"},
		{name: "on PATH", env: map[string]string{"PATH": us + string(os.PathListSeparator) + bin}, data: root, want: onPath, how: "PATH"},
		{name: "a relative PATH does not count", env: map[string]string{"PATH": "." + string(os.PathListSeparator) + "bin"}, fails: "no cua-driver found"},
		{name: "only ourselves on PATH", env: map[string]string{"PATH": us}, fails: "no cua-driver found"},
		{name: "below ourselves", explicit: given, env: map[string]string{"PERMISSION_CANVAS_DEPTH": "1"}, fails: "itself"},
	}
	if runtime.GOOS != "windows" {
		tests = append(tests, struct {
			name     string
			explicit string
			env      map[string]string
			data     string
			want     string
			how      string
			fails    string
		}{name: "not executable", explicit: dud, fails: "cannot be executed"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, how, err := desktop.Find(tt.explicit, func(k string) string { return tt.env[k] }, tt.data)
			if tt.fails != "" {
				require.ErrorIs(t, err, driver.ErrUnavailable)
				require.ErrorContains(t, err, tt.fails)
				require.Empty(t, path)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, path)
			require.Contains(t, how, tt.how)
			require.True(t, filepath.IsAbs(path))
		})
	}
}

func TestFindAsksTheProcessItself(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("HERMES_CUA_DRIVER_CMD", "")
	t.Setenv("PERMISSION_CANVAS_DEPTH", "")
	want := put(t, dir, "cua-driver", false)
	path, _, err := desktop.Find("", nil, "")
	require.NoError(t, err)
	require.Equal(t, want, path)
}

func TestOpenStartsNothing(t *testing.T) {
	d := desktop.Open(filepath.Join(t.TempDir(), strings.Repeat("x", 8)), nil)
	_, err := d.Windows(t.Context())
	require.ErrorIs(t, err, driver.ErrUnavailable)
	require.NoError(t, d.Close())
}
