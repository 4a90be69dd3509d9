package sight

import (
	"image"
	"maps"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/redact"
)

// A trait is what of an element must be the same before and after a picture.
type trait struct {
	verdict      redact.Verdict
	role         driver.Role
	bounds       image.Rectangle
	label, value string // of what stays visible only
}

// steady reports whether two looks agree on what is hidden and on all that is
// near to it.
func steady(a, b *Look) bool { return maps.Equal(traits(a), traits(b)) }

// traits counts the elements that are masked or within reach of a mask, by
// what must not change about them. What moves within a place that is masked
// whole is left out, and so are texts that nobody sees: a hidden clock may
// tick.
func traits(l *Look) map[trait]int {
	s, p := l.Snapshot, l.Plan
	inside := inPassword(s)
	masked := make([]bool, len(s.Elements))
	for i := range s.Elements {
		masked[i] = p.Verdicts[i] == redact.Hide || inside[i] || s.Elements[i].Role == driver.RolePassword
	}
	out, reach := map[trait]int{}, &region{}
	grow := near + s.Slack
	for i := range s.Elements {
		e := &s.Elements[i]
		if !masked[i] || enclosed(s, masked, i) {
			continue
		}
		out[trait{verdict: redact.Hide, role: e.Role, bounds: e.Bounds}]++
		if e.HasBounds() {
			reach.rects = append(reach.rects, e.Bounds.Inset(-grow))
		}
	}
	reach.seal()
	for i := range s.Elements {
		e := &s.Elements[i]
		if masked[i] || !e.HasBounds() || !reach.overlaps(e.Bounds) {
			continue
		}
		t := trait{verdict: p.Verdicts[i], role: e.Role, bounds: e.Bounds}
		if p.Verdicts[i] > redact.Bare {
			t.label, t.value = e.Label, e.Value
		}
		out[t]++
	}
	return out
}

// near is how far, in screen pixels, an element is near to a mask: as far as
// masks grow, and a line of text more.
const near = 24
