// Package driver is the desktop's vocabulary: windows, what one reading of a
// window holds, the actions that can be done to it, and the interface of
// whatever does them.
//
// Everything here is raw. A [Snapshot] holds what a person may have hidden, so
// it never leaves the enforcement point; package redact makes of it what an
// agent may have.
//
// Implementations are driver/cua (the real desktop, by cua-driver) and
// driver/sim (a simulated one). Both pass the suite in driver/drivertest.
package driver

import (
	"context"
	"encoding/json"
	"errors"
	"image"
)

// A Driver reads and operates a desktop. It decides nothing.
//
// Methods may be called concurrently. Each returns when ctx ends at the
// latest. A driver starts what it needs at the first call that needs it.
type Driver interface {
	// Windows returns every top-level window, in any order. A desktop without
	// windows is an empty slice and no error.
	Windows(ctx context.Context) ([]Window, error)

	// Snapshot reads one window whole. Tokens of earlier snapshots of that
	// window die. It returns ErrWindowGone where no window is w, and
	// ErrIncomplete where the reading may have been cut short: never less
	// than all.
	Snapshot(ctx context.Context, w WindowRef, opts SnapshotOptions) (*Snapshot, error)

	// Do dispatches a, whose tokens are those of w's newest Snapshot, at most
	// once. An error that wraps ErrNoEffect is proof that nothing happened;
	// after any other error it may have happened, and nobody may repeat it.
	Do(ctx context.Context, w WindowRef, a Action) (Result, error)

	// Close ends the session and what the driver started. Calls under way
	// return. Close is idempotent.
	Close() error
}

// A HitTester is a Driver that knows which window receives the real pointer.
type HitTester interface {
	// WindowAt returns the window that a real click at p, in screen pixels,
	// would reach, popups included. Where none of the desktop's windows is
	// there the zero Hit is returned. A window that lets input through, such
	// as the driver's own overlay, does not count.
	WindowAt(ctx context.Context, p image.Point) (Hit, error)
}

// Hit is the window under a point.
type Hit struct {
	Window WindowRef
	Above  bool // it stays above others: raising another window does not bring that one over it
}

// A Tooler is a Driver with tools of its own beyond the interface's methods.
type Tooler interface {
	// Tools returns every tool the driver serves, as it describes them.
	Tools(ctx context.Context) (Tools, error)

	// CallTool calls one tool once. The same rules as for Do hold.
	CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error)
}

// Tools is what a Tooler serves.
type Tools struct {
	Version string // of the driver, as in "0.37.0"
	Entries []Tool
}

// A Tool is one entry of a driver's list, untrusted.
type Tool struct {
	Name string
	Raw  json.RawMessage // the whole entry as listed, its keys in their order
}

// Errors of a Driver. Their texts are for logs; no driver's own words are in
// them.
var (
	// ErrNoEffect is wrapped by every error after which it is certain that
	// nothing was done.
	ErrNoEffect = errors.New("driver: nothing was done")

	// ErrStaleToken: the token is not of the window's newest snapshot.
	ErrStaleToken = noEffect("driver: stale token")
	// ErrWindowGone: there is no such window.
	ErrWindowGone = noEffect("driver: no such window")
	// ErrIncomplete: the reading may have been cut short, or its parts do not
	// belong together.
	ErrIncomplete = noEffect("driver: incomplete reading")
	// ErrBackgroundUnavailable: this control takes such input only in front.
	ErrBackgroundUnavailable = noEffect("driver: not available in the background")
	// ErrUnsupported: this driver has no such ability.
	ErrUnsupported = noEffect("driver: unsupported")
	// ErrRefused: the driver refused, before doing anything.
	ErrRefused = noEffect("driver: refused")
	// ErrSessionEnded: the driver's session is over; it can be begun again.
	ErrSessionEnded = noEffect("driver: session ended")
	// ErrUnavailable: there is no driver, or it did not start.
	ErrUnavailable = noEffect("driver: unavailable")
)

type certain struct{ text string }

func noEffect(text string) error { return &certain{text} }
func (e *certain) Error() string { return e.text }
func (e *certain) Unwrap() error { return ErrNoEffect }
