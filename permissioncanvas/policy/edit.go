package policy

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

// DuplicateError says that a document already has the rule.
type DuplicateError struct{ ID string }

// Error names the rule that is there.
func (e *DuplicateError) Error() string { return fmt.Sprintf("rule %s says the same already", e.ID) }

// UnknownRuleError says that a document has no such rule.
type UnknownRuleError struct{ ID string }

// Error names the id.
func (e *UnknownRuleError) Error() string { return fmt.Sprintf("there is no rule %.80q", e.ID) }

// AddRule returns d with r at its end, under a fresh id where r has none. It
// refuses a rule that says what another one says, and a document that would
// not compile.
func (d Document) AddRule(r Rule) (Document, error) {
	d = d.settled()
	if r.ID == "" {
		r.ID = d.freshID()
	}
	if id, ok := d.same(r); ok {
		return Document{}, &DuplicateError{id}
	}
	d.Rules = append(d.Rules, r.clone())
	return d.compiled()
}

// SetRule returns d with r in place of the rule that has its id.
func (d Document) SetRule(r Rule) (Document, error) {
	d = d.settled()
	i := d.index(r.ID)
	if i < 0 {
		return Document{}, &UnknownRuleError{r.ID}
	}
	if id, ok := d.same(r); ok {
		return Document{}, &DuplicateError{id}
	}
	d.Rules[i] = r.clone()
	return d.compiled()
}

// RemoveRule returns d without the rule called id.
func (d Document) RemoveRule(id string) (Document, error) {
	d = d.settled()
	i := d.index(id)
	if i < 0 {
		return Document{}, &UnknownRuleError{id}
	}
	d.Rules = append(d.Rules[:i], d.Rules[i+1:]...)
	return d.compiled()
}

// Change is what SelectWindow did beside selecting.
type Change struct {
	AsksNow bool     // the default level was green and is yellow now
	Moved   []string // restrictive rules whose pin went to the new window
	Copied  []string // fresh ids of the copies pinned to the added window
}

// SelectWindow returns d with w selected: alone, or with add beside the others.
// Rules that restrict and are pinned to a replaced window move to w; with add,
// those pinned to a selected one are copied. A rule of another application or
// site stays where it is, and so does every green one.
func (d Document) SelectWindow(w Window, add bool) (Document, Change, error) {
	d = d.settled()
	var c Change
	if d.DefaultLevel == driver.LevelAllow {
		d.DefaultLevel, c.AsksNow = driver.LevelAsk, true
	}
	before := d.Windows
	d.Windows = []Window{w}
	if add {
		d.Windows = append(d.Windows[:0], without(before, w)...)
		d.Windows = append(d.Windows, w)
	}
	for i, r := range d.Rules {
		if !r.follows(before, w) {
			continue
		}
		moved := r.clone()
		moved.Match.pin(w)
		if !add {
			c.Moved = append(c.Moved, r.ID)
			d.Rules[i] = moved
			continue
		}
		moved.ID = d.freshID()
		if _, there := d.same(moved); !there {
			c.Copied = append(c.Copied, moved.ID)
			d.Rules = append(d.Rules, moved)
		}
	}
	d, err := d.compiled()
	return d, c, err
}

func without(windows []Window, w Window) []Window {
	var out []Window
	for _, o := range windows {
		if o.PID != w.PID || o.WindowID != w.WindowID {
			out = append(out, o)
		}
	}
	return out
}

// follows reports whether r is pinned to one of the windows and not to w, and
// belongs to w's application and place.
func (r Rule) follows(windows []Window, w Window) bool {
	m := &r.Match
	there := m.isPinned(w) && (m.Start == 0 || m.Start == w.Start)
	if r.Level == driver.LevelAllow || !r.Pinned() || there ||
		m.App != "" && Normal(m.App) != Normal(w.App) || m.Site != "" && w.Site != "" && origin(m.Site) != origin(w.Site) {
		return false
	}
	for _, o := range windows {
		if m.isPinned(o) {
			return true
		}
	}
	return false
}

// isPinned reports whether m's pins may mean w.
func (m *Match) isPinned(w Window) bool {
	return (m.PID == 0 || m.PID == w.PID) && (m.WindowID == 0 || m.WindowID == w.WindowID) &&
		(m.Start == 0 || w.Start == 0 || m.Start == w.Start)
}

// pin points the pins that m has at w. Where w's start is not known, process
// and window stand in for it.
func (m *Match) pin(w Window) {
	unknown := m.Start != 0 && w.Start == 0
	if m.PID != 0 || unknown {
		m.PID = w.PID
	}
	if m.WindowID != 0 || unknown {
		m.WindowID = w.WindowID
	}
	if m.Start != 0 {
		m.Start = w.Start
	}
}

// freshID is r and a number above all that are there.
func (d Document) freshID() string {
	most := 0
	for _, r := range d.Rules {
		if n, err := strconv.Atoi(strings.TrimPrefix(r.ID, "r")); err == nil && strings.HasPrefix(r.ID, "r") {
			most = max(most, n)
		}
	}
	return "r" + strconv.Itoa(most+1)
}

// same returns another rule of d that says what r says.
func (d Document) same(r Rule) (id string, ok bool) {
	for _, o := range d.Rules {
		if o.ID != r.ID && o.Level == r.Level && o.Expects() == r.Expects() && reflect.DeepEqual(o.Match, r.Match) {
			return o.ID, true
		}
	}
	return "", false
}

func (d Document) index(id string) int {
	for i, r := range d.Rules {
		if r.ID == id {
			return i
		}
	}
	return -1
}

func (d Document) compiled() (Document, error) {
	if _, err := Compile(d); err != nil {
		return Document{}, err
	}
	return d, nil
}
