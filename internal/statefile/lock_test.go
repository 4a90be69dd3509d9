package statefile_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/stretchr/testify/require"
)

func TestPC25Locks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gate.lock")
	must := func(l *statefile.Lock, ok bool, err error) *statefile.Lock {
		t.Helper()
		require.NoError(t, err)
		require.True(t, ok)
		return l
	}
	busy := func(l *statefile.Lock, ok bool, err error) {
		t.Helper()
		require.NoError(t, err)
		require.False(t, ok)
		require.Nil(t, l)
	}
	a := must(statefile.TryLock(path))
	busy(statefile.TryLock(path)) // of the same process too
	busy(statefile.TryRLock(path))
	require.NoError(t, a.Unlock())
	require.NoError(t, a.Unlock())

	r, s := must(statefile.TryRLock(path)), must(statefile.TryRLock(path))
	busy(statefile.TryLock(path))
	require.NoError(t, r.Unlock())
	busy(statefile.TryLock(path))
	require.NoError(t, s.Unlock())
	b := must(statefile.TryLock(path))
	require.NoError(t, a.Unlock()) // an old one does not give a new one away
	busy(statefile.TryLock(path))

	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := statefile.LockContext(short, path)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = statefile.RLockContext(short, path)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	go func() {
		time.Sleep(30 * time.Millisecond)
		b.Unlock()
	}()
	c, err := statefile.RLockContext(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, c.Unlock())
	_, _, err = statefile.TryLock(filepath.Join(path, "x"))
	require.Error(t, err)
	_, err = statefile.LockContext(t.Context(), filepath.Join(path, "x"))
	require.Error(t, err)
}

func TestPC25LockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var all sync.WaitGroup
	n := 0 // guarded by the file lock alone; the race detector does not see it
	for range 8 {
		all.Go(func() {
			for range 25 {
				l, err := statefile.LockContext(context.Background(), path)
				if err != nil {
					t.Error(err)
					return
				}
				counter.Lock() // tells the race detector what the file lock does
				n++
				counter.Unlock()
				l.Unlock()
			}
		})
	}
	all.Wait()
	require.Equal(t, 200, n)
}

var counter sync.Mutex

// A lock ends with its process, however that ends.
func TestPC25KilledHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "STATEFILE_TEST=lock", "STATEFILE_TEST_PATH="+path, "GOCOVERDIR="+t.TempDir())
	require.NoError(t, cmd.Start())
	held := func() bool {
		l, ok, err := statefile.TryLock(path)
		require.NoError(t, err)
		if ok {
			l.Unlock()
		}
		return !ok
	}
	require.Eventually(t, held, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()
	require.Eventually(t, func() bool { return !held() }, 5*time.Second, 5*time.Millisecond)
}
