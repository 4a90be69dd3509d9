package statefile

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gofrs/flock"
)

// A Lock is one acquisition of a lock file, shared or exclusive. The system
// gives it back when the process ends in any way, so a lock never outlives its
// holder; the file stays and means nothing.
//
// Every acquisition has a file handle of its own. Two of one process exclude
// each other exactly as two of different processes do.
type Lock struct {
	handle *flock.Flock
}

// TryLock takes the exclusive lock at path if nobody has it. False with a nil
// error means that somebody has.
func TryLock(path string) (*Lock, bool, error) {
	h := handle(path)
	return result(h, h.TryLock)
}

// TryRLock takes a shared lock at path if nobody has the exclusive one.
func TryRLock(path string) (*Lock, bool, error) {
	h := handle(path)
	return result(h, h.TryRLock)
}

// LockContext waits for the exclusive lock at path until ctx is done, and then
// returns ctx's error. There is no queue: under contention anybody may be next.
func LockContext(ctx context.Context, path string) (*Lock, error) {
	return wait(ctx, path, TryLock)
}

// RLockContext waits for a shared lock at path until ctx is done.
func RLockContext(ctx context.Context, path string) (*Lock, error) {
	return wait(ctx, path, TryRLock)
}

// Unlock gives the lock back. A second call does nothing. After an error, which
// only a network file system gives, the lock is held until the process ends.
func (l *Lock) Unlock() (err error) {
	// flock keeps the file open where the call fails: ask again before the lock
	// is lost to everybody.
	for range 3 {
		if err = l.handle.Unlock(); err == nil {
			return nil
		}
	}
	return err
}

func handle(path string) *flock.Flock {
	return flock.New(path, flock.SetPermissions(mode), flock.SetFlag(lockFlags))
}

func result(h *flock.Flock, try func() (bool, error)) (*Lock, bool, error) {
	ok, err := try()
	if err != nil || !ok {
		return nil, false, err
	}
	return &Lock{handle: h}, true, nil
}

// wait polls, because a blocking flock cannot be given up. The pace starts
// quick, for locks held during one write, and slows to spare an idle machine;
// the jitter keeps waiters from meeting for ever.
func wait(ctx context.Context, path string, try func(string) (*Lock, bool, error)) (*Lock, error) {
	const slowest = 25 * time.Millisecond
	for pace := time.Millisecond; ; pace = min(2*pace, slowest) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if l, ok, err := try(path); ok || err != nil {
			return l, err
		}
		t := time.NewTimer(pace/2 + rand.N(pace))
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		case <-t.C:
		}
	}
}
