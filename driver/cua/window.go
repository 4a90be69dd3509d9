package cua

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

const listWindows = "list_windows"

// wireWindow is a window as list_windows has it.
type wireWindow struct {
	ID       *uint64     `json:"window_id"`
	PID      *int64      `json:"pid"`
	App      string      `json:"app_name"`
	Title    *string     `json:"title"`
	Bounds   *wireBounds `json:"bounds"`
	OnScreen *bool       `json:"is_on_screen"`
	Minimal  bool        `json:"minimized"`
	Here     *bool       `json:"on_current_space"`
	Z        *int64      `json:"z_index"`
}

// wireBounds is a window's rectangle.
type wireBounds struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// farthest is the largest coordinate that is taken for one.
const farthest = 1 << 20

// outward returns the smallest rectangle of whole pixels that holds the given
// one, empty where it cannot be a place on a screen.
func outward(x, y, w, h float64) image.Rectangle {
	for _, v := range []float64{x, y, w, h} {
		if math.IsNaN(v) || math.Abs(v) > farthest {
			return image.Rectangle{}
		}
	}
	if w <= 0 || h <= 0 {
		return image.Rectangle{}
	}
	return image.Rect(int(math.Floor(x)), int(math.Floor(y)), int(math.Ceil(x+w)), int(math.Ceil(y+h)))
}

func (b *wireBounds) rectangle() image.Rectangle {
	if b == nil {
		return image.Rectangle{}
	}
	return outward(b.X, b.Y, b.Width, b.Height)
}

// windows lists the desktop's windows.
func (d *Driver) windows(ctx context.Context, l *link) ([]driver.Window, error) {
	r, err := d.observe(ctx, l, listWindows, arguments{})
	if err != nil {
		return nil, err
	}
	return readWindows(r)
}

// readWindows reads the answer to list_windows.
func readWindows(r *reply) ([]driver.Window, error) {
	if r.failed {
		return nil, fmt.Errorf("%w: %s", driver.ErrUnavailable, listWindows)
	}
	var body struct {
		Windows []wireWindow `json:"windows"`
	}
	if r.structured == nil || json.Unmarshal(r.structured, &body) != nil || body.Windows == nil {
		return nil, fmt.Errorf("%w: %s: %w", driver.ErrUnavailable, listWindows, errShape)
	}
	all := make([]driver.Window, 0, len(body.Windows))
	stacked := true
	known := map[int]process{}
	for i := range body.Windows {
		w, err := body.Windows[i].window()
		if err != nil {
			return nil, err
		}
		p, ok := known[w.Ref.PID]
		if !ok && w.Ref.PID > 0 {
			p = processOf(w.Ref.PID)
			known[w.Ref.PID] = p
		}
		w.Start, w.Exe, w.Path = p.start, exeName(p.path), p.path
		stacked = stacked && body.Windows[i].Z != nil
		all = append(all, w)
	}
	if !stacked {
		for i := range all {
			all[i].Z = 0
		}
	}
	return all, nil
}

func (w *wireWindow) window() (driver.Window, error) {
	if w.ID == nil || w.Title == nil || w.Bounds == nil || w.OnScreen == nil {
		return driver.Window{}, fmt.Errorf("%w: window: %w", driver.ErrUnavailable, errShape)
	}
	out := driver.Window{
		Ref: driver.WindowRef{ID: *w.ID}, App: w.App, Title: *w.Title, Bounds: w.Bounds.rectangle(),
		Hidden: !*w.OnScreen || w.Minimal || (w.Here != nil && !*w.Here),
	}
	if w.PID != nil && *w.PID > 0 && *w.PID <= math.MaxInt32 {
		out.Ref.PID = int(*w.PID)
	}
	if w.Z != nil {
		out.Z = int(*w.Z)
	}
	return out, nil
}

// find returns the one window that ref names.
func find(all []driver.Window, ref driver.WindowRef) (driver.Window, error) {
	found := -1
	for i := range all {
		if all[i].Ref != ref {
			continue
		}
		if found >= 0 {
			return driver.Window{}, fmt.Errorf("%w: a window listed twice", driver.ErrIncomplete)
		}
		found = i
	}
	if found < 0 || ref.IsZero() {
		return driver.Window{}, driver.ErrWindowGone
	}
	return all[found], nil
}

// process is what is known of a window's process.
type process struct {
	start uint64 // in a unit of the system's; 0 where unknown
	path  string // of its executable; "" where unknown
}

// exeName is the base name of an executable's path as people say it.
func exeName(path string) string {
	path = strings.TrimSuffix(path, " (deleted)")
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	if n := len(path) - len(".exe"); n > 0 && strings.EqualFold(path[n:], ".exe") {
		path = path[:n]
	}
	return path
}
