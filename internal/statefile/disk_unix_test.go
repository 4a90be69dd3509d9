//go:build !windows

package statefile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/stretchr/testify/require"
)

func private(t *testing.T, path string) {
	t.Helper()
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, st.Mode().Perm())
}

func TestPC25UmaskAndModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	require.NoError(t, statefile.EnsureDir(dir))
	st, err := os.Stat(dir)
	require.NoError(t, err)
	require.EqualValues(t, 0o700, st.Mode().Perm())
	for name, make := range map[string]func(string) error{
		"replaced": func(p string) error { return statefile.Replace(p, nil, nil) },
		"created":  func(p string) error { return statefile.Create(p, nil) },
		"appended": func(p string) error {
			a, err := statefile.OpenAppend(p)
			if err == nil {
				a.Close()
			}
			return err
		},
		"locked": func(p string) error { _, _, err := statefile.TryLock(p); return err },
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, make(path), name)
		private(t, path)
	}
	// A file of looser mode is replaced by one of ours.
	loose := filepath.Join(dir, "loose")
	require.NoError(t, os.WriteFile(loose, nil, 0o666))
	require.NoError(t, statefile.Replace(loose, nil, nil))
	private(t, loose)
}

// What stands in the file's place is never followed, waited for or written.
func TestPC25LinksAndPipes(t *testing.T) {
	dir := t.TempDir()
	target, link, pipe := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	require.NoError(t, os.WriteFile(target, []byte("mine"), 0o600))
	require.NoError(t, os.Symlink(target, link))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{link, pipe} {
		start := time.Now()
		_, err := statefile.Read(path, 10)
		require.ErrorIs(t, err, statefile.ErrNotRegular)
		require.ErrorIs(t, statefile.WriteAt(path, 0, []byte("x")), statefile.ErrNotRegular)
		_, err = statefile.OpenAppend(path)
		require.ErrorIs(t, err, statefile.ErrNotRegular)
		require.Error(t, statefile.Create(path, []byte("x")))
		require.Less(t, time.Since(start), 5*time.Second)
	}
	_, _, err := statefile.TryLock(link)
	require.Error(t, err)
	_, ok, err := statefile.TryLock(pipe)
	require.True(t, ok || err != nil) // at once, either way

	require.NoError(t, statefile.Replace(link, []byte("new"), nil))
	got, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "mine", string(got))
	st, err := os.Lstat(link)
	require.NoError(t, err)
	require.True(t, st.Mode().IsRegular())

	dangling := filepath.Join(dir, "dangling")
	require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere"), dangling))
	_, err = statefile.OpenAppend(dangling)
	require.ErrorIs(t, err, statefile.ErrNotRegular)
	_, err = os.Lstat(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestPC25EnsureDirRefuses(t *testing.T) {
	made := func(t *testing.T, mode os.FileMode) string {
		dir := filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chmod(dir, mode))
		return dir
	}
	for _, mode := range []os.FileMode{0o700, 0o755, 0o750, 0o500} {
		require.NoError(t, statefile.EnsureDir(made(t, mode)), "%o", mode)
	}
	for _, mode := range []os.FileMode{0o777, 0o770, 0o722, 0o702, os.ModeSticky | 0o777} {
		require.ErrorContains(t, statefile.EnsureDir(made(t, mode)), "other users may write", "%o", mode)
	}
	t.Run("below what everybody may write", func(t *testing.T) {
		up := made(t, 0o777)
		require.ErrorContains(t, statefile.EnsureDir(filepath.Join(up, "data")), "everybody may rename")
		require.NoError(t, os.Chmod(up, os.ModeSticky|0o777))
		require.NoError(t, statefile.EnsureDir(filepath.Join(up, "data")))
	})
	t.Run("a link to our own", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(made(t, 0o700), link))
		require.NoError(t, statefile.EnsureDir(link))
	})
	t.Run("a link to an open one", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(made(t, 0o777), link))
		require.ErrorContains(t, statefile.EnsureDir(link), "other users may write")
	})
	t.Run("a link to nothing", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink("nowhere", link))
		require.Error(t, statefile.EnsureDir(link))
	})
	t.Run("another owner", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a directory away: NOT tried")
		}
		dir := made(t, 0o700)
		require.NoError(t, os.Chown(dir, 12345, -1))
		require.ErrorContains(t, statefile.EnsureDir(dir), "belongs to user 12345")
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(dir, link))
		require.ErrorContains(t, statefile.EnsureDir(link), "belongs to user 12345")
		mine := filepath.Join(t.TempDir(), "theirs")
		require.NoError(t, os.Symlink(made(t, 0o700), mine))
		require.NoError(t, os.Lchown(mine, 12345, -1))
		require.ErrorContains(t, statefile.EnsureDir(mine), "belongs to user 12345")
	})
}
