//go:build !windows

package approval_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
)

// Files are for the user alone (PC25).
func TestPC25Modes(t *testing.T) {
	d := newDesk(t)
	d.request(ask("Save"))
	st, err := os.Stat(d.dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), st.Mode().Perm())
	for _, name := range []string{"ledger.jsonl", "ledger.lock"} {
		st, err := os.Stat(filepath.Join(d.dir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), st.Mode().Perm(), name)
	}
	require.NoError(t, os.Chmod(d.dir, 0o770))
	_, err = approval.Open(d.dir, nil)
	require.Error(t, err, "others could write a yes")
}
