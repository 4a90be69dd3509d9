// Package cua is a [driver.Driver] over cua-driver, an existing engine that
// reads and operates the desktop and speaks the Model Context Protocol over its
// standard streams. This package owns one such process at a time: it starts it
// at the first call, speaks to it alone, and ends it.
//
// Use [New] with the absolute path of the executable; package driver/desktop
// finds one.
//
// # Guarantees
//
//   - The process gets an environment from an allow-list: display, session bus,
//     home and language, never a credential; telemetry and update checks are
//     switched off. Its working directory is neutral and its standard error,
//     which holds the labels of controls, goes nowhere.
//   - Where Options.PolicyFile is set, the process runs under its own policy
//     file, which admits [ToolNames] only.
//   - Nothing is used that was not asked for, and nothing whose shape is not
//     known. Integers are decoded from the bytes that came.
//   - A reading that may have been cut short is [driver.ErrIncomplete].
//   - A reading holds the elements of its window only. The driver finds a
//     window's tree by its place and mixes those of two windows of one process
//     that lie over each other; what cannot be told apart by the title of its
//     top is refused.
//   - Snapshot.Frame is what the picture shows: the driver pictures only the part
//     of a window that is on the screen. A picture whose size that does not
//     explain is refused.
//   - Elements lie where they are painted. On X the margins that an application
//     declares (_GTK_FRAME_EXTENTS) are taken out again where the driver counts
//     them twice, and Snapshot.Slack covers them.
//   - Before an input the window is listed again: the driver also "clicks" in
//     windows that are closed.
//   - Input is sent at most once. Only an answer that is known to be given
//     before anything is done makes an error wrap [driver.ErrNoEffect].
//   - Tokens are bound to the process that gave them: after a restart the old
//     ones are stale, although the new process numbers its own alike.
//   - No words of the driver or of an application stand in an error.
//
// # Limits
//
// cua-driver 0.21 does not say whether a reading is whole; one that reports the
// most elements asked for is refused, another cannot be told from a cut one. It
// does not read static text either, so Snapshot.AllText is never set, and it
// ignores a token when it types in front. In front, both aim the pointer at the
// middle of where they believe an element to be; one that is so small that this
// misses it is refused. Which control has the focus, and the
// address of a page, neither version says.
//
// By element, cua-driver answers any button and any number of clicks with one
// left press where it goes through accessibility. This package sends such
// clicks only where they are real, and refuses the others.
//
// # Concurrency
//
// All methods may be called at once. Readings and input take turns.
package cua

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Options change what New makes. The zero value, and nil, work.
type Options struct {
	// Name labels the driver's session, and so its pointer on the screen. ""
	// leaves the driver its unnamed one.
	Name string

	// Args stand behind the executable's name; nil is its "mcp" subcommand.
	Args []string

	// Mode is passed on as the driver's own permission mode; "" passes none.
	Mode string

	// PolicyFile writes a policy file for the driver that admits the given
	// tools only, and returns its path. It is called at each start. Nil starts
	// the driver without one.
	PolicyFile func(tools []string) (path string, err error)

	// Capabilities writes the capability manifest that whoever starts us has
	// approved, and returns its path. It is called at each start. Nil starts
	// the driver without one.
	Capabilities func() (path string, err error)

	// Env replaces variables of our environment, as "NAME=value", where the
	// driver may have them at all: another display or session bus. "NAME=" takes
	// one away.
	Env []string

	// Logger gets what went wrong, without any word of the driver's. Nil is
	// silent.
	Logger *slog.Logger
}

// ToolNames returns the driver's tools that this package or a host behind it
// may use, for a policy file.
func ToolNames() []string {
	return []string{
		"list_windows", "list_apps", "get_window_state",
		"click", "double_click", "right_click", "type_text", "set_value", "press_key", "hotkey",
		"scroll", "drag", "bring_to_front",
		"start_session", "end_session", "get_session", "get_screen_size", "get_cursor_position",
	}
}

// Driver operates the desktop through one cua-driver process.
type Driver struct {
	exe  string
	opts Options
	log  *slog.Logger
	desk *desk // the window system, asked directly

	observeLimit, inputLimit time.Duration

	starting chan struct{} // holds one: the right to start a process
	serial   chan struct{} // holds one: the right to read or operate a window

	mu     sync.Mutex
	link   *link // nil where no process runs
	closed bool
}

var (
	_ driver.Driver    = (*Driver)(nil)
	_ driver.HitTester = (*Driver)(nil)
	_ driver.Tooler    = (*Driver)(nil)
)

// New returns a driver over the executable exe. It starts nothing yet.
func New(exe string, opts *Options) *Driver {
	d := &Driver{
		exe: exe, starting: make(chan struct{}, 1), serial: make(chan struct{}, 1),
		observeLimit: observeLimit, inputLimit: inputLimit,
	}
	if opts != nil {
		d.opts = *opts
	}
	d.opts.Env = slices.Clone(d.opts.Env)
	d.log = d.opts.Logger
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.desk = newDesk(d.opts.Env)
	return d
}

// Windows returns every top-level window that the driver lists.
func (d *Driver) Windows(ctx context.Context) ([]driver.Window, error) {
	l, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	return d.windows(ctx, l)
}

// Close ends the process. Calls under way return, and later ones fail.
func (d *Driver) Close() error {
	d.mu.Lock()
	l := d.link
	d.link, d.closed = nil, true
	d.mu.Unlock()
	if l != nil {
		l.stop()
	}
	d.desk.close()
	return nil
}

// connect returns the running process, starting one where there is none.
func (d *Driver) connect(ctx context.Context) (*link, error) {
	if l, err := d.running(); l != nil || err != nil {
		return l, err
	}
	if err := take(ctx, d.starting); err != nil {
		return nil, err
	}
	defer release(d.starting)
	if l, err := d.running(); l != nil || err != nil {
		return l, err
	}
	if !filepath.IsAbs(d.exe) {
		return nil, fmt.Errorf("%w: the driver's path is not absolute", driver.ErrUnavailable)
	}
	l, err := start(ctx, d.exe, &d.opts)
	if err != nil {
		d.log.Warn("driver did not start", "error", err)
		return nil, fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		go l.stop()
		return nil, errClosed()
	}
	d.link = l
	return l, nil
}

// running returns the process that runs, or nil.
func (d *Driver) running() (*link, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errClosed()
	}
	if d.link != nil && d.link.dead() {
		d.log.Warn("driver ended")
		go d.link.stop()
		d.link = nil
	}
	return d.link, nil
}

// drop ends a process that cannot be trusted any more, and its tokens.
func (d *Driver) drop(l *link, why error) {
	d.log.Warn("driver dropped", "error", why)
	d.mu.Lock()
	if d.link == l {
		d.link = nil
	}
	d.mu.Unlock()
	l.hangUp()
	go l.stop()
}

func errClosed() error { return fmt.Errorf("%w: closed", driver.ErrUnavailable) }

// take waits for a place; every error of it is certain to be without effect.
func take(ctx context.Context, place chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", driver.ErrNoEffect, err)
	}
	select {
	case place <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", driver.ErrNoEffect, ctx.Err())
	}
}

func release(place chan struct{}) { <-place }
