package policy

import (
	"image"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

// run is a text in pieces: elements that follow one another in one block, so
// that a person reads them as one.
type run struct {
	members []int
	wholes  []whole
}

// whole is a run's text in one of its forms.
type whole struct {
	text, lower string
	starts      []int // of each member's piece
	folded      bool
}

// pieces says for every element whether it is part of a text in pieces that p
// describes.
func (j *reading) pieces(p *pattern) []bool {
	if hits := j.hits[p.number]; hits != nil {
		return hits
	}
	hits := make([]bool, len(j.snapshot.Elements))
	j.hits[p.number] = hits
	for _, r := range j.allRuns() {
		for _, w := range r.wholes {
			re, need := p.re, p.need
			if w.folded {
				re, need = p.folded, p.needs
			}
			if !holdsOne(w.lower, need) {
				continue
			}
			for _, span := range re.FindAllStringIndex(w.text, -1) {
				r.mark(hits, w.starts, span)
			}
		}
	}
	return hits
}

// mark sets hits for the members whose pieces span touches.
func (r run) mark(hits []bool, starts []int, span []int) {
	for n, i := range r.members {
		if starts[n] < span[1] && (n+1 == len(starts) || starts[n+1] > span[0]) {
			hits[i] = true
		}
	}
}

// bearsInPieces reports whether element i is part of a run whose text has the
// fingerprint.
func (j *reading) bearsInPieces(fingerprint string, i int) bool {
	if j.marked == nil {
		j.marked = map[int][]string{}
		for _, r := range j.allRuns() {
			for _, w := range r.wholes {
				if !w.folded {
					continue
				}
				d := j.fingerprint(j.text(w.text))
				for _, m := range r.members {
					j.marked[m] = append(j.marked[m], d)
				}
			}
		}
	}
	for _, d := range j.marked[i] {
		if d == fingerprint {
			return true
		}
	}
	return false
}

// allRuns finds the runs of two and more, once.
func (j *reading) allRuns() []run {
	if j.searched {
		return j.runs
	}
	j.searched = true
	b := newBlocks(j.snapshot)
	var members []int
	end := func() {
		if len(members) > 1 {
			j.runs = append(j.runs, run{members: members, wholes: j.wholes(members)})
		}
		members = nil
	}
	for i := range j.snapshot.Elements {
		e := &j.snapshot.Elements[i]
		switch {
		case !isInline(e.Role):
			end()
			continue
		case e.Role == driver.RoleImage, b.parents[i], j.piece(i) == nil:
			continue // says nothing of its own
		}
		if n := len(members); n > 0 && !b.follows(members[n-1], i) {
			end()
		}
		members = append(members, i)
	}
	end()
	return j.runs
}

// piece is what element i adds to its block, nil for nothing.
func (j *reading) piece(i int) *text {
	for _, t := range j.own[i] {
		if t.raw != "" {
			return t
		}
	}
	return nil
}

// wholes puts the pieces of members together in every form that rules compare,
// with and without a space between them.
func (j *reading) wholes(members []int) []whole {
	var out []whole
	plain := true
	for _, i := range members {
		t := j.piece(i)
		plain = plain && t.visible == t.raw
	}
	for _, gap := range []string{"", " "} {
		out = append(out, j.whole(members, gap, false, func(t *text) string { return t.raw }))
		if !plain {
			out = append(out, j.whole(members, gap, false, func(t *text) string { return t.visible }))
		}
		out = append(out, j.whole(members, gap, true, func(t *text) string { return t.folded }))
	}
	return out
}

func (j *reading) whole(members []int, gap string, folded bool, form func(*text) string) whole {
	var b strings.Builder
	w := whole{folded: folded}
	for n, i := range members {
		if n > 0 {
			b.WriteString(gap)
		}
		w.starts = append(w.starts, b.Len())
		b.WriteString(form(j.piece(i)))
	}
	w.text = b.String()
	w.lower = lower(w.text)
	return w
}

func isInline(r driver.Role) bool {
	switch r {
	case driver.RoleText, driver.RoleLink, driver.RoleImage, driver.RoleUnknown:
		return true
	}
	return false
}

// blocks knows which element's text each inline element belongs to.
type blocks struct {
	snapshot *driver.Snapshot
	parents  []bool // has children
	block    []int  // nearest ancestor that is not inline; -1 where none is known
	mixed    []bool // has children that are not inline
}

func newBlocks(s *driver.Snapshot) *blocks {
	n := len(s.Elements)
	b := &blocks{snapshot: s, parents: make([]bool, n), block: make([]int, n), mixed: make([]bool, n)}
	for i := range s.Elements {
		p := s.Elements[i].Parent
		if p < 0 || p >= i {
			b.block[i] = -1
			continue
		}
		b.parents[p] = true
		b.block[i] = p
		if isInline(s.Elements[p].Role) {
			b.block[i] = b.block[p]
		}
		if !isInline(s.Elements[i].Role) {
			b.mixed[p] = true
		}
	}
	return b
}

// follows reports whether element i goes on where element last ends. Where
// that cannot be seen, it does.
func (b *blocks) follows(last, i int) bool {
	if b.block[last] != b.block[i] {
		return false
	}
	a, c := &b.snapshot.Elements[last], &b.snapshot.Elements[i]
	if !a.HasBounds() || !c.HasBounds() {
		return true
	}
	line := min(a.Bounds.Dy(), c.Bounds.Dy())
	if shared := a.Bounds.Intersect(image.Rect(a.Bounds.Min.X, c.Bounds.Min.Y, a.Bounds.Max.X, c.Bounds.Max.Y)); shared.Dy()*2 >= line {
		return max(c.Bounds.Min.X-a.Bounds.Max.X, a.Bounds.Min.X-c.Bounds.Max.X) <= max(line, 4)
	}
	return b.wraps(b.block[i]) && c.Bounds.Min.Y-a.Bounds.Max.Y <= line && c.Bounds.Min.Y >= a.Bounds.Min.Y
}

// wraps reports whether the lines of block i are lines of one text.
func (b *blocks) wraps(i int) bool {
	if i < 0 {
		return false
	}
	switch b.snapshot.Elements[i].Role {
	case driver.RoleParagraph, driver.RoleHeading, driver.RoleListItem, driver.RoleCell:
		return true
	case driver.RoleGroup:
		return !b.mixed[i]
	}
	return false
}
