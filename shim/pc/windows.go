package main

import (
	"fmt"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// A window is a window in an answer.
type window struct {
	Number   int    `json:"number"`
	PID      int    `json:"pid"`
	WindowID uint64 `json:"window_id"`
	App      string `json:"app"`
	Title    string `json:"title"`
	Selected bool   `json:"selected"`
	Changed  string `json:"changed,omitempty"`
	Never    string `json:"never"`
}

func windowOf(w control.Window) window {
	return window{w.Number, w.Ref.PID, w.Ref.ID, w.AppName(), w.Title, w.Selected, w.Changed, w.Never}
}

func windows(c *call) error {
	all, err := c.desk.Windows(c.ctx)
	if err != nil {
		return err
	}
	if c.json {
		list := []window{}
		for _, w := range all {
			list = append(list, windowOf(w))
		}
		return c.emit(struct {
			Profile string   `json:"profile"`
			Windows []window `json:"windows"`
		}{c.desk.Dir(), list})
	}
	if len(all) == 0 {
		c.print("There is no window on this desktop.")
	}
	chosen := false
	for _, w := range all {
		mark := " "
		if w.Selected {
			mark, chosen = "*", true
		}
		c.print("%s%3d  %-14s %s %s", mark, w.Number, ref(w), plain(w.AppName()), quote(w.Title))
		switch {
		case w.Never != "":
			c.print("      Not for agents: %s", plain(w.Never))
		case w.Changed != "":
			c.print("      Was selected and is not the same any more (%s): choose it again.", plain(w.Changed))
		case w.Hidden:
			c.print("      Not on the screen now.")
		}
	}
	if chosen {
		c.print("\n* agents may use it, as the rules say.")
	} else if len(all) > 0 {
		c.print("\nNone is selected, so agents see nothing. Choose one: %s", plain(c.desk.Command("select NUMBER")))
	}
	return nil
}

func selectWindow(c *call) error {
	want := ""
	if len(c.words) > 0 {
		want = c.words[0]
	} else if !c.args.has("wake") {
		return usage("write: pc select [--add] WINDOW, or pc select --wake [WINDOW]")
	}
	if c.args.has("yes") && !c.args.has("wake") || c.args.has("add") && c.args.has("wake") {
		return usage("--yes goes with --wake, and --add does not")
	}
	w, err := c.desk.Find(c.ctx, want)
	if err != nil {
		return err
	}
	if c.args.has("wake") {
		if !w.Selected {
			return fmt.Errorf("%s is not selected: select it first, with `%s`", w, c.desk.Command("select "+ref(w)))
		}
		return c.wake(w)
	}
	s, err := c.desk.Select(c.ctx, w.Ref, c.args.has("add"))
	if err != nil {
		return err
	}
	asleep, err := c.desk.Sleeping(c.ctx, s.Window.Ref)
	if err != nil { // then nothing of the window can be read, which Notes say
		asleep = nil
	}
	if c.json {
		return c.emit(struct {
			Selected window    `json:"selected"`
			Sleeping []sleeper `json:"sleeping"`
			Notes    []string  `json:"notes"`
		}{windowOf(s.Window), sleepersOf(asleep), notes(s.Notes)})
	}
	c.print("Selected: %s %s (%s)", plain(s.Window.AppName()), quote(s.Window.Title), ref(s.Window))
	for _, note := range s.Notes {
		c.print("%s", plain(note))
	}
	if len(asleep) > 0 {
		c.print("%d rules that allowed something in such a window sleep: %s", len(asleep), plain(c.desk.Command("select --wake")))
	}
	c.print("Next: %s, then %s", plain(c.desk.Command("preview")), plain(c.desk.Command("resume")))
	return nil
}

// notes is never null in JSON.
func notes(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
