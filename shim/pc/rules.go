package main

import (
	"fmt"
	"strings"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

func rules(c *call) error {
	doc, err := c.desk.Rules()
	if err != nil {
		return err
	}
	if c.json {
		return c.emit(object{
			"profile": c.desk.Dir(), "default_level": doc.DefaultLevel, "windows": doc.Windows, "rules": doc.Rules,
		})
	}
	for _, r := range doc.Rules {
		c.printRule(r)
	}
	if len(doc.Rules) == 0 {
		c.print("No rules yet.")
	}
	c.print("%s %s: everything else.", control.Mark(doc.DefaultLevel), doc.DefaultLevel.Word())
	return nil
}

// printRule says what r is for, and in a sentence where.
func (c *call) printRule(r control.Rule) {
	d := control.Describe(r)
	c.print("%-4s %s %-10s %s", plain(r.ID), control.Mark(r.Level), r.Level.Word(), plain(d.What))
	c.print("     %s", strings.TrimSpace(plain(d.Where)+" "+control.Expects(r)))
	if r.Note != "" {
		c.print("     Note: %s", quote(r.Note))
	}
}

// answerRule prints one rule as the answer.
func (c *call) answerRule(did string, r control.Rule) error {
	if c.json {
		return c.emit(r)
	}
	c.print("%s", did)
	c.printRule(r)
	return nil
}

func level(word string) (control.Level, error) {
	l, err := control.LevelOf(strings.ToLower(word))
	if err != nil {
		return "", &usageError{err.Error()}
	}
	return l, nil
}

func addRule(c *call) error {
	l, err := level(c.words[0])
	if err != nil {
		return err
	}
	rule, err := c.newRule(l)
	if err != nil {
		return err
	}
	rule.Note = c.args.get("note")
	if rule, err = c.desk.AddRule(c.ctx, rule); err != nil {
		return err
	}
	return c.answerRule("Added:", rule)
}

// newRule makes the rule that the flags mean.
func (c *call) newRule(l control.Level) (control.Rule, error) {
	if c.args.has("match") {
		for _, name := range []string{"window", "role", "label", "index", "as"} {
			if c.args.has(name) {
				return control.Rule{}, usage("--match says all: leave --%s out", name)
			}
		}
		m, err := control.ParseMatch(c.args.get("match"))
		if err != nil {
			return control.Rule{}, &usageError{err.Error()}
		}
		return control.NewRule(l, m, c.args.get("expect")), nil
	}
	if c.args.has("expect") {
		return control.Rule{}, usage("--expect goes with --match")
	}
	index, err := c.args.number("index")
	if err != nil {
		return control.Rule{}, err
	}
	as, err := c.as()
	if err != nil {
		return control.Rule{}, err
	}
	w, err := c.desk.Find(c.ctx, c.args.get("window"))
	if err != nil {
		if !c.args.has("window") {
			err = fmt.Errorf("%w: name it with --window", err)
		}
		return control.Rule{}, err
	}
	return c.desk.RuleOn(c.ctx, w.Ref, l, control.Want{Role: c.args.get("role"), Label: c.args.get("label"), Index: index, As: as})
}

func setRule(c *call) error {
	l, err := level(c.words[1])
	if err != nil {
		return err
	}
	rule, err := c.desk.SetLevel(c.ctx, c.words[0], l)
	if err != nil {
		return err
	}
	return c.answerRule("Changed:", rule)
}

func removeRule(c *call) error {
	rule, err := c.desk.RemoveRule(c.ctx, c.words[0])
	if err != nil {
		return err
	}
	return c.answerRule("Removed:", rule)
}
