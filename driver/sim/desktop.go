// Package sim is a driver.Driver over a simulated desktop in memory: real
// windows, trees and pixels, no display. The quickstart runs on it, the
// executables serve it with --driver sim, and a host's own tests use it.
//
//	d := sim.New(nil)
//	ref := d.Window("Admin Console")
//	shot, err := d.Snapshot(ctx, ref, driver.SnapshotOptions{})
//
// Three applications stand side by side on a screen of 1600 by 1000: an admin
// console with an API key in it, a login form with a filled password, and a
// browser with a page of orders. Every [Desktop] begins alike, down to process
// ids, start times and window ids, so two processes that each make one see
// the same windows; what happens in one is not seen in the other.
//
// The desktop behaves as the real one was measured to, its traps included: a
// tab in typed text moves the focus and the rest goes into the next field, a
// line break submits the form, alt and a letter presses a button, a real click
// goes to whatever window is on top, a list or menu opens as a window of its
// own, and token numbers begin anew when the driver restarts. Nothing here
// protects anybody: that is for the layers above, and this is what they are
// shown to prevent.
//
// # Guarantees
//
// Every painted text is an element with bounds, and nothing is painted outside
// the bounds of its element. Elements have real parents, before their children.
// The same calls give the same trees, tokens and pixels.
//
// # Limits
//
// There is no window frame or title bar on a picture. Where another process's
// window lies over one, that part of the picture is black, as the real driver
// has it. Pages take no typing or keys in the background. Drag is not there.
//
// # Concurrency
//
// All methods may be called at any time from any goroutine. Each call sees and
// leaves the desktop whole.
package sim

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"sync"

	"github.com/permission-canvas/permission-canvas/driver"
)

// A Scene is one application with its window.
type Scene string

// The scenes there are. One that is not known has no window.
const (
	Console Scene = "console" // "Admin Console" of sim-console
	Login   Scene = "login"   // "Staff Login" of sim-login
	Browser Scene = "browser" // "Orders - Acme" of sim-browser
)

// Options for New. Nil means the zero value.
type Options struct {
	Scenes []Scene // nil: all of them
	Scale  float64 // pixels of a picture for one of the screen; 0 and less: 1
}

// screen is what get_screen_size answers.
var screen = image.Rect(0, 0, 1600, 1000)

// Desktop is a simulated desktop and the driver of it. Besides the driver's
// own methods it has handles by which a test looks behind the scenes.
type Desktop struct {
	mu        sync.Mutex
	scale     float64
	windows   []*window // back to front
	pointer   image.Point
	clipboard string
	runs      int    // of the driver, before this one
	snapshots uint32 // how many this run of the driver has taken
	opened    uint64 // how many windows were opened since the beginning
	sessions  map[string]bool
	events    []string
	closed    bool
}

var (
	_ driver.Driver    = (*Desktop)(nil)
	_ driver.HitTester = (*Desktop)(nil)
	_ driver.Tooler    = (*Desktop)(nil)
)

// New returns a desktop as it always begins.
func New(opts *Options) *Desktop {
	if opts == nil {
		opts = &Options{}
	}
	d := &Desktop{scale: opts.Scale, pointer: screen.Max.Div(2), sessions: map[string]bool{}}
	if d.scale <= 0 {
		d.scale = 1
	}
	for _, s := range []Scene{Browser, Login, Console} {
		if opts.Scenes == nil || slices.Contains(opts.Scenes, s) {
			d.windows = append(d.windows, build(s))
		}
	}
	return d
}

// enter locks the desktop for one call. The caller unlocks it where the error
// is nil.
func (d *Desktop) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("sim: %w: %w", driver.ErrNoEffect, err)
	}
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return fmt.Errorf("sim: closed: %w", driver.ErrUnavailable)
	}
	return nil
}

// Windows implements driver.Driver. The front window comes first.
func (d *Desktop) Windows(ctx context.Context) ([]driver.Window, error) {
	if err := d.enter(ctx); err != nil {
		return nil, err
	}
	defer d.mu.Unlock()
	list := make([]driver.Window, 0, len(d.windows))
	for _, w := range slices.Backward(d.windows) {
		list = append(list, d.describe(w))
	}
	return list, nil
}

// WindowAt implements driver.HitTester.
func (d *Desktop) WindowAt(ctx context.Context, p image.Point) (driver.Hit, error) {
	if err := d.enter(ctx); err != nil {
		return driver.Hit{}, err
	}
	defer d.mu.Unlock()
	if w := d.topmost(p); w != nil {
		return driver.Hit{Window: w.info.Ref, Above: w.top || w.owner != nil}, nil
	}
	return driver.Hit{}, nil
}

// Close implements driver.Driver. The handles go on working.
func (d *Desktop) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return nil
}

// describe returns w as it is now.
func (d *Desktop) describe(w *window) driver.Window {
	info := w.info
	info.Z = slices.Index(d.windows, w)
	return info
}

// lookup returns the window that ref names.
func (d *Desktop) lookup(ref driver.WindowRef) (*window, error) {
	if !ref.IsZero() {
		for _, w := range d.windows {
			if w.info.Ref == ref {
				return w, nil
			}
		}
	}
	return nil, fmt.Errorf("sim: %w", driver.ErrWindowGone)
}

// topmost returns the window that a real click at p would reach.
func (d *Desktop) topmost(p image.Point) *window {
	for _, w := range slices.Backward(d.windows) {
		if !w.info.Hidden && p.In(w.info.Bounds) {
			return w
		}
	}
	return nil
}

// raise brings w to the front, its popups above it and what is always on top
// above all.
func (d *Desktop) raise(w *window) {
	rank := func(o *window) int {
		switch {
		case o.top:
			return 3
		case o.owner == w:
			return 2
		case o == w:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(d.windows, func(a, b *window) int { return rank(a) - rank(b) })
}

// open adds a window to the front, with an id of its own.
func (d *Desktop) open(w *window) driver.WindowRef {
	d.opened++
	w.info.Ref.ID = 900 + d.opened
	d.windows = append(d.windows, w)
	d.raise(w)
	return w.info.Ref
}

// drop removes every window that gone reports, and their popups.
func (d *Desktop) drop(gone func(*window) bool) {
	d.windows = slices.DeleteFunc(d.windows, func(w *window) bool {
		return gone(w) || w.owner != nil && gone(w.owner)
	})
}

// note records what happened to a control.
func (d *Desktop) note(verb string, w *window, n *node) {
	d.events = append(d.events, fmt.Sprintf("%s %q in %q", verb, n.label, w.info.Title))
}

// errRefused is returned before anything is done.
func errRefused(why string) error {
	return fmt.Errorf("sim: %w: %w", driver.ErrRefused, errors.New(why))
}
