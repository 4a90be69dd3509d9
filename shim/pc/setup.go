package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// A guide leads a person through the first minutes. What is done already is
// read from the profile, so she may stop anywhere and go on later.
type guide struct {
	*call
	in          *bufio.Reader
	closeDriver func()
	window      control.Window
}

// errLater ends the guide; what is done stays.
var errLater = errors.New("stopped; what is done stays, agents are paused, and `pc setup` goes on from here")

func setup(c *call) error {
	if c.json {
		return c.setupState()
	}
	if !c.onTerminal() {
		return errors.New("pc setup asks questions, so it needs a terminal; `pc setup --json` says what is left to do")
	}
	fmt.Fprint(c.err, "\x1b[22;0t\x1b]0;"+control.TerminalTitle+"\x07") // keeps agents out of this window
	defer fmt.Fprint(c.err, "\x1b[23;0t")
	g := &guide{call: c, in: bufio.NewReader(c.in), closeDriver: func() {}}
	defer func() { g.closeDriver() }()
	for _, step := range []func() error{g.driver, g.choose, g.levels, g.finish} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// ask returns what the person types, without spaces around it.
func (g *guide) ask(question string) (string, error) {
	fmt.Fprint(g.out, question+" ")
	type typed struct {
		line string
		err  error
	}
	got := make(chan typed, 1)
	go func() { // outlives the context only as long as this process does
		line, err := g.in.ReadString('\n')
		got <- typed{line, err}
	}()
	select {
	case t := <-got:
		if t.err != nil && (t.line == "" || !errors.Is(t.err, io.EOF)) {
			g.print("")
			return "", errLater
		}
		return strings.TrimSpace(t.line), nil
	case <-g.ctx.Done():
		g.print("")
		return "", errLater
	}
}

// howToInstall is what to run where there is no driver.
const howToInstall = "python3 -m pip install --user cua-driver"

func (g *guide) driver() error {
	g.print("Step 1 of 4: the driver, which reads and operates the desktop")
	for {
		next := howToInstall
		closeDriver, err := g.openDriver()
		if err == nil {
			if _, err = g.desk.Windows(g.ctx); err == nil {
				g.closeDriver = closeDriver
				g.print("✓ It works.\n")
				return nil
			}
			closeDriver()
			next = "permission-canvas check"
		}
		g.print("× %s\n  In another terminal run:\n    %s", plain(err.Error()), next)
		word, err := g.ask("[Enter] look again, [q] stop:")
		if err != nil || word == "q" {
			return errLater
		}
	}
}

func (g *guide) choose() error {
	g.print("Step 2 of 4: the window that agents may use. They see nothing else.")
	for {
		all, err := g.desk.Windows(g.ctx)
		if err != nil {
			return err
		}
		var now *control.Window
		for i, w := range all {
			g.printWindow(w)
			if w.Selected && now == nil {
				now = &all[i]
			}
		}
		question := "Its number, [Enter] list again, [q] stop:"
		if now != nil {
			question = fmt.Sprintf("[Enter] keep %d, or another number, [l] list again, [q] stop:", now.Number)
		}
		word, err := g.ask(question)
		switch {
		case err != nil || word == "q":
			return errLater
		case word == "" && now != nil:
			g.window = *now
			g.print("✓ %s %s stays.\n", plain(now.AppName()), quote(now.Title))
			return nil
		case word == "" || word == "l":
			continue
		}
		if g.take(word) {
			return nil
		}
	}
}

func (c *call) printWindow(w control.Window) {
	mark := " "
	if w.Selected {
		mark = "*"
	}
	line := fmt.Sprintf("%s%3d  %s %s", mark, w.Number, plain(w.AppName()), quote(w.Title))
	if w.Never != "" {
		line += "   not for agents: " + plain(w.Never)
	}
	c.print("%s", line)
}

// take selects the window with this number and checks that it can be read.
func (g *guide) take(number string) bool {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		g.print("× That is no number of the list.")
		return false
	}
	w, err := g.desk.Find(g.ctx, number)
	if err != nil {
		g.print("× %s", plain(err.Error()))
		return false
	}
	p, err := g.desk.Preview(g.ctx, w.Ref)
	if how := control.Restart(w, err); how != "" {
		g.print("× %s", plain(how))
		return false
	}
	if err == nil && p.Restart != "" && !g.takesEmpty(p.Restart) {
		return false
	}
	s, err := g.desk.Select(g.ctx, w.Ref, false)
	if err != nil {
		g.print("× %s", plain(err.Error()))
		return false
	}
	g.window = s.Window
	g.print("✓ %s %s is selected.", plain(s.Window.AppName()), quote(s.Window.Title))
	for _, note := range s.Notes {
		g.print("  %s", plain(note))
	}
	g.print("")
	return true
}

// takesEmpty asks whether a page is meant to be empty.
func (g *guide) takesEmpty(how string) bool {
	g.print("× %s", plain(how))
	word, err := g.ask("[Enter] choose again, [empty] it is an empty page:")
	return err == nil && word == "empty"
}

const levelsHelp = `Say what agents may do, by number:
  hide 5        they neither see nor use it
  allow 8-12    they use it without asking
  ask 14        every use asks you first
  readonly 15   they see it and cannot use it
  look   look again     done   go on     q   stop`

func (g *guide) levels() error {
	g.print("Step 3 of 4: what they may do there. What has no rule asks you first.")
	if err := g.outline(); err != nil {
		return err
	}
	g.print("%s", levelsHelp)
	for {
		line, err := g.ask("Level and numbers:")
		if err != nil || line == "q" {
			return errLater
		}
		word, numbers, _ := strings.Cut(line, " ")
		switch word {
		case "done":
			g.print("✓ Levels are set.\n")
			return nil
		case "look", "l":
			if err := g.outline(); err != nil {
				return err
			}
		case "", "help", "?":
			g.print("%s", levelsHelp)
		default:
			g.level(word, numbers)
		}
	}
}

func (g *guide) outline() error {
	p, err := g.desk.Preview(g.ctx, g.window.Ref)
	if err != nil {
		return g.unreadable(g.window, err)
	}
	g.printOutline(p.Controls)
	return nil
}

// level gives one level, and offers ways to mean a text.
func (g *guide) level(word, numbers string) {
	l, err := level(word)
	var list []int
	if err == nil {
		list, err = numbersOf([]string{numbers})
	}
	var done control.Numbered
	if err == nil {
		done, err = g.desk.SetNumbered(g.ctx, l, list, "")
	}
	var text *control.TextError
	if errors.As(err, &text) {
		if done, err = g.offer(l, list, text); err == nil && done.Rules == nil && done.Already == nil {
			return
		}
	}
	if err != nil {
		g.print("× %s", plain(err.Error()))
		return
	}
	g.printNumbered(l, done)
}

// offer has the person choose how a text is meant. No answer changes nothing.
func (g *guide) offer(l control.Level, list []int, text *control.TextError) (control.Numbered, error) {
	g.print("%s. Instead:", plain(text.Error()))
	for i, o := range text.Offers {
		g.print("  %d  %s", i+1, waySaid(o.Kind, o.Hint))
	}
	word, err := g.ask("Which? [Enter] none:")
	if err != nil || word == "" {
		return control.Numbered{}, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > len(text.Offers) {
		return control.Numbered{}, errors.New("that is none of them; nothing was changed")
	}
	return g.desk.SetNumbered(g.ctx, l, list, text.Offers[n-1].Kind)
}

func (g *guide) finish() error {
	g.print("Step 4 of 4: let them work")
	for {
		f, err := g.desk.Forecast(g.ctx)
		if err != nil {
			return err
		}
		g.printForecast(f)
		forget(g.call.in)
		g.in = bufio.NewReader(g.call.in)
		word, err := g.ask("[resume] let agents work, [q] stay paused:")
		switch {
		case err != nil || word == "q":
			return errLater
		case word != "resume":
			g.print("Type resume, or q.")
			continue
		}
		if _, err := g.desk.Resume(g.ctx, nil); err != nil {
			return err
		}
		g.print("✓ Agents may work. Watch them, and answer what they ask: %s", plain(g.desk.Command("watch")))
		return nil
	}
}

// setupState says what is done and what is left, for a program.
func (c *call) setupState() error {
	type step struct {
		Name string `json:"name"`
		Done bool   `json:"done"`
		Say  string `json:"say"`
		Next string `json:"next"`
	}
	doc, err := c.desk.Rules()
	if err != nil {
		return err
	}
	steps := []step{{Name: "driver", Done: true, Say: "A driver is there."}}
	closeDriver, err := c.openDriver()
	defer closeDriver()
	if err != nil {
		steps[0] = step{Name: "driver", Say: err.Error(), Next: howToInstall}
	}
	selected := step{Name: "window", Say: "No window is selected.", Next: c.desk.Command("setup")}
	if len(doc.Windows) > 0 {
		selected.Say = "A window is selected."
		_, err := c.desk.Find(c.ctx, "")
		if selected.Done = err == nil || !steps[0].Done; selected.Done {
			selected.Next = ""
		} else {
			selected.Say = err.Error()
		}
	}
	levels := step{Name: "levels", Done: len(doc.Rules) > 0, Say: fmt.Sprintf("%d rules; everything else: %s.", len(doc.Rules), doc.DefaultLevel.Word())}
	resumed := step{Name: "resume", Done: !c.desk.State().Paused, Say: "Agents may work."}
	if !resumed.Done {
		resumed.Say, resumed.Next = pausedLine(c.desk.State()), c.desk.Command("resume")
	}
	return c.emit(object{"profile": c.desk.Dir(), "steps": []step{steps[0], selected, levels, resumed}})
}
