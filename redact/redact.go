package redact

import (
	"image"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

const defaultElements = 250

// Redact returns what an agent may have of s under p, and for each element of
// the Observation its index in s.Elements. The error, if any, wraps
// ErrWithheld.
func Redact(s *driver.Snapshot, p Plan, o Options) (*Observation, []int, error) {
	if s == nil {
		return nil, nil, withheld("no snapshot")
	}
	t, err := settle(s, p)
	if err != nil {
		return nil, nil, err
	}
	if err := located(s, t, !o.NoImage); err != nil {
		return nil, nil, err
	}
	obs := &Observation{window: WindowOf(s.Window, p.HideTitle), covered: t.covered, expires: o.Expires}
	v := view{from: frame(s), size: s.Size}
	if o.NoImage {
		if v.size == (image.Point{}) {
			v.size = v.from.Size()
		}
	} else {
		if obs.png, v.size, err = picture(s, masks(s, t, p), o.MaxSide); err != nil {
			return nil, nil, err
		}
	}
	obs.size = v.size
	known := gather(s, t, p)
	if known.in(fold(obs.window.Title)) {
		obs.window.Title = ""
	}
	if known.in(fold(obs.window.App)) {
		obs.window.App = ""
	}
	l := list{s: s, t: t, view: v, secrets: known, opts: o}
	l.fill()
	obs.elements = l.elements
	obs.text = l.write(obs, p.Default)
	return obs, l.rows, nil
}

// located reports, as an error, a hidden element whose place is not known: its
// pixels cannot be masked, and what lies over it cannot be told. Web content
// cannot paint outside of a page that is masked whole.
func located(s *driver.Snapshot, t settled, image bool) error {
	for i := range s.Elements {
		e := &s.Elements[i]
		switch {
		case reliable(e.Bounds):
		case t.verdicts[i] == Hide:
			if !e.Web || !inPage(s, t, i) {
				return withheld("hidden element %d of %d has no bounds", i, len(s.Elements))
			}
		case t.masked[i] && image && !inField(s, i):
			return withheld("veiled element %d of %d has no bounds", i, len(s.Elements))
		}
	}
	return nil
}

// inPage reports whether element i belongs to a hidden page whose place is
// known.
func inPage(s *driver.Snapshot, t settled, i int) bool {
	for p := range s.Path(i) {
		e := &s.Elements[p]
		if e.Role == driver.RoleDocument && t.verdicts[p] == Hide && reliable(e.Bounds) {
			return true
		}
		if !e.Web {
			return false
		}
	}
	return false
}

// inField reports whether element i is inside a password field whose place is
// known.
func inField(s *driver.Snapshot, i int) bool {
	for p := range s.Path(i) {
		if e := &s.Elements[p]; e.Role == driver.RolePassword {
			return reliable(e.Bounds)
		}
	}
	return false
}

// gather collects the texts that no kept string may contain.
func gather(s *driver.Snapshot, t settled, p Plan) *secrets {
	x := newSecrets()
	inside := beneath(s, func(i int) bool { return s.Elements[i].Role == driver.RolePassword })
	for i := range s.Elements {
		e := &s.Elements[i]
		switch {
		case t.verdicts[i] == Hide || inside[i]:
			for text := range e.Strings {
				x.add(text)
			}
		case t.masked[i]:
			x.add(e.Value)
			if !named(s, e) {
				x.add(e.Label)
			}
		}
	}
	if p.HideTitle {
		x.add(s.Window.Title)
	}
	x.seal()
	return x
}

// named reports whether a veiled element's label is known to be a name.
// Drivers give the value as the label where the toolkit has no name; of a
// control outside of a page with no value beside it, only one that knows all
// text can tell.
func named(s *driver.Snapshot, e *driver.Element) bool {
	label, value := fold(e.Label), fold(e.Value)
	if label == "" || dots(label) || value != "" && strings.Contains(label, value) {
		return false
	}
	return value != "" || e.Web || s.AllText
}

// list is the rows of an observation in the making.
type list struct {
	s        *driver.Snapshot
	t        settled
	view     view
	secrets  *secrets
	opts     Options
	elements []Element
	rows     []int // index in s.Elements
	depth    []int
	more     int // visible ones that were left out for their number
}

// fill makes the rows. They are numbered over what is listed, so that a gap
// cannot tell of something hidden.
func (l *list) fill() {
	most := l.opts.MaxElements
	if most <= 0 {
		most = defaultElements
	}
	query := fold(l.opts.Query)
	row := make([]int, len(l.s.Elements)) // 1 + number of the row
	withValue := l.shortValues()
	for i := range l.s.Elements {
		if l.t.verdicts[i] < Bare {
			continue
		}
		full := len(l.elements) >= most
		if full && query == "" {
			l.more++
			continue
		}
		e := l.element(i, withValue[i])
		if query != "" && !strings.Contains(fold(e.Label), query) && !strings.Contains(fold(e.Value), query) {
			continue
		}
		if full {
			l.more++
			continue
		}
		depth := 0
		for p := range l.s.Path(i) {
			if row[p] > 0 {
				e.Parent, depth = row[p]-1, l.depth[row[p]-1]+1
				break
			}
		}
		e.Index = len(l.elements)
		e.Token = token(l.opts.Nonce, e.Index)
		row[i] = e.Index + 1
		l.elements, l.rows, l.depth = append(l.elements, e), append(l.rows, i), append(l.depth, depth)
	}
}

// shortValues returns, for the ancestors of veiled elements, the values that
// are too short to be looked for everywhere.
func (l *list) shortValues() map[int][]string {
	var out map[int][]string
	for i := range l.s.Elements {
		if l.t.verdicts[i] == Hide || !l.t.masked[i] {
			continue
		}
		value := fold(l.s.Elements[i].Value)
		if value == "" || tells(value) && !latinWord(value) {
			continue
		}
		if out == nil {
			out = map[int][]string{}
		}
		for p := range l.s.Path(i) {
			out[p] = append(out[p], value)
		}
	}
	return out
}

// element returns what may be seen of a visible element, but for its number.
func (l *list) element(i int, short []string) Element {
	e := &l.s.Elements[i]
	out := Element{Parent: -1, Role: role(e.Role), Level: l.t.levels[i]}
	if l.t.verdicts[i] == Bare {
		return out
	}
	if reliable(e.Bounds) {
		out.Bounds = l.view.rect(e.Bounds, 0).Intersect(image.Rectangle{Max: l.view.size})
	}
	if l.t.verdicts[i] == Show || named(l.s, e) {
		out.Label = l.keep(line(e.Label), short)
	}
	if l.t.verdicts[i] == Show {
		out.Value = l.keep(lines(e.Value), short)
	}
	return out
}

// keep returns a clean text, or nothing where it holds what is hidden.
func (l *list) keep(text string, short []string) string {
	if text == "" {
		return ""
	}
	folded := fold(text)
	if dots(folded) || l.secrets.in(folded) {
		return ""
	}
	for _, s := range short {
		if strings.Contains(folded, s) {
			return ""
		}
	}
	return text
}

// role returns a role's word. What is not of driver's set may be a page's own
// text.
func role(r driver.Role) string {
	if r != driver.RoleUnknown && (driver.RoleOf(string(r)) == r || r == driver.RoleText) {
		return string(r)
	}
	return "unknown"
}
