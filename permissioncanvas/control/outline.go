package control

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
	"github.com/permission-canvas/permission-canvas/redact"
)

// A Control is one numbered line of a window's outline, as the person reads it.
// What is hidden has its words only where a rule holds them anyway.
type Control struct {
	Number int // from 1
	Depth  int // how many numbered ones it is in
	Role   string
	Label  string
	Value  string
	// Veiled says that words are left out here, and how many characters.
	Veiled int
	Level  Level
	// Hidden: an agent sees nothing of it.
	Hidden bool
	// Rules are those that match it, by id.
	Rules []string
	// Why says in words what hides it where none of its own rules does.
	Why string

	element int
}

// outline numbers what a person may want a rule for.
func outline(look *sight.Look, rules *policy.Policy) []Control {
	o := &outliner{look: look, rules: rules, number: map[int]int{}}
	o.secrets = o.hiddenTexts()
	var all []Control
	for i := range look.Snapshot.Elements {
		if !o.numbered(i) {
			continue
		}
		o.number[i] = len(all) + 1
		all = append(all, o.line(i))
	}
	return all
}

type outliner struct {
	look    *sight.Look
	rules   *policy.Policy
	number  map[int]int // by element
	secrets []string    // texts that rules hide, as rules compare them
}

// secretLeast is how long a hidden text is before other texts are looked
// through for it: every text holds an "a".
const secretLeast = 4

func (o *outliner) hiddenTexts() []string {
	var all []string
	for i := range o.look.Snapshot.Elements {
		if !o.hidden(i) {
			continue
		}
		for s := range o.look.Snapshot.Elements[i].Strings {
			if s = policy.Normal(s); utf8.RuneCountInString(s) >= secretLeast {
				all = append(all, s)
			}
		}
	}
	return all
}

// hidden reports whether nothing of element i is shown to an agent.
func (o *outliner) hidden(i int) bool {
	return o.look.Judgement.Verdicts[i].Hidden || o.look.Plan.Verdicts[i] == redact.Hide
}

// numbered reports whether element i has a line: it can be used, or it has
// words that are not those of the line it is in.
func (o *outliner) numbered(i int) bool {
	e := &o.look.Snapshot.Elements[i]
	name := policy.Normal(e.Label)
	switch {
	case e.Role == driver.RoleWindow:
		return false
	case isControl(e.Role):
		return true
	case name == "":
		return policy.Normal(e.Value) != ""
	}
	if e.Role == driver.RoleText || e.Role == driver.RoleUnknown {
		if p, ok := o.in(i); ok && policy.Normal(o.look.Snapshot.Elements[p].Label) == name {
			return false
		}
	}
	return true
}

// in is the nearest numbered element around i.
func (o *outliner) in(i int) (int, bool) {
	for p := range o.look.Snapshot.Path(i) {
		if o.number[p] > 0 {
			return p, true
		}
	}
	return 0, false
}

func (o *outliner) line(i int) Control {
	e, v := &o.look.Snapshot.Elements[i], o.look.Judgement.Verdicts[i]
	c := Control{Number: o.number[i], Role: roleWord(e), Level: v.Level, Hidden: o.hidden(i), Rules: slices.Clone(v.Rules), element: i}
	for p := range o.look.Snapshot.Path(i) {
		if o.number[p] > 0 {
			c.Depth++
		}
	}
	label, value := e.Label, e.Value
	if e.Role.IsTextField() && label == value {
		label = ""
	}
	c.Label, c.Value = o.word(i, label, &c.Veiled), o.word(i, value, &c.Veiled)
	if e.Role == driver.RolePassword && value != "" {
		c.Veiled += utf8.RuneCountInString(c.Value)
		c.Value = ""
	}
	switch {
	case v.Hidden:
	case c.Hidden:
		c.Level, c.Why = LevelHide, o.inside(i)
	case o.look.Plan.Verdicts[i] == redact.Omit:
		c.Level, c.Hidden, c.Why = LevelHide, true, "it lies over something hidden"
	}
	return c
}

// inside says in what hidden box element i is.
func (o *outliner) inside(i int) string {
	for p := range o.look.Snapshot.Path(i) {
		if o.look.Judgement.Verdicts[p].Hidden && o.number[p] > 0 {
			return fmt.Sprintf("it is in %d", o.number[p])
		}
	}
	return "it is in something hidden"
}

// word is text as it may stand in element i's line, "" where it must not; then
// its length is added to veiled.
func (o *outliner) word(i int, text string, veiled *int) string {
	same := policy.Normal(text)
	if same == "" || o.inRule(i, same) {
		return text
	}
	tells := o.hidden(i) || slices.ContainsFunc(o.secrets, func(secret string) bool { return strings.Contains(same, secret) })
	if !tells {
		return text
	}
	*veiled += utf8.RuneCountInString(text)
	return ""
}

// inRule reports whether a rule that matches element i names it by text.
func (o *outliner) inRule(i int, text string) bool {
	return slices.ContainsFunc(o.look.Judgement.Verdicts[i].Rules, func(id string) bool {
		r, ok := o.rules.Rule(id)
		return ok && policy.Normal(r.Match.Label) == text
	})
}
