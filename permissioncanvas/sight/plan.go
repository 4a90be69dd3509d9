package sight

import (
	"image"
	"slices"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/redact"
)

// Plan makes of what the policy says of each element what may be shown of it.
// A judgement that does not fit hides everything. Default and HideTitle are
// left for Take.
func Plan(s *driver.Snapshot, j policy.Judgement) redact.Plan {
	n := len(s.Elements)
	p := redact.Plan{Verdicts: make([]redact.Verdict, n), Levels: make([]driver.Level, n)}
	if len(j.Verdicts) != n {
		return p
	}
	hidden := make([]bool, n)
	for i, v := range j.Verdicts {
		p.Levels[i] = v.Level
		hidden[i] = (v.Hidden || !visible(v.Level)) && !v.TitleOnly
	}
	spread(s, hidden)
	above, inside := ancestors(s, hidden), inPassword(s)
	protected := newRegion(s, hidden)
	frameless := newFrameless(s, hidden, protected)
	for i := range s.Elements {
		e := &s.Elements[i]
		switch {
		case hidden[i]:
			p.Verdicts[i] = redact.Hide
		case inside[i]:
			p.Verdicts[i] = redact.Omit
		case above[i], j.Verdicts[i].TitleOnly:
			p.Verdicts[i], p.Levels[i] = redact.Bare, driver.LevelReadOnly
		case e.HasBounds() && protected.overlaps(e.Bounds), !e.HasBounds() && !frameless.may(i):
			p.Verdicts[i] = redact.Omit
		case e.Role == driver.RolePassword:
			p.Verdicts[i] = redact.Veil
		default:
			p.Verdicts[i] = redact.Show
		}
	}
	return p
}

// visible reports whether an element of the level can be seen.
func visible(l driver.Level) bool {
	return l == driver.LevelAllow || l == driver.LevelAsk || l == driver.LevelReadOnly
}

// spread hides the descendants of what is hidden.
func spread(s *driver.Snapshot, hidden []bool) {
	under := descendants(s, func(i int) bool { return hidden[i] })
	for i := range hidden {
		hidden[i] = hidden[i] || under[i]
	}
}

// descendants says of each element whether is holds for an ancestor. It does
// not rely on parents standing before their children.
func descendants(s *driver.Snapshot, is func(int) bool) []bool {
	out := make([]bool, len(s.Elements))
	for i := range s.Elements {
		if p := s.Elements[i].Parent; p < i {
			out[i] = p >= 0 && (out[p] || is(p))
			continue
		}
		for p := range s.Path(i) {
			if is(p) {
				out[i] = true
				break
			}
		}
	}
	return out
}

// inPassword says of each element whether it is inside a password field.
func inPassword(s *driver.Snapshot) []bool {
	return descendants(s, func(i int) bool { return s.Elements[i].Role == driver.RolePassword })
}

// ancestors says of each element whether a descendant is hidden.
func ancestors(s *driver.Snapshot, hidden []bool) []bool {
	out := make([]bool, len(hidden))
	for i := range hidden {
		if !hidden[i] {
			continue
		}
		for p := range s.Path(i) {
			if out[p] {
				break
			}
			out[p] = true
		}
	}
	return out
}

// A region is what hidden elements take up, by their bare rectangles.
type region struct {
	rects []image.Rectangle // by their upper edge
	low   []int             // greatest lower edge of rects up to here
}

func newRegion(s *driver.Snapshot, hidden []bool) *region {
	r := &region{}
	for i := range hidden {
		if e := &s.Elements[i]; hidden[i] && e.HasBounds() && !enclosed(s, hidden, i) {
			r.rects = append(r.rects, e.Bounds)
		}
	}
	r.seal()
	return r
}

func (r *region) seal() {
	slices.SortFunc(r.rects, func(a, b image.Rectangle) int { return a.Min.Y - b.Min.Y })
	for i, rect := range r.rects {
		low := rect.Max.Y
		if i > 0 {
			low = max(low, r.low[i-1])
		}
		r.low = append(r.low, low)
	}
}

// enclosed reports whether hidden element i is within its hidden parent's
// rectangle and so adds nothing.
func enclosed(s *driver.Snapshot, hidden []bool, i int) bool {
	p := s.Elements[i].Parent
	return p >= 0 && p < i && hidden[p] && s.Elements[i].Bounds.In(s.Elements[p].Bounds)
}

// overlaps reports whether rect overlaps the region.
func (r *region) overlaps(rect image.Rectangle) bool {
	n, _ := slices.BinarySearchFunc(r.rects, rect.Max.Y, func(a image.Rectangle, y int) int { return a.Min.Y - y })
	for i := n - 1; i >= 0 && r.low[i] > rect.Min.Y; i-- {
		if r.rects[i].Overlaps(rect) {
			return true
		}
	}
	return false
}

// frameless decides on elements without a place: they may lie anywhere their
// ancestors do not forbid.
type frameless struct {
	s        *driver.Snapshot
	none     bool // nothing is hidden
	ancestry bool // the driver says what belongs to what
	web      bool // all that is hidden is part of a page
	touches  []bool
}

func newFrameless(s *driver.Snapshot, hidden []bool, protected *region) *frameless {
	f := &frameless{s: s, none: true, web: true}
	for i := range s.Elements {
		e := &s.Elements[i]
		f.ancestry = f.ancestry || e.Parent >= 0
		if hidden[i] {
			f.none, f.web = false, f.web && e.Web
		}
	}
	f.touches = descendants(s, func(i int) bool {
		e := &s.Elements[i]
		return e.HasBounds() && protected.overlaps(e.Bounds)
	})
	return f
}

// may reports whether element i, which has no place, stays: near hidden things
// only where its ancestors are known and none of them touches one. Where none
// of them has a place either, nothing is proven but that what is outside of a
// page is not in it.
func (f *frameless) may(i int) bool {
	switch {
	case f.none:
		return true
	case !f.ancestry || f.touches[i]:
		return false
	}
	outside := !f.s.Elements[i].Web
	for p := range f.s.Path(i) {
		e := &f.s.Elements[p]
		if e.HasBounds() {
			return true
		}
		outside = outside && !e.Web
	}
	return f.web && outside
}
