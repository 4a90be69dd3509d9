package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

func preview(c *call) error {
	want := ""
	if len(c.words) > 0 {
		want = c.words[0]
	}
	w, err := c.desk.Find(c.ctx, want)
	if err != nil {
		return err
	}
	p, err := c.desk.Preview(c.ctx, w.Ref)
	if err != nil {
		return c.unreadable(w, err)
	}
	w.Window = p.Look.Window
	if c.json {
		list := []numbered{}
		for _, n := range p.Controls {
			list = append(list, numberedOf(n))
		}
		return c.emit(object{"window": windowOf(w), "controls": list, "restart": p.Restart, "notes": notes(p.Notes), "paused": c.desk.State().Paused})
	}
	c.print("%s %s (%s)", plain(w.AppName()), quote(w.Title), ref(w))
	c.printOutline(p.Controls)
	if p.Restart != "" {
		c.print("%s", plain(p.Restart))
	}
	for _, note := range p.Notes {
		c.print("%s", plain(note))
	}
	c.print("This look is yours alone; no agent has it. Now say what they may do, by number: %s, and in the same way allow 3-5, ask 6, readonly 7.", plain(c.desk.Command("hide 17")))
	return nil
}

// unreadable says what to do about a window that could not be looked at.
func (c *call) unreadable(w control.Window, err error) error {
	if restart := control.Restart(w, err); restart != "" {
		return fmt.Errorf("%s", restart)
	}
	return err
}

// printOutline prints controls by their numbers, indented by what they are in.
func (c *call) printOutline(controls []control.Control) {
	for _, n := range controls {
		c.print("%s", outlineLine(n))
	}
	if len(controls) == 0 {
		c.print("There is nothing in it that could have a rule.")
	}
}

func outlineLine(n control.Control) string {
	line := fmt.Sprintf("%4d %s %s%s", n.Number, control.Mark(n.Level), strings.Repeat("  ", min(n.Depth, 12)), plain(n.Role))
	if n.Label != "" {
		line += " " + quote(n.Label)
	}
	if n.Value != "" {
		line += " = " + quote(n.Value)
	}
	if n.Veiled > 0 {
		line += fmt.Sprintf(" (%d characters, not shown)", n.Veiled)
	}
	var why []string
	if n.Hidden {
		why = append(why, "hidden")
	}
	if n.Why != "" {
		why = append(why, n.Why)
	}
	if len(n.Rules) > 0 {
		why = append(why, "rule "+strings.Join(n.Rules, ", "))
	}
	if len(why) > 0 {
		line += "   [" + plain(strings.Join(why, ": ")) + "]"
	}
	return line
}

// A numbered is a control in an answer.
type numbered struct {
	Number int           `json:"number"`
	Depth  int           `json:"depth"`
	Role   string        `json:"role"`
	Label  string        `json:"label"`
	Value  string        `json:"value"`
	Veiled int           `json:"veiled_characters"`
	Level  control.Level `json:"level"`
	Hidden bool          `json:"hidden"`
	Rules  []string      `json:"rules"`
	Why    string        `json:"why"`
}

func numberedOf(n control.Control) numbered {
	return numbered{n.Number, n.Depth, n.Role, n.Label, n.Value, n.Veiled, n.Level, n.Hidden, notes(n.Rules), n.Why}
}

// numberedVerb gives a level to controls by their numbers.
func numberedVerb(l control.Level) func(*call) error {
	return func(c *call) error {
		numbers, err := numbersOf(c.words)
		if err != nil {
			return err
		}
		as, err := c.as()
		if err != nil {
			return err
		}
		done, err := c.desk.SetNumbered(c.ctx, l, numbers, as)
		if err != nil {
			return err
		}
		if c.json {
			already := done.Already
			if already == nil {
				already = []int{}
			}
			return c.emit(object{"level": l, "rules": ruleList(done.Rules), "replaced": ruleList(done.Replaced),
				"already": already, "notes": notes(done.Notes)})
		}
		c.printNumbered(l, done)
		return nil
	}
}

func ruleList(rules []control.Rule) []control.Rule {
	if rules == nil {
		return []control.Rule{}
	}
	return rules
}

func (c *call) printNumbered(l control.Level, done control.Numbered) {
	for _, r := range done.Replaced {
		c.print("Removed, as it was for the same control:")
		c.printRule(r)
	}
	if len(done.Rules) > 0 {
		c.print("Added:")
	}
	for _, r := range done.Rules {
		c.printRule(r)
	}
	for _, n := range done.Already {
		c.print("%d has a rule for %s already.", n, l.Word())
	}
	for _, note := range done.Notes {
		c.print("%s", plain(note))
	}
}

// numbersMost bounds one command.
const numbersMost = 500

// numbersOf reads "3,5-8" and the like, in the order given, each once.
func numbersOf(words []string) ([]int, error) {
	var all []int
	for _, part := range strings.FieldsFunc(strings.Join(words, ","), func(r rune) bool { return r == ',' || r == ' ' }) {
		first, last, is := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && is {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 1 || to < from || to-from >= numbersMost {
			return nil, usage("%.40q is neither a number nor a range such as 3-8", part)
		}
		for n := from; n <= to; n++ {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	if len(all) == 0 || len(all) > numbersMost {
		return nil, usage("name 1 to %d controls by their numbers in the last preview", numbersMost)
	}
	return all, nil
}

// as is how a text is meant.
func (c *call) as() (control.As, error) {
	as := control.As(c.args.get("as"))
	switch as {
	case "", control.AsShape, control.AsContainer, control.AsFingerprint:
		return as, nil
	}
	return "", usage("--as is shape, container or fingerprint")
}
