// Package handoff knows who owns the desktop now: the person, or the agents.
//
// Both sides [Open] a Gate on the profile's data directory. An agent brackets
// every look and act with [Gate.Enter], and takes [Gate.Input] round what it
// sends. The person's side takes the desktop with [Gate.Take] and gives it back
// with [Hold.Resume]; whatever happens in between, the desktop stays hers.
//
// # Guarantees
//
//   - A pause is durable before Take or SetPaused returns, and names who made it
//     and when. A crash of either side, and a power failure, leave it.
//   - No pause file, an empty one, one that does not read or says something
//     unknown mean paused: deleting it never frees the desktop.
//   - Enter never waits and never keeps the person out: it fails at once while
//     the desktop is hers. An agent that hangs within a call holds her up for
//     five seconds at most; then she goes on, and Hold.Waited says so.
//   - Locks are the system's. One that was held by a killed process is free.
//
// # Limits
//
// The pause is a file and the locks are advice: this binds processes that ask,
// not a program of the same user that drives the desktop itself. A call that
// was in flight when the five seconds were over may still act once; it finds
// the pause when it asks [Gate.State] again, which it must do immediately
// before it dispatches.
//
// # Concurrency
//
// A Gate may be used by many goroutines, and a directory by many processes.
// Holds, Inputs and releases belong to one goroutine each; release functions
// may be called more than once.
package handoff

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

// Lock files and state of the data directory.
const (
	gateLock    = "gate.lock"
	turnstile   = "turnstile.lock"
	pauseFile   = "pause.json"
	inputLock   = "input.lock"
	epochFile   = "input.epoch"
	captureLock = "capture.lock"
	surfaceLock = "surface.lock"
	cardLock    = "card.lock"
	lookLock    = "look.lock" // of whoever looks whether another one is shared
)

// ErrPaused is what every refusal of an agent wraps because the desktop is the
// person's; a *[PausedError] has the details.
var ErrPaused = errors.New("paused")

// PausedError is ErrPaused with what is known of the pause.
type PausedError struct {
	Pause Pause
	Held  bool // the person's side holds the lock this moment
}

func (e *PausedError) Error() string {
	switch {
	case e.Pause.NeverSetUp:
		return "paused: nobody has set this profile up"
	case !e.Pause.Paused:
		return "paused: the person's side has the desktop"
	case e.Pause.Reason == "":
		return "paused"
	}
	return fmt.Sprintf("paused: %s", e.Pause.Reason)
}

// Unwrap makes errors.Is(err, ErrPaused) true.
func (e *PausedError) Unwrap() error { return ErrPaused }

// A Gate is the hand-off of one data directory.
type Gate struct {
	dir string
}

// Open returns the Gate of a data directory, which exists. It touches nothing.
func Open(dir string) *Gate { return &Gate{dir: dir} }

func (g *Gate) path(name string) string { return filepath.Join(g.dir, name) }

// Enter lets an agent's call in, and leave ends it. It does not wait: while the
// desktop is paused or the person's side holds it the error is a *[PausedError].
// Several agents may be in at once.
func (g *Gate) Enter() (leave func(), err error) {
	// Nobody passes the turnstile while the person's side waits behind it, or
	// calls that overlap each other would keep her out for ever.
	turn, ok, err := statefile.TryRLock(g.path(turnstile))
	if err != nil {
		return nil, fmt.Errorf("enter: %w", err)
	}
	if !ok {
		return nil, &PausedError{Pause: g.State(), Held: true}
	}
	defer turn.Unlock()
	// The lock before the look: a pause that is written after the look is
	// followed by a wait for the lock that this call then holds.
	lock, ok, err := statefile.TryRLock(g.path(gateLock))
	if err != nil {
		return nil, fmt.Errorf("enter: %w", err)
	}
	if !ok {
		return nil, &PausedError{Pause: g.State(), Held: true}
	}
	if p := g.State(); p.Paused {
		lock.Unlock()
		return nil, &PausedError{Pause: p}
	}
	return releaser(lock), nil
}

// releaser makes Unlock fit for a defer, and for being called twice.
func releaser(lock *statefile.Lock) func() {
	return func() { lock.Unlock() }
}
