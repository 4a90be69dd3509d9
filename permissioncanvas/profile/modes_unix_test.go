//go:build !windows

package profile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// Files are for the user alone.
func TestPC01Modes(t *testing.T) {
	p := opened(t)
	_, err := p.Policy()
	require.NoError(t, err)
	for name, want := range map[string]os.FileMode{".": 0o700, "policy.json": 0o600, "key": 0o600} {
		st, err := os.Stat(filepath.Join(p.Dir(), name))
		require.NoError(t, err)
		require.Equal(t, want, st.Mode().Perm(), name)
	}
}

func TestModesOfUnsafePlaces(t *testing.T) {
	t.Run("a directory that others may write", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.Chmod(dir, 0o777))
		_, err := profile.Open(dir)
		var bad *profile.InvalidError
		require.ErrorAs(t, err, &bad)
	})
	t.Run("a directory of it", func(t *testing.T) {
		p := opened(t)
		for _, name := range []string{"driver", "view", "session"} {
			require.NoError(t, os.Mkdir(filepath.Join(p.Dir(), name), 0o700))
			require.NoError(t, os.Chmod(filepath.Join(p.Dir(), name), 0o777))
		}
		_, err := p.WriteDriverPolicy(nil)
		invalid(t, err, p, "driver")
		invalid(t, p.StoreView(profile.View{Window: driver.WindowRef{PID: 1, ID: 1}}, []byte("p")), p, "view")
		_, err = p.WriteSession(profile.SessionOf("a", os.Getenv))
		invalid(t, err, p, "session")
	})
	t.Run("a policy that others may write", func(t *testing.T) {
		p := opened(t)
		require.NoError(t, p.Init())
		require.NoError(t, os.Chmod(filepath.Join(p.Dir(), "policy.json"), 0o620))
		_, err := p.Policy()
		invalid(t, err, p, "policy.json")
	})
	t.Run("a policy that is a link", func(t *testing.T) {
		p := opened(t)
		require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "p"), filepath.Join(p.Dir(), "policy.json")))
		require.NoError(t, p.Init())
		_, err := p.Policy()
		invalid(t, err, p, "policy.json")
	})
}
