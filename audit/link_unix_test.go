//go:build !windows

package audit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/stretchr/testify/require"
)

// A head that is a link is none, whatever it leads to.
func TestBX04HeadIsALink(t *testing.T) {
	dir := written(t, 3)
	head := filepath.Join(dir, "head")
	require.NoError(t, os.Rename(head, head+"2"))
	require.NoError(t, os.Symlink(head+"2", head))
	r := verify(t, dir)
	require.NotNil(t, r.Broken)
	require.EqualValues(t, 4, r.Broken.Index)
	_, err := audit.Open(dir)
	require.Error(t, err)
}
