//go:build !windows

package ledger_test

import (
	"os"
	"os/signal"
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
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &full))
	err = move(l, r.ID, ledger.Granted, ledger.Change{By: "me"})
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &old))
	require.ErrorIs(t, err, unix.EFBIG)
	after, err := os.Stat(l.Path())
	require.NoError(t, err)
	require.Equal(t, st.Size(), after.Size())
	require.Equal(t, ledger.Pending, find(t, l, r.ID).State)
}
