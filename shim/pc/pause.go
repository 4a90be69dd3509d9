package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

func pause(c *call) error {
	p, err := c.desk.Pause(c.ctx, c.args.get("reason"))
	if err != nil {
		return err
	}
	if c.json {
		return c.emit(object{"paused": object{"reason": p.Pause.Reason, "by": p.Pause.By, "at": p.Pause.At}, "notes": notes(p.Notes)})
	}
	c.print("%s", pausedLine(p.Pause))
	for _, note := range p.Notes {
		c.print("%s", plain(note))
	}
	c.print("Let them work again: %s", plain(c.desk.Command("resume")))
	return nil
}

// pausedLine says who keeps agents out, since when and why.
func pausedLine(p control.Pause) string {
	if p.NeverSetUp {
		return "Agents are paused: nobody has let them in yet."
	}
	line := "Agents are paused"
	if !p.At.IsZero() {
		line += " since " + p.At.Local().Format("2006-01-02 15:04:05")
	}
	if p.By != "" {
		line += " by " + plain(p.By)
	}
	if p.Reason != "" {
		line += ": " + quote(p.Reason)
	}
	return line + "."
}

func resume(c *call) error {
	accept := c.args.values["accept-unmatched"]
	asks := c.onTerminal() && !c.args.has("yes")
	if asks {
		f, err := c.desk.Forecast(c.ctx)
		if err != nil {
			return err
		}
		c.printForecast(f)
		if !c.sure("Let agents work?") {
			return errors.New("agents stay paused")
		}
	}
	f, err := c.desk.Resume(c.ctx, accept)
	if err != nil {
		return err
	}
	if c.json {
		return c.emit(resumedOf(f))
	}
	if !asks || len(accept) > 0 {
		c.printForecast(f)
	}
	c.print("Resumed.")
	return nil
}

// sure asks y or N.
func (c *call) sure(question string) bool {
	forget(c.in)
	fmt.Fprint(c.err, question+" y/N ")
	word := strings.ToLower(c.line(c.ctx))
	return word == "y" || word == "yes"
}

// printForecast says what agents will meet.
func (c *call) printForecast(f control.Forecast) {
	for _, line := range c.forecastLines(f) {
		c.print("%s", line)
	}
	if missing := f.Missing(); len(missing) > 0 {
		c.print("To accept: %s", plain(c.desk.Command("resume --accept-unmatched "+missing[0])))
	}
}

// forecastLines says what agents will meet, a line each.
func (c *call) forecastLines(f control.Forecast) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, w := range f.Windows {
		add("%s %s (%s)", plain(w.Window.AppName()), quote(w.Window.Title), ref(w.Window))
		if w.Problem == "" || w.Allow+w.Ask+w.ReadOnly+w.Hidden > 0 {
			add("  %d allowed · %d ask · %d read only · %d hidden · %s", w.Allow, w.Ask, w.ReadOnly, w.Hidden, anythingNew(f.Default))
		}
		if w.Problem != "" {
			add("  %s", plain(w.Problem))
		}
		if len(w.Accepted) > 0 {
			add("  Missing here, as you accepted: %s", plain(strings.Join(w.Accepted, ", ")))
		}
		if len(w.Missing) > 0 {
			add("  Missing here: %s", plain(strings.Join(w.Missing, ", ")))
		}
	}
	for _, remains := range f.Remains {
		add("%s", plain(remains))
	}
	return all
}

func anythingNew(l control.Level) string {
	switch l {
	case control.LevelAllow:
		return "anything new is allowed"
	case control.LevelReadOnly:
		return "anything new is read only"
	case control.LevelHide:
		return "anything new is hidden"
	}
	return "anything new asks"
}

// A resumed is a forecast in an answer.
type resumed struct {
	Resumed      bool            `json:"resumed"`
	DefaultLevel control.Level   `json:"default_level"`
	Windows      []windowResumed `json:"windows"`
	Remains      []string        `json:"remains"`
}

type windowResumed struct {
	PID      int      `json:"pid"`
	WindowID uint64   `json:"window_id"`
	App      string   `json:"app"`
	Title    string   `json:"title"`
	Allow    int      `json:"allow"`
	Ask      int      `json:"ask"`
	ReadOnly int      `json:"read_only"`
	Hidden   int      `json:"hidden"`
	Missing  []string `json:"missing"`
	Accepted []string `json:"accepted"`
	Problem  string   `json:"problem"`
}

func resumedOf(f control.Forecast) resumed {
	r := resumed{true, f.Default, []windowResumed{}, notes(f.Remains)}
	for _, w := range f.Windows {
		r.Windows = append(r.Windows, windowResumed{
			w.Window.Ref.PID, w.Window.Ref.ID, w.Window.AppName(), w.Window.Title,
			w.Allow, w.Ask, w.ReadOnly, w.Hidden, notes(w.Missing), notes(w.Accepted), w.Problem,
		})
	}
	return r
}

// ref names a window exactly.
func ref(w control.Window) string { return fmt.Sprintf("%d:%d", w.Ref.PID, w.Ref.ID) }
