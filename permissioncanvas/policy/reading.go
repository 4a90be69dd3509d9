package policy

import (
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

// reading is one snapshot while it is judged. It remembers what was found out,
// so that each distinct text meets each pattern once.
type reading struct {
	policy   *Policy
	snapshot *driver.Snapshot
	window   *window
	bound    bool // a person selected this window, and nothing about it is open
	digest   func(string) string

	texts    map[string]*text
	own      [][]*text        // of each element: label, value, then the rest
	met      [][]truth        // by pattern, then by text; unknown means not tried
	hits     [][]bool         // by pattern, then by element: part of a text in pieces
	insides  [][]truth        // by within, then by element
	insidesX [][]truth        // the same to the code point
	digests  map[*text]string // of texts
	runs     []run
	searched bool             // runs is filled
	marked   map[int][]string // fingerprints of the runs that each element is part of
}

func newReading(p *Policy, s *driver.Snapshot, digest func(string) string) *reading {
	chosen := p.Selected(s.Window)
	j := &reading{
		policy: p, snapshot: s, window: newWindow(s.Window), digest: digest,
		bound: chosen.State == Exact && !chosen.Unbound && s.Window.Start != 0,
		texts: map[string]*text{}, own: make([][]*text, len(s.Elements)),
		met: make([][]truth, p.patterns), hits: make([][]bool, p.patterns),
		insides: make([][]truth, p.withins), insidesX: make([][]truth, p.withins),
		digests: map[*text]string{},
	}
	for i := range s.Elements {
		e := &s.Elements[i]
		own := make([]*text, 0, 2+len(e.Text))
		for str := range e.Strings {
			own = append(own, j.text(str))
		}
		j.own[i] = own
	}
	return j
}

func (j *reading) text(raw string) *text {
	t := j.texts[raw]
	if t == nil {
		t = newText(raw, len(j.texts))
		j.texts[raw] = t
	}
	return t
}

func (j *reading) label(i int) *text { return j.own[i][0] }
func (j *reading) value(i int) *text { return j.own[i][1] }

// meets is p.loose, asked once for each text.
func (j *reading) meets(p *pattern, t *text) bool {
	if j.met[p.number] == nil {
		j.met[p.number] = make([]truth, len(j.texts))
		for n := range j.met[p.number] {
			j.met[p.number][n] = unknown
		}
	}
	m := &j.met[p.number][t.number]
	if *m == unknown {
		*m = known(p.loose(t))
	}
	return *m == yes
}

// loose says whether m's keys of the element hold for element i.
func (m *matcher) loose(j *reading, i int) truth {
	e := &j.snapshot.Elements[i]
	t := yes
	if m.role.raw != "" {
		t = min(t, m.role.loose(e))
	}
	if t == no ||
		m.label != "" && m.label != j.label(i).folded ||
		m.labels != nil && !j.meets(m.labels, j.label(i)) ||
		m.InWebContent != nil && *m.InWebContent != e.Web ||
		m.texts != nil && !j.holds(m.texts, i) {
		return no
	}
	if m.TextDigest != "" {
		t = min(t, j.bears(m.TextDigest, i))
	}
	if m.values != nil {
		t = min(t, j.valued(m.values, i))
	}
	if m.within != nil {
		t = min(t, j.inside(m.within, i))
	}
	return t
}

// holds reports whether a string of element i, or a text in pieces that it is
// part of, is what p describes.
func (j *reading) holds(p *pattern, i int) bool {
	for _, t := range j.own[i] {
		if j.meets(p, t) {
			return true
		}
	}
	return j.pieces(p)[i]
}

// valued says whether element i's value is what p describes. A field's label
// may be its value, and its value may be known to nobody.
func (j *reading) valued(p *pattern, i int) truth {
	e := &j.snapshot.Elements[i]
	field := e.Role.IsTextField() || e.Role.IsValueControl()
	switch {
	case j.meets(p, j.value(i)), field && j.meets(p, j.label(i)):
		return yes
	case field && e.Value == "" && !j.snapshot.AllText:
		return unknown
	}
	return no
}

// bears says whether a text of element i has the fingerprint.
func (j *reading) bears(fingerprint string, i int) truth {
	for _, t := range j.own[i] {
		switch {
		case t.folded == "":
		case j.digest == nil:
			return unknown
		case j.fingerprint(t) == fingerprint:
			return yes
		}
	}
	return known(j.digest != nil && j.bearsInPieces(fingerprint, i))
}

func (j *reading) fingerprint(t *text) string {
	d, ok := j.digests[t]
	if !ok {
		d = j.digest(t.folded)
		j.digests[t] = d
	}
	return d
}

// inside says whether an ancestor of element i is what m describes.
func (j *reading) inside(m *matcher, i int) truth {
	if j.insides[m.number] == nil {
		j.insides[m.number] = j.ancestry(func(i int) truth { return m.loose(j, i) }, true)
	}
	return j.insides[m.number][i]
}

func (j *reading) insideExactly(m *matcher, i int) bool {
	if j.insidesX[m.number] == nil {
		j.insidesX[m.number] = j.ancestry(func(i int) truth { return known(m.exact(j, i)) }, false)
	}
	return j.insidesX[m.number][i] == yes
}

// ancestry says for every element whether an ancestor satisfies is. Where the
// ancestors are not known and guess is set, an element that could be one of
// them counts.
func (j *reading) ancestry(is func(int) truth, guess bool) []truth {
	out := make([]truth, len(j.snapshot.Elements))
	self := make([]truth, len(out))
	var any, anyOutside truth // what an element before this one could give, in a page or not
	for i := range j.snapshot.Elements {
		e := &j.snapshot.Elements[i]
		switch p := e.Parent; {
		case p >= 0 && p < i:
			out[i] = max(self[p], out[p])
		case !guess || i == 0 || e.Role == driver.RoleWindow:
		case !j.snapshot.AllText || e.Web && any != no || anyOutside != no:
			out[i] = unknown
		}
		self[i] = is(i)
		any = max(any, self[i])
		if !e.Web {
			anyOutside = max(anyOutside, self[i])
		}
	}
	return out
}

// exact reports whether m's keys of the element hold for element i to the code
// point, all of them known.
func (m *matcher) exact(j *reading, i int) bool {
	e := &j.snapshot.Elements[i]
	if m.role.raw != "" && m.role.exact(e) != yes ||
		m.Label != "" && m.Label != e.Label ||
		m.labels != nil && !m.labels.exact(j.label(i)) ||
		m.values != nil && !m.values.exact(j.value(i)) ||
		m.InWebContent != nil && *m.InWebContent != e.Web ||
		m.TextDigest != "" {
		return false
	}
	if m.texts != nil && !m.textExact(j, i) {
		return false
	}
	return m.within == nil || j.insideExactly(m.within, i)
}

func (m *matcher) textExact(j *reading, i int) bool {
	for _, t := range j.own[i] {
		if m.texts.exact(t) {
			return true
		}
	}
	return false
}

func rawRole(e *driver.Element) string { return strings.ToLower(strings.TrimSpace(e.RawRole)) }
