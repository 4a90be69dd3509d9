package policy

import (
	"errors"
	"fmt"

	"github.com/permission-canvas/permission-canvas/driver"
)

// ErrHoldsText is wrapped by RuleFor's error where the rule would hold the text
// itself. Offers has the ways that do not.
var ErrHoldsText = errors.New("its name is the text itself, which a rule must not hold: hide its shape, the box around it or its fingerprint")

// RuleFor makes the rule that gives level to element i of s, as a click on it
// means: restrictive rules belong to the application and site and name the
// control; a green one names the live window too. The rule has no id yet.
func RuleFor(level driver.Level, s *driver.Snapshot, i int, _ func(string) string) (Rule, error) {
	if _, err := driver.ParseLevel(string(level)); err != nil {
		return Rule{}, err
	}
	if i < 0 || i >= len(s.Elements) {
		return Rule{}, fmt.Errorf("no element %d", i)
	}
	e := &s.Elements[i]
	if err := nameable(e, level); err != nil {
		return Rule{}, err
	}
	r := Rule{Level: level, Match: place(s.Window)}
	r.Match.Role, r.Match.Label = roleName(e), e.Label
	if r.Match.App == "" {
		return Rule{}, errors.New("the application has no name, so no rule can belong to it")
	}
	switch level {
	case driver.LevelHide:
		r.Expect = ExpectHere
	case driver.LevelAllow:
		return bind(r, s, i)
	}
	return r, nil
}

// place scopes a rule to the application and site of w.
func place(w driver.Window) Match { return Match{App: w.AppName(), Site: w.Site} }

// nameable reports why a rule of level must not hold e's label, nil where it
// may.
func nameable(e *driver.Element, level driver.Level) error {
	label := Normal(e.Label)
	switch {
	case label == "":
		return errors.New("it has no name to know it by: choose the box around it")
	case label == Normal(e.Value), looksSecret(e.Label), isText(e.Role), level == driver.LevelHide && isContent(e.Role):
		return ErrHoldsText
	}
	return nil
}

// isText reports whether elements of role r are, or may be, nothing but text.
func isText(r driver.Role) bool {
	return r == driver.RoleUnknown || r == driver.RoleText || r == driver.RoleParagraph
}

// isContent reports whether elements of role r are named by the text they show,
// so that hiding them means hiding that text.
func isContent(r driver.Role) bool {
	switch r {
	case driver.RoleHeading, driver.RoleListItem, driver.RoleTreeItem, driver.RoleRow, driver.RoleCell,
		driver.RoleStatus, driver.RoleAlert, driver.RoleTooltip:
		return true
	}
	return false
}

// bind makes r a rule for the live window s shows, and for one control.
func bind(r Rule, s *driver.Snapshot, i int) (Rule, error) {
	w, e := s.Window, &s.Elements[i]
	if e.Role == driver.RoleUnknown || w.Start == 0 || w.Ref.IsZero() {
		return Rule{}, errors.New("allowing needs a known role, process and window")
	}
	r.Match.PID, r.Match.Start, r.Match.WindowID = w.Ref.PID, w.Start, w.Ref.ID
	if w.Site == "" {
		if w.Title == "" {
			return Rule{}, errors.New("allowing needs a site or a window title")
		}
		r.Match.WindowTitle = w.Title
	}
	for range 2 {
		n, err := allowed(r, s, i)
		if err != nil || n == 1 {
			return r, err
		}
		box, ok := container(s, i)
		if !ok {
			break
		}
		r.Match.Within = &Match{Role: roleName(box), Label: box.Label}
	}
	return Rule{}, errors.New("several controls here have this role and name: allow one by a rule of its own, with within")
}

// allowed counts the elements of s that r alone allows.
func allowed(r Rule, s *driver.Snapshot, i int) (int, error) {
	d := New()
	r.ID = "r1"
	d.Rules = []Rule{r}
	p, err := Compile(d)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, v := range p.Judge(s, nil).Verdicts {
		if v.Level == driver.LevelAllow {
			n++
		}
	}
	return n, nil
}

// container is the nearest ancestor of element i whose name a rule may hold.
func container(s *driver.Snapshot, i int) (*driver.Element, bool) {
	for p := range s.Path(i) {
		a := &s.Elements[p]
		if a.Role != driver.RoleWindow && a.Role != driver.RoleDocument && nameable(a, driver.LevelHide) == nil {
			return a, true
		}
	}
	return nil, false
}

// OfferKind is a way to mean a text without holding it.
type OfferKind string

const (
	OfferShape       OfferKind = "shape"       // everything that looks like it
	OfferContainer   OfferKind = "container"   // the named box around it
	OfferFingerprint OfferKind = "fingerprint" // this text alone
)

// Offer is one of the rules that could be meant by a click on a text.
type Offer struct {
	Kind OfferKind
	Rule Rule   // without an id
	Hint string // for a person: the shape, or the box's name; never the text
}

// Offers returns the restrictive rules that mean the text of element i without
// holding it, best first. Digest may be nil: then no fingerprint is offered.
func Offers(level driver.Level, s *driver.Snapshot, i int, digest func(string) string) []Offer {
	if i < 0 || i >= len(s.Elements) || level == driver.LevelAllow {
		return nil
	}
	var out []Offer
	e := &s.Elements[i]
	text := e.Label
	if Normal(text) == "" || nameable(e, driver.LevelHide) == nil && Normal(e.Value) != "" {
		text = e.Value
	}
	if shape := Shape(text); shape != "" {
		m := place(s.Window)
		m.TextRegex = shape
		out = append(out, Offer{OfferShape, Rule{Level: level, Expect: ExpectAnywhere, Match: m}, shape})
	}
	if box, ok := container(s, i); ok {
		m := place(s.Window)
		m.Role, m.Label = roleName(box), box.Label
		out = append(out, Offer{OfferContainer, Rule{Level: level, Expect: ExpectHere, Match: m}, box.Label})
	}
	if n := Normal(text); n != "" && digest != nil {
		m := place(s.Window)
		m.TextDigest = digest(n)
		out = append(out, Offer{OfferFingerprint, Rule{Level: level, Expect: ExpectAnywhere, Match: m}, fmt.Sprintf("%d characters", len([]rune(n)))})
	}
	return out
}
