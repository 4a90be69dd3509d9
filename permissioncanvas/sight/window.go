package sight

import (
	"context"
	"fmt"
	"image"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func windows(ctx context.Context, d driver.Driver) ([]driver.Window, error) {
	all, err := d.Windows(ctx)
	if err != nil {
		return nil, fmt.Errorf("sight: windows: %w", err)
	}
	return all, nil
}

// find returns the one window that ref names. One that is gone is a change
// where the person had selected it, and else nothing an agent should know of.
func find(all []driver.Window, p *policy.Policy, ref driver.WindowRef) (driver.Window, error) {
	var found driver.Window
	n := 0
	for _, w := range all {
		if w.Ref == ref {
			found, n = w, n+1
		}
	}
	switch {
	case n == 1:
		return found, nil
	case n > 1:
		return found, fmt.Errorf("%w: listed %d times", ErrAmbiguous, n)
	}
	for _, w := range p.Windows() {
		if w.PID == ref.PID && w.WindowID == ref.ID {
			return found, fmt.Errorf("%w: %w", ErrWindowChanged, driver.ErrWindowGone)
		}
	}
	return found, ErrNotSelected
}

// admit says whether w, as listed, may be read. Where a site would tell and the
// list does not know it, that is left for what the reading says.
func admit(p *policy.Policy, w driver.Window, o Options) error {
	if reason, never := NeverSelectable(w); never {
		return fmt.Errorf("%w: %s", ErrNotSelected, reason)
	}
	if s := p.Selected(w); s.State == policy.Changed && s.Entry.Site != "" && w.Site == "" {
		return nil
	}
	return selected(p, w, o)
}

// selected says whether w is what the person chose.
func selected(p *policy.Policy, w driver.Window, o Options) error {
	if o.Unselected {
		return nil
	}
	switch s := p.Selected(w); s.State {
	case policy.Exact:
		return nil
	case policy.Changed:
		return fmt.Errorf("%w: %s", ErrWindowChanged, s.Reason)
	}
	return ErrNotSelected
}

// read reads w and checks that it is w. What comes back knows of the window
// all that w did.
func read(ctx context.Context, d driver.Driver, w driver.Window, o driver.SnapshotOptions) (*driver.Snapshot, error) {
	raw, err := d.Snapshot(ctx, w.Ref, o)
	if err != nil {
		return nil, fmt.Errorf("sight: snapshot: %w", err)
	}
	if raw == nil {
		return nil, fmt.Errorf("%w: no snapshot", ErrWithheld)
	}
	if !same(w, raw.Window) {
		return nil, fmt.Errorf("%w: the window", errMoved)
	}
	s := *raw
	s.Window.Z, s.Window.Hidden = w.Z, w.Hidden
	s.Window.Start = max(s.Window.Start, w.Start)
	s.Window.App = known(s.Window.App, w.App)
	s.Window.Exe = known(s.Window.Exe, w.Exe)
	s.Window.Site = known(s.Window.Site, w.Site)
	return &s, nil
}

func known(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// same reports whether two readings are of one window that did not change. A
// list may know less than a snapshot.
func same(a, b driver.Window) bool {
	agree := func(a, b string) bool { return a == b || a == "" || b == "" }
	return a.Ref == b.Ref && a.Bounds == b.Bounds && a.Title == b.Title &&
		(a.Start == b.Start || a.Start == 0 || b.Start == 0) &&
		agree(a.App, b.App) && agree(a.Exe, b.Exe) && agree(a.Site, b.Site)
}

// unmoved reports, as an error, that w is not listed as it was.
func unmoved(all []driver.Window, w driver.Window) error {
	n := 0
	for _, o := range all {
		if o.Ref == w.Ref {
			if n++; !same(o, w) {
				return fmt.Errorf("%w: the window", errMoved)
			}
		}
	}
	if n != 1 {
		return fmt.Errorf("%w: the window is listed %d times", errMoved, n)
	}
	return nil
}

// located reports, as an error, that picture and elements are not in the same
// coordinates as the window. A root as large as the window is the window: where
// it stands elsewhere, everything does.
func located(s *driver.Snapshot, image bool) error {
	w := s.Window.Bounds
	if image && !s.Frame.Empty() && !mostly(s.Frame, w) {
		return fmt.Errorf("%w: the picture is of another place", ErrWithheld)
	}
	largest := -1
	for i := range s.Elements {
		e := &s.Elements[i]
		if e.Parent < 0 && e.Role == driver.RoleWindow && e.HasBounds() &&
			(largest < 0 || area(e.Bounds) > area(s.Elements[largest].Bounds)) {
			largest = i
		}
	}
	if largest < 0 {
		return nil
	}
	const tolerance = 8
	root := s.Elements[largest].Bounds
	size, off := root.Size().Sub(w.Size()), root.Min.Sub(w.Min)
	if !mostly(root, w) || within(size, 2) && !within(off, tolerance+s.Slack) {
		return fmt.Errorf("%w: the elements are of another place", ErrWithheld)
	}
	return nil
}

func within(p image.Point, most int) bool {
	return max(p.X, -p.X) <= most && max(p.Y, -p.Y) <= most
}

// mostly reports whether a and b share at least half of the smaller one.
func mostly(a, b image.Rectangle) bool {
	return 2*area(a.Intersect(b)) >= min(area(a), area(b))
}

func area(r image.Rectangle) int { return r.Dx() * r.Dy() }

// covers returns the places where, before or after the reading, another window
// lay over w: a picture taken from the screen shows that one there.
func covers(w driver.Window, lists ...[]driver.Window) []image.Rectangle {
	var out []image.Rectangle
	seen := map[image.Rectangle]bool{}
	for _, all := range lists {
		for _, o := range all {
			if o.Ref == w.Ref || o.Z < w.Z || o.Hidden || isOverlay(o) {
				continue
			}
			if r := o.Bounds.Intersect(w.Bounds); !r.Empty() && !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
	}
	return out
}

// isOverlay recognises the transparent window, as large as the screen, on which
// the driver paints its pointer. A window that only bears the name shows
// itself, not what it covers.
func isOverlay(w driver.Window) bool {
	const name = "agentcursoroverlay"
	return strings.Contains(strings.ToLower(w.Title), name) || strings.Contains(strings.ToLower(w.App), name) ||
		w.IsApp("cua-driver") || w.IsApp("cua-driver.exe")
}
