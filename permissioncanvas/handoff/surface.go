package handoff

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

const (
	brief = time.Second            // for a lock that others only look at
	look  = 100 * time.Millisecond // many times what another look takes
)

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

// shared reports whether anybody shares the lock. Others who look at the same
// moment have it exclusively, so that one look is not enough; an error counts
// as yes.
func (g *Gate) shared(name string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), look)
	defer cancel()
	lock, err := statefile.LockContext(ctx, g.path(name))
	if err != nil {
		return true
	}
	lock.Unlock()
	return false
}
