package sim

import (
	"context"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Snapshot implements driver.Driver.
func (d *Desktop) Snapshot(ctx context.Context, ref driver.WindowRef, opts driver.SnapshotOptions) (*driver.Snapshot, error) {
	if err := d.enter(ctx); err != nil {
		return nil, err
	}
	s, picture, err := d.read(ref, opts)
	d.mu.Unlock()
	if err != nil || picture == nil {
		return s, err
	}
	// Encoding is the slow part, so it is done after the desktop is let go.
	s.Image, err = encode(picture)
	if err != nil {
		return nil, fmt.Errorf("sim: %w: %w", driver.ErrIncomplete, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("sim: %w: %w", driver.ErrNoEffect, err)
	}
	return s, nil
}

// read takes a snapshot with a picture that is not yet encoded.
func (d *Desktop) read(ref driver.WindowRef, opts driver.SnapshotOptions) (*driver.Snapshot, *image.RGBA, error) {
	w, err := d.lookup(ref)
	if err != nil {
		return nil, nil, err
	}
	d.snapshots++
	w.snapshot = fmt.Sprintf("s%08x", d.snapshots)
	w.live = w.live[:0:0]
	s := &driver.Snapshot{Window: d.describe(w), Run: strconv.Itoa(d.runs), AllText: true, FocusKnown: true, Taken: time.Now()}
	index := map[*node]int{nil: -1}
	for _, n := range w.nodes {
		if n.absent {
			continue
		}
		index[n] = len(w.live)
		w.live = append(w.live, n)
		s.Elements = append(s.Elements, w.element(n, index[n], index[n.parent]))
	}
	if opts.NoImage {
		return s, nil, nil
	}
	picture := scaled(d.paint(w), d.scale)
	s.Frame, s.Size = w.info.Bounds, picture.Bounds().Size()
	return s, picture, nil
}

// element returns n as the driver describes it.
func (w *window) element(n *node, index, parent int) driver.Element {
	e := driver.Element{
		Token: w.token(index), Parent: parent, Role: n.role, RawRole: n.raw, Label: n.label, Value: n.value,
		Text: slices.Clone(n.text), Bounds: w.bounds(n), Web: n.web, Multiline: n.multiline,
		Focused: n == w.focus, Disabled: n.disabled, Selected: n.checked,
	}
	switch {
	case n.isField():
		e.Actions = []string{"activate"}
	case n.takesFocus():
		e.Actions = []string{"click"}
	}
	return e
}

// scaled returns the picture at another scale, grown to whole pixels.
func scaled(src *image.RGBA, scale float64) *image.RGBA {
	if scale == 1 {
		return src
	}
	b := src.Bounds()
	size := image.Pt(int(math.Ceil(float64(b.Dx())*scale)), int(math.Ceil(float64(b.Dy())*scale)))
	return resample(src, size)
}
