package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// Want says which control of a window is meant. What is "" or 0 is left open;
// together it must fit exactly one.
type Want struct {
	Role  string // "button" or the toolkit's word
	Label string
	Index int // from 1: which of those that fit, in the order of the window
	// As is how a rule may mean a text without holding it.
	As As
}

// As is a way to mean a text without holding it.
type As = policy.OfferKind

const (
	AsShape       = policy.OfferShape       // everything that looks like it
	AsContainer   = policy.OfferContainer   // the named box around it
	AsFingerprint = policy.OfferFingerprint // this text alone
)

// A TextError says that a rule for this control would have to hold a text from
// the screen, and which rules do without.
type TextError struct {
	Offers []policy.Offer
	Err    error
}

func (e *TextError) Error() string { return e.Err.Error() }

// Unwrap returns why no plain rule can be made.
func (e *TextError) Unwrap() error { return e.Err }

// RuleOn looks at the live window ref, privately, and makes the rule that gives
// level to the one control that want means. It saves nothing; AddRule does. An
// error names what is there.
func (d *Desk) RuleOn(ctx context.Context, ref WindowRef, level Level, want Want) (Rule, error) {
	look, err := d.look(ctx, ref)
	if err != nil {
		return Rule{}, err
	}
	s := look.Snapshot
	i, err := want.find(s)
	if err != nil {
		return Rule{}, err
	}
	offers := policy.Offers(level, s, i, d.profile.Digest)
	if want.As != "" {
		for _, o := range offers {
			if o.Kind == want.As {
				return o.Rule, nil
			}
		}
		return Rule{}, fmt.Errorf("there is no %s for this control", want.As)
	}
	rule, err := policy.RuleFor(level, s, i, d.profile.Digest)
	if err != nil && len(offers) > 0 {
		return Rule{}, &TextError{Offers: offers, Err: err}
	}
	return rule, err
}

// look reads one window for the person alone.
func (d *Desk) look(ctx context.Context, ref WindowRef) (*sight.Look, error) {
	return d.read(ctx, ref, true)
}

func (d *Desk) read(ctx context.Context, ref WindowRef, noImage bool) (*sight.Look, error) {
	desktop, err := d.desktop()
	if err != nil {
		return nil, err
	}
	rules, err := d.profile.Policy()
	if err != nil {
		return nil, err
	}
	if _, err := d.profile.Key(); err != nil {
		return nil, err
	}
	done, err := d.gate.Reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	look, err := sight.Take(ctx, desktop, rules, ref, sight.Options{NoImage: noImage, Unselected: true, Digest: d.profile.Digest})
	if errors.Is(err, driver.ErrWindowGone) || errors.Is(err, sight.ErrAmbiguous) {
		return nil, fmt.Errorf("no window is %s", refText(ref))
	}
	if err != nil {
		return nil, fmt.Errorf("window %s cannot be read: %w", refText(ref), err)
	}
	return look, nil
}

// find returns the element that w means.
func (w Want) find(s *driver.Snapshot) (int, error) {
	if w.Role == "" && w.Label == "" && w.Index == 0 {
		return 0, &ChoiceError{"say which control, by its role, its label or both; there is", list(s, w.offered(s))}
	}
	fits := w.among(s)
	switch {
	case len(fits) == 0:
		return 0, &ChoiceError{w.words() + " fits no control; there is", list(s, w.offered(s))}
	case w.Index < 0 || w.Index > len(fits):
		return 0, &ChoiceError{fmt.Sprintf("%s has no number %d; there is", w.words(), w.Index), list(s, fits)}
	case w.Index > 0:
		return fits[w.Index-1], nil
	case len(fits) > 1:
		return 0, &ChoiceError{fmt.Sprintf("%s fits %d controls; say which, by its number", w.words(), len(fits)), list(s, fits)}
	}
	return fits[0], nil
}

// among are the elements of which one is meant: with neither role nor label
// those that were offered.
func (w Want) among(s *driver.Snapshot) []int {
	if w.Role == "" && w.Label == "" {
		return w.offered(s)
	}
	var fits []int
	is := w.role(s)
	for i := range s.Elements {
		e := &s.Elements[i]
		if is(e) && (w.Label == "" || policy.Normal(e.Label) == policy.Normal(w.Label)) {
			fits = append(fits, i)
		}
	}
	return fits
}

// role tells whether an element has the role that w names. Our own words go
// before the toolkit's, which calls a text field "text".
func (w Want) role(s *driver.Snapshot) func(*driver.Element) bool {
	ours := func(e *driver.Element) bool { return strings.EqualFold(w.Role, string(e.Role)) }
	switch {
	case w.Role == "":
		return func(*driver.Element) bool { return true }
	case slices.ContainsFunc(s.Elements, func(e driver.Element) bool { return ours(&e) }):
		return ours
	}
	return func(e *driver.Element) bool {
		return strings.EqualFold(w.Role, e.RawRole) || e.Role != driver.RoleUnknown && driver.RoleOf(w.Role) == e.Role
	}
}

// offered are the elements to name where nothing fits: those of the role, or
// else all that a rule can be made for by name.
func (w Want) offered(s *driver.Snapshot) []int {
	if w.Role != "" {
		if some := (Want{Role: w.Role}).among(s); len(some) > 0 {
			return some
		}
	}
	var some []int
	for i := range s.Elements {
		e := &s.Elements[i]
		if e.Role != driver.RoleText && e.Role != driver.RoleParagraph && nameOf(e) != "" {
			some = append(some, i)
		}
	}
	return some
}

// words is w in a sentence.
func (w Want) words() string {
	role := "control"
	if w.Role != "" {
		role = strings.Trim(visible.Text(w.Role, shown), `"`)
	}
	if w.Label == "" {
		return role
	}
	return role + " " + visible.Text(w.Label, shown)
}

// listMost bounds what an error lists.
const listMost = 30

// list names elements by their numbers. Beside some that can be told apart,
// those that nothing tells apart are left out.
func list(s *driver.Snapshot, elements []int) []string {
	var out []string
	told := slices.ContainsFunc(elements, func(i int) bool { return nameOf(&s.Elements[i]) != "" || boxOf(s, i) != nil })
	for n, i := range elements {
		e := &s.Elements[i]
		name, box := nameOf(e), boxOf(s, i)
		if name == "" && box == nil && told {
			continue
		}
		if len(out) == listMost {
			return append(out, fmt.Sprintf("and up to %d more", len(elements)-n))
		}
		if name == "" {
			name = "without a name"
		}
		line := fmt.Sprintf("[%d] %s %s", n+1, roleWord(e), name)
		if box != nil {
			line += fmt.Sprintf(" in %s %s", roleWord(box), nameOf(box))
		}
		out = append(out, line)
	}
	return out
}

// nameOf is what e is called, quoted; "" where nobody could read it.
func nameOf(e *driver.Element) string {
	if policy.Normal(e.Label) == "" {
		return ""
	}
	return visible.Text(e.Label, shown)
}

func roleWord(e *driver.Element) string {
	if e.Role != driver.RoleUnknown {
		return string(e.Role)
	}
	return strings.Trim(visible.Text(e.RawRole, shown), `"`)
}

// boxOf is the nearest named ancestor below the window.
func boxOf(s *driver.Snapshot, i int) *driver.Element {
	for p := range s.Path(i) {
		if e := &s.Elements[p]; e.Role != driver.RoleWindow && nameOf(e) != "" {
			return e
		}
	}
	return nil
}
