package policy

import (
	"github.com/permission-canvas/permission-canvas/driver"
)

// Judgement is what the rules say of one snapshot.
type Judgement struct {
	Verdicts []Verdict // one for each element

	// Unmatched are the hide rules, by id, that should have found their
	// control here and did not, and those pinned to a window that is gone.
	Unmatched []string

	// NeedsText are the hide rules, by id, that cannot be decided because the
	// snapshot does not hold all painted text. Beside ids it may hold
	// "hide_window_title_regex" and "default_level".
	NeedsText []string
}

// Verdict is what the rules say of one element. Its zero value hides.
type Verdict struct {
	Level  driver.Level // for seeing and acting alike
	Hidden bool         // Level is none that can be seen

	// TitleOnly: hidden only because the window's or page's own name matches
	// hide_window_title_regex. Its strings must go; it need not take what it
	// contains with it.
	TitleOnly bool

	Rules   []string // ids of all rules that match, in the document's order
	Default bool     // the default level decided
}

// Judge decides every element of s. Digest makes the keyed fingerprint of a
// text; without it every text may be one that text_digest means.
func (p *Policy) Judge(s *driver.Snapshot, digest func(string) string) Judgement {
	j := newReading(p, s, digest)
	out := Judgement{Verdicts: make([]Verdict, len(s.Elements))}
	rules := j.applicable()
	for i := range s.Elements {
		out.Verdicts[i] = j.verdict(i, rules.of(j, i))
	}
	for n, r := range rules.all {
		if r != p.title && j.missing(r, rules.found[n]) {
			out.Unmatched = append(out.Unmatched, r.ID)
		}
		if r.hides() && !s.AllText && r.needsText() && r.mayApply(j.window) {
			out.NeedsText = append(out.NeedsText, r.ID)
		}
	}
	if p.DefaultLevel() == driver.LevelHide && !s.AllText {
		out.NeedsText = append(out.NeedsText, "default_level")
	}
	return out
}

// index finds the rules that can match an element without trying all.
type index struct {
	all     []*rule // in the document's order, the title's pattern last
	granted []bool  // a green rule that may grant in this window
	found   []bool  // a hide rule that has found what it names
	byLabel map[string][]int
	byRole  map[driver.Role][]int
	byRaw   map[string][]int
	named   []int // all of byRole: for elements whose role is not known
	rest    []int
	stamp   []int // last element that each rule was tried on, plus one
	buffer  []int
}

// applicable sorts the rules that can hold in the window.
func (j *reading) applicable() *index {
	x := &index{all: j.policy.rules, byLabel: map[string][]int{}, byRole: map[driver.Role][]int{}, byRaw: map[string][]int{}}
	if t := j.policy.title; t != nil {
		x.all = append(x.all[:len(x.all):len(x.all)], t)
	}
	x.granted, x.found, x.stamp = make([]bool, len(x.all)), make([]bool, len(x.all)), make([]int, len(x.all))
	for n, r := range x.all {
		x.granted[n] = !r.restricts() && r.mayGrant(j.window)
		if !x.granted[n] && (!r.restricts() || !r.mayApply(j.window)) {
			continue
		}
		switch w := r.role; {
		case r.label != "":
			x.byLabel[r.label] = append(x.byLabel[r.label], n)
		case w.raw == "":
			x.rest = append(x.rest, n)
		case w.named == "" && w.meant == "":
			x.rest = append(x.rest, n)
		default:
			x.named = append(x.named, n)
			x.byRaw[w.raw] = append(x.byRaw[w.raw], n)
			for _, role := range []driver.Role{w.named, w.meant} {
				if role != "" {
					x.byRole[role] = append(x.byRole[role], n)
				}
			}
		}
	}
	return x
}

// match is one rule that holds for an element.
type match struct {
	number int
	rule   *rule
	exact  bool // would hold for a green rule too
}

// of returns the rules that hold for element i, in the document's order.
func (x *index) of(j *reading, i int) []match {
	e := &j.snapshot.Elements[i]
	x.buffer = x.buffer[:0]
	x.add(i, x.byLabel[j.label(i).folded])
	if e.Role == driver.RoleUnknown {
		x.add(i, x.named)
	} else {
		x.add(i, x.byRole[e.Role])
		x.add(i, x.byRaw[rawRole(e)])
	}
	x.add(i, x.rest)
	var out []match
	for _, n := range x.buffer {
		r := x.all[n]
		if !r.restricts() {
			if e.Role != driver.RoleUnknown && r.exact(j, i) {
				out = append(out, match{n, r, true})
			}
			continue
		}
		t := r.loose(j, i)
		if t == no {
			continue
		}
		x.found[n] = x.found[n] || t == yes || r.label != ""
		out = append(out, match{n, r, r.surely(j.window) && r.exact(j, i)})
	}
	return out
}

// add notes candidates that were not noted for element i before, and keeps the
// document's order.
func (x *index) add(i int, rules []int) {
	for _, n := range rules {
		if x.stamp[n] == i+1 {
			continue
		}
		x.stamp[n] = i + 1
		at := len(x.buffer)
		x.buffer = append(x.buffer, n)
		for ; at > 0 && x.buffer[at-1] > n; at-- {
			x.buffer[at-1], x.buffer[at] = n, x.buffer[at-1]
		}
	}
}

// verdict combines what holds for element i: the strictest wins.
func (j *reading) verdict(i int, matches []match) Verdict {
	v := Verdict{}
	sure, titleOnly := false, true
	for _, m := range matches {
		v.Rules = append(v.Rules, m.rule.ID)
		sure = sure || m.exact
		if v.Level == "" {
			v.Level = m.rule.Level
		}
		v.Level = driver.Stricter(v.Level, m.rule.Level)
		titleOnly = titleOnly && (!m.rule.hides() || m.rule == j.policy.title)
	}
	base := j.defaultLevel(i)
	if len(matches) == 0 || !sure && driver.Stricter(base, v.Level) != v.Level {
		v.Level, v.Default = base, true
	}
	v.Hidden = v.Level == driver.LevelHide
	v.TitleOnly = v.Hidden && !v.Default && titleOnly && j.isFrame(i)
	return v
}

// isFrame reports whether element i is a window or page, whose name is no text
// painted inside it.
func (j *reading) isFrame(i int) bool {
	e := &j.snapshot.Elements[i]
	frame := e.Role == driver.RoleDocument || (e.Role == driver.RoleWindow || e.Role == driver.RoleDialog) && e.Parent < 0
	return frame && !j.policy.title.texts.loose(j.value(i))
}

// defaultLevel is the level of element i where no rule matches. A green default
// allows named controls with a place in a window that a person selected, and
// asks for everything else.
func (j *reading) defaultLevel(i int) driver.Level {
	level := j.policy.DefaultLevel()
	if level != driver.LevelAllow {
		return level
	}
	e := &j.snapshot.Elements[i]
	label := j.label(i).folded
	named := label != "" && label != j.value(i).folded
	if j.bound && named && e.HasBounds() && e.Role != driver.RoleUnknown && e.Role != driver.RolePassword {
		return driver.LevelAllow
	}
	return driver.LevelAsk
}

// missing reports whether hide rule r should have found something in this
// window and did not.
func (j *reading) missing(r *rule, found bool) bool {
	switch {
	case !r.hides():
		return false
	case r.Pinned() && !r.pinned(j.window):
		// Pinned to another window. Where that one is not selected it is gone
		// for us, and so is what the rule protected.
		return (r.App == "" || r.isApp(j.window)) && !j.policy.selects(r.matcher)
	}
	return !found && r.App != "" && r.Expects() == ExpectHere && r.mayApply(j.window)
}

// selects reports whether m may be pinned to one of the selected windows.
func (p *Policy) selects(m *matcher) bool {
	for _, w := range p.doc.Windows {
		if m.pinned(&window{Window: driver.Window{Ref: driver.WindowRef{PID: w.PID, ID: w.WindowID}, Start: w.Start}}) {
			return true
		}
	}
	return false
}

// needsText reports whether r can only be decided where all painted text is
// known. Controls that can be operated are always known.
func (r *rule) needsText() bool {
	if r.TextRegex != "" || r.TextDigest != "" || r.ValueRegex != "" {
		return true
	}
	return !operable[r.role.named] && !operable[r.role.meant] &&
		(r.LabelRegex != "" || r.Within != nil || r.Expects() == ExpectAnywhere)
}

// operable are roles that every driver lists.
var operable = map[driver.Role]bool{
	driver.RoleButton: true, driver.RoleCheckbox: true, driver.RoleRadio: true, driver.RoleSwitch: true,
	driver.RoleTextbox: true, driver.RolePassword: true, driver.RoleCombobox: true, driver.RoleSlider: true,
	driver.RoleSpin: true, driver.RoleLink: true, driver.RoleMenuItem: true, driver.RoleTab: true,
}
