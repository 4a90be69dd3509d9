package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// wake lists the rules that slept when their window closed and fit the window
// that is there now, and wakes them together.
func (c *call) wake(w control.Window) error {
	all, err := c.desk.Sleeping(c.ctx, w.Ref)
	if err != nil {
		return c.unreadable(w, err)
	}
	var fits []string
	for _, s := range all {
		if s.Why == "" {
			fits = append(fits, s.Rule.ID)
		}
	}
	if !c.json {
		c.printSleepers(w, all, len(fits))
	}
	sure := c.args.has("yes")
	if len(fits) > 0 && !sure && c.onTerminal() {
		if sure = c.sure("Use these " + fmt.Sprint(len(fits)) + " in this window?"); !sure {
			return errors.New("they stay asleep")
		}
	}
	woken := []control.Rule{}
	if sure && len(fits) > 0 {
		if woken, err = c.desk.Wake(c.ctx, w.Ref, fits); err != nil {
			return err
		}
	}
	switch {
	case c.json:
		return c.emit(object{"window": windowOf(w), "sleeping": sleepersOf(all), "woken": woken})
	case len(woken) > 0:
		c.print("Awake: %s", ruleIDs(woken))
	case len(fits) > 0:
		c.print("To wake them: %s", plain(c.desk.Command("select --wake --yes "+ref(w))))
	}
	return nil
}

func (c *call) printSleepers(w control.Window, all []control.Sleeper, fits int) {
	if len(all) == 0 {
		c.print("No rule that allowed something in such a window sleeps.")
		return
	}
	c.print("%d of %d sleeping rules fit %s %s (%s), one control each:", fits, len(all), plain(w.AppName()), quote(w.Title), ref(w))
	for _, s := range all {
		line := fmt.Sprintf("%-4s %s %s", plain(s.Rule.ID), control.Mark(s.Rule.Level), plain(control.Describe(s.Rule).What))
		if s.Why != "" {
			line += "   stays asleep: " + plain(s.Why)
		}
		c.print("%s", line)
	}
}

type sleeper struct {
	Rule control.Rule `json:"rule"`
	Fits bool         `json:"fits"`
	Why  string       `json:"why"`
}

func sleepersOf(all []control.Sleeper) []sleeper {
	list := []sleeper{}
	for _, s := range all {
		list = append(list, sleeper{s.Rule, s.Why == "", s.Why})
	}
	return list
}

func ruleIDs(rules []control.Rule) string {
	var all []string
	for _, r := range rules {
		all = append(all, r.ID)
	}
	return strings.Join(all, ", ")
}
