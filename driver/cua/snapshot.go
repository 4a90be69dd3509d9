package cua

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Limits asked for with every reading. The driver's own defaults cut a common
// page (M5); mostElements is also where a reply counts as cut.
const (
	mostElements = 100_000
	walkMillis   = 30_000
)

// wireState is get_window_state's answer, without its free texts.
type wireState struct {
	PID        *int64          `json:"pid"`
	ID         *uint64         `json:"window_id"`
	Elements   json.RawMessage `json:"elements"`
	Counted    *int            `json:"element_count"`
	Total      *int            `json:"total_element_count"`
	Returned   *int            `json:"returned_element_count"`
	Truncated  *bool           `json:"truncated"`
	Pending    *int            `json:"nodes_pending"`
	Complete   *bool           `json:"elements_complete"`
	Bounded    *bool           `json:"bounds_complete"`
	Degraded   *bool           `json:"degraded"`
	ImageValid *bool           `json:"screenshot_frame_valid"`
	Width      *int            `json:"screenshot_width"`
	Original   *int            `json:"screenshot_original_width"`
	Height     *int            `json:"screenshot_height"`
	Bounds     *wireBounds     `json:"window_bounds"`
	Title      *string         `json:"window_title"`
	App        *string         `json:"app_name"`
}

// Snapshot reads one window whole. The window is listed before and after and
// must be the same both times, which stands in for what 0.21 does not say.
func (d *Driver) Snapshot(ctx context.Context, ref driver.WindowRef, opts driver.SnapshotOptions) (*driver.Snapshot, error) {
	if ref.IsZero() {
		return nil, driver.ErrWindowGone
	}
	if err := take(ctx, d.serial); err != nil {
		return nil, err
	}
	defer release(d.serial)
	l, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	listed, before, err := d.window(ctx, l, ref)
	if err != nil {
		return nil, err
	}
	l.forget(ref) // the driver makes new tokens from here on, whatever becomes of ours
	margin := d.desk.margins(ref.ID)
	taken := time.Now()
	r, err := d.observe(ctx, l, "get_window_state", l.stateArguments(ref, opts))
	if err != nil {
		return nil, err
	}
	again, after, err := d.window(ctx, l, ref)
	if err != nil {
		return nil, err
	}
	if r.failed {
		return nil, stateError(r, ref)
	}
	if before != after || margin != d.desk.margins(ref.ID) {
		return nil, incomplete("the window changed meanwhile")
	}
	s := &driver.Snapshot{Window: after, Run: l.nonce, Frame: after.Bounds, Taken: taken}
	w, spots, err := l.fill(s, r, margin, slices.Concat(listed, again))
	if err != nil {
		return nil, err
	}
	if !opts.NoImage {
		screen, known := d.desk.screen()
		if err := w.picture(s, r, l.modern, screen, known); err != nil {
			return nil, err
		}
	}
	l.remember(s, spots)
	return s, nil
}

func incomplete(why string) error { return fmt.Errorf("%w: %s", driver.ErrIncomplete, why) }

// window lists all windows and finds the one that ref names among them.
func (d *Driver) window(ctx context.Context, l *link, ref driver.WindowRef) ([]driver.Window, driver.Window, error) {
	all, err := d.windows(ctx, l)
	if err != nil {
		return nil, driver.Window{}, err
	}
	w, err := find(all, ref)
	w.Z = 0 // stacking may change under a reading
	if err != nil {
		return nil, w, err
	}
	if w.Bounds.Empty() {
		return nil, w, incomplete("a window without a place")
	}
	return all, w, nil
}

// stateArguments asks for everything, in the words this version knows.
func (l *link) stateArguments(ref driver.WindowRef, opts driver.SnapshotOptions) arguments {
	const tool = "get_window_state"
	args := arguments{"pid": ref.PID, "window_id": ref.ID, "max_elements": mostElements}
	if l.takes(tool, "full_output") {
		args["full_output"] = true
	}
	if l.takes(tool, "timeout_ms") {
		args["timeout_ms"] = walkMillis
	}
	if opts.NoImage {
		args["include_screenshot"] = false
	}
	return args
}

// stateError is the error of a refused reading.
func stateError(r *reply, ref driver.WindowRef) error {
	switch {
	case r.text == goneText(ref):
		return driver.ErrWindowGone
	case r.code() == "permission_denied":
		return driver.ErrRefused
	}
	return fmt.Errorf("%w: get_window_state", driver.ErrUnavailable)
}

// fill decodes the tree and proves what can be proven of it.
func (l *link) fill(s *driver.Snapshot, r *reply, m margins, listed []driver.Window) (*wireState, map[driver.Token]spot, error) {
	var w wireState
	if r.structured == nil || json.Unmarshal(r.structured, &w) != nil {
		return nil, nil, incomplete(errShape.Error())
	}
	if err := w.check(s, l.modern); err != nil {
		return nil, nil, err
	}
	elements, err := decodeElements(w.Elements)
	if err != nil {
		return nil, nil, err
	}
	if n := len(elements); n >= mostElements || n != *w.Returned || *w.Returned != *w.Total {
		return nil, nil, incomplete("not every element")
	}
	if w.Counted != nil && *w.Counted != len(elements) {
		return nil, nil, incomplete("not every element")
	}
	if elements, err = separate(elements, s.Window, listed); err != nil {
		return nil, nil, err
	}
	aims := make([]image.Point, len(elements))
	for i := range elements {
		aims[i] = middle(elements[i].Bounds)
	}
	m.place(elements, s.Window.Bounds, l.modern)
	s.Slack = m.slack()
	s.Elements = make([]driver.Element, len(elements))
	spots := make(map[driver.Token]spot, len(elements))
	for i := range elements {
		s.Elements[i] = elements[i].Element
		if own := elements[i].Token; own != "" {
			t := l.token(own)
			s.Elements[i].Token = string(t)
			spots[t] = spot{elements[i].Bounds, aims[i]}
		}
	}
	return &w, spots, nil
}

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Size().Div(2)) }

// check compares the reading with the window it must be of.
func (w *wireState) check(s *driver.Snapshot, modern bool) error {
	ref := s.Window.Ref
	switch {
	case w.PID == nil || w.ID == nil || *w.PID != int64(ref.PID) || *w.ID != ref.ID:
		return incomplete("a reading of another window")
	case w.Elements == nil || w.Total == nil || w.Returned == nil:
		return incomplete("no elements")
	case isTrue(w.Truncated) || isTrue(w.Degraded) || (w.Pending != nil && *w.Pending != 0):
		return incomplete("cut short")
	case isFalse(w.Bounded):
		return incomplete("places missing")
	case w.Bounds != nil && w.Bounds.rectangle() != s.Window.Bounds:
		return incomplete("the window moved")
	case w.Title != nil && *w.Title != s.Window.Title:
		return incomplete("the window's title changed")
	case w.App != nil && *w.App != s.Window.App:
		return incomplete("another application")
	}
	if !modern {
		return nil // 0.21's elements_complete is false always and says nothing (M6)
	}
	if w.Truncated == nil || w.Pending == nil || w.Bounded == nil || w.Bounds == nil || w.Title == nil || !isTrue(w.Complete) {
		return incomplete("completeness not stated")
	}
	return nil
}

func isTrue(b *bool) bool  { return b != nil && *b }
func isFalse(b *bool) bool { return b != nil && !*b }
