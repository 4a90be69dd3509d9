package handoff

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

const (
	patience = 5 * time.Second        // for a call that is in
	glance   = 250 * time.Millisecond // between two looks at who is in
	glances  = 3                      // in a row: longer than a policy edit takes
)

// A Hold is the desktop in the person's hands.
type Hold struct {
	// Waited means that an agent is still in a call: five seconds were not
	// enough for it to leave. It may act once more; nothing new gets in.
	Waited bool
	// Shared means that another surface of the person's has the desktop already.
	Shared bool

	gate *Gate
	by   string
	lock *statefile.Lock // nil where Waited or Shared
}

// Take gives the desktop to the person: the pause is durable first, then Take
// waits up to five seconds for calls that are in. ctx ends the wait early,
// and then the pause stays and ctx's error is returned.
//
// The lock is held until Resume or Release.
func (g *Gate) Take(ctx context.Context, by, reason string) (*Hold, error) {
	if err := g.SetPaused(by, reason); err != nil {
		return nil, err
	}
	h := &Hold{gate: g, by: by}
	deadline := time.Now().Add(patience)
	for foreign := 0; ; {
		lock, err := attempt(ctx, g.path(gateLock), min(glance, time.Until(deadline)))
		switch {
		case err != nil:
			return nil, fmt.Errorf("take the desktop: %w", err)
		case lock != nil:
			h.lock = lock
			return h, nil
		}
		// Who is in? Agents share the lock with anybody, the person's side does not.
		shared, ok, err := statefile.TryRLock(g.path(gateLock))
		if err != nil {
			return nil, fmt.Errorf("take the desktop: %w", err)
		}
		if ok {
			shared.Unlock()
			foreign = 0
		} else {
			foreign++
		}
		late := !time.Now().Before(deadline)
		h.Waited, h.Shared = late && ok, foreign >= glances || late && !ok
		if h.Waited || h.Shared {
			return h, nil
		}
	}
}

// attempt waits for the exclusive lock no longer than d; nil and nil mean that
// it is still taken.
func attempt(ctx context.Context, path string, d time.Duration) (*statefile.Lock, error) {
	wait, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	lock, err := statefile.LockContext(wait, path)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, nil
	}
	return lock, err
}

// Settle goes on waiting, until ctx is done, for who was still in, and reports
// whether the desktop is this Hold's alone now. It then clears Waited and
// Shared.
func (h *Hold) Settle(ctx context.Context) bool {
	if h.lock == nil && (h.Waited || h.Shared) {
		lock, err := statefile.LockContext(ctx, h.gate.path(gateLock))
		if err != nil {
			return false
		}
		h.lock, h.Waited, h.Shared = lock, false, false
	}
	return h.lock != nil
}

// Resume gives the desktop to the agents, durably. Where that cannot be written
// the pause stays, and so does the hold.
func (h *Hold) Resume() error {
	if err := h.gate.SetResumed(h.by); err != nil {
		return err
	}
	return h.Release()
}

// Release lets go of the lock and keeps the pause, as a crash would: what was
// begun is not finished, and nobody gets in before a person resumes.
func (h *Hold) Release() error {
	if h.lock == nil {
		return nil
	}
	lock := h.lock
	h.lock = nil
	return lock.Unlock()
}

// Exclusive is for the one write of a policy edit: it waits until ctx is done
// for every call to be out, keeps new ones out, and pauses nothing.
func (g *Gate) Exclusive(ctx context.Context) (release func(), err error) {
	turn, err := statefile.LockContext(ctx, g.path(turnstile))
	if err != nil {
		return nil, fmt.Errorf("wait for calls to end: %w", err)
	}
	defer turn.Unlock()
	lock, err := statefile.LockContext(ctx, g.path(gateLock))
	if err != nil {
		return nil, fmt.Errorf("wait for calls to end: %w", err)
	}
	return releaser(lock), nil
}
