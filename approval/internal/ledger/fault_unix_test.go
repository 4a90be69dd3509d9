//go:build !windows

package ledger_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
)

// A full disk in the middle of an append: the yes is reported as failed and is
// not there.
func TestPC25AppendFails(t *testing.T) {
	l, _ := fresh(t)
	r := ask(t, l)
	st, err := os.Stat(l.Path())
	require.NoError(t, err)
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &old))
	full := unix.Rlimit{Cur: uint64(st.Size()) + 20, Max: old.Max}
	// Only while the write lasts: the limit is for the whole process, and the
	// testing package writes files too.
	undo := ledger.OnPoint(func(point, _ string, _ []byte) {
		if point == "append" {
			require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &full))
		}
	})
	defer undo()
	err = move(l, r.ID, ledger.Granted, ledger.Change{By: "me"})
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &old))
	require.ErrorIs(t, err, unix.EFBIG)
	after, err := os.Stat(l.Path())
	require.NoError(t, err)
	require.Equal(t, st.Size(), after.Size())
	require.Equal(t, ledger.Pending, find(t, l, r.ID).State)
}

// The directory goes: while the lock is taken, and before the file is replaced.
func TestPC25DirectoryGone(t *testing.T) {
	l, _ := fresh(t)
	r := ask(t, l)
	undo := ledger.OnPoint(func(_, path string, _ []byte) { os.RemoveAll(filepath.Dir(path)) })
	require.ErrorIs(t, move(l, r.ID, ledger.Denied, ledger.Change{}), os.ErrNotExist)
	undo()

	l, _ = fresh(t)
	r = ask(t, l)
	require.Error(t, l.Update(context.Background(), func(b *ledger.Book) error {
		require.NoError(t, os.RemoveAll(filepath.Dir(l.Path())))
		return b.Move(r.ID, ledger.Denied, ledger.Change{})
	}))
}
