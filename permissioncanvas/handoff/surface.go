package handoff

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

// brief is for a lock that others only look at. It is many times what their
// looks take, even on a machine under load.
const brief = 5 * time.Second

// Surface says, until release, that a person's surface is there which can
// answer, and for ever that there has been one in this profile.
func (g *Gate) Surface() (release func(), err error) {
	return g.share(surfaceLock)
}

// Answering reports whether a surface that can answer is there now.
func (g *Gate) Answering() bool { return g.EverAnswered() && g.shared(surfaceLock) }

// EverAnswered reports whether a surface that can answer has ever been held in
// this profile. Where it has not, there is nobody to wait for.
func (g *Gate) EverAnswered() bool {
	// Only Surface makes the file, and Answering once it is there.
	st, err := os.Lstat(g.path(surfaceLock))
	return err == nil && st.Mode().IsRegular()
}

// HoldInput says, until release, that a card is open before the person: no
// input goes out meanwhile, so that nothing types into her answer.
func (g *Gate) HoldInput() (release func(), err error) {
	return g.share(cardLock)
}

// CardOpen reports whether a card is open before the person. Where that cannot
// be told, one is.
func (g *Gate) CardOpen() bool { return g.shared(cardLock) }

func (g *Gate) share(name string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), brief)
	defer cancel()
	lock, err := statefile.RLockContext(ctx, g.path(name))
	if err != nil {
		return nil, fmt.Errorf("hold %s: %w", name, err)
	}
	return releaser(lock), nil
}

// shared reports whether anybody shares the lock. To look means to have it for
// a moment, so one looks after the other, or they would take each other for
// somebody who shares it. An error counts as yes.
func (g *Gate) shared(name string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), brief)
	defer cancel()
	turn, err := statefile.LockContext(ctx, g.path(lookLock))
	if err != nil {
		return true
	}
	defer turn.Unlock()
	lock, ok, err := statefile.TryLock(g.path(name))
	if ok {
		lock.Unlock()
	}
	return err != nil || !ok
}
