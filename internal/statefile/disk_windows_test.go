package statefile_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

func private(*testing.T, string) {} // the directory's access list is inherited

// hold opens path without letting anybody delete or replace it.
func hold(t *testing.T, path string) windows.Handle {
	t.Helper()
	name, err := windows.UTF16PtrFromString(path)
	require.NoError(t, err)
	h, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
	require.NoError(t, err)
	return h
}

func TestPC25RenameRefusedForAMoment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.json")
	require.NoError(t, statefile.Replace(path, []byte("old"), nil))
	h := hold(t, path)
	go func() {
		time.Sleep(150 * time.Millisecond)
		windows.CloseHandle(h)
	}()
	require.NoError(t, statefile.Replace(path, []byte("new"), nil))
	got, err := statefile.Read(path, 10)
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
}

func TestPC25RenameRefusedForGood(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "policy.json")
	require.NoError(t, statefile.Replace(path, []byte("old"), nil))
	h := hold(t, path)
	start := time.Now()
	err := statefile.Replace(path, []byte("new"), nil)
	require.Error(t, err)
	require.GreaterOrEqual(t, time.Since(start), 500*time.Millisecond)
	require.Less(t, time.Since(start), 3*time.Second)
	require.NoError(t, windows.CloseHandle(h))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
	only(t, dir, "policy.json")
}

// Everybody's right to write is refused; the user's own is not. Wine, where this
// runs, keeps only what a Unix mode can say: that a right is handed on to new
// files alone, or that there is no list, is not tried.
func TestPC25EnsureDirReadsTheAccessList(t *testing.T) {
	const mine = "(A;OICI;FA;;;OW)(A;OICI;FA;;;BA)" // all rights, for the owner and for administrators
	for _, tt := range []struct {
		name, list, says string
	}{
		{"everybody", "D:P" + mine + "(A;OICI;FA;;;WD)", "other users"},
		{"everybody may add", "D:P" + mine + "(A;OICI;0x4;;;WD)", "other users"},
		{"everybody may read", "D:P" + mine + "(A;OICI;FR;;;WD)", ""},
		{"nobody else", "D:P" + mine, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, grant(dir, tt.list))
			err := statefile.EnsureDir(dir)
			if tt.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.says)
		})
	}
}

func grant(dir, list string) error {
	sd, err := windows.SecurityDescriptorFromString(list)
	if err != nil {
		return err
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return err
	}
	return windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, dacl, nil)
}
