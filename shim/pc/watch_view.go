package main

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// narrow is the width below which the screen says less in a line.
const narrow = 60

// View draws the screen.
func (s *screen) View() tea.View {
	body, foot := s.body(), s.foot()
	lines := s.head()
	room := max(s.height-len(lines)-len(foot), 0)
	lines = append(lines, body[:min(len(body), room)]...)
	for len(lines) < s.height-len(foot) {
		lines = append(lines, "")
	}
	v := tea.NewView(strings.Join(append(lines, foot...), "\n"))
	v.AltScreen = true
	v.WindowTitle = control.TerminalTitle
	return v
}

// inner is how wide a card's lines are.
func (s *screen) inner() int { return max(s.width-2, 8) }

// room is how many lines of an open text are shown.
func (s *screen) room() int { return max(s.height-len(s.head())-len(s.foot()), 0) }

func (s *screen) head() []string {
	state := s.who()
	if s.seen.Pause.Paused {
		state = "Agents are paused"
	}
	left := " Permission Canvas · watching"
	if s.width >= narrow {
		left += " " + clip(plain(s.hand.dir), s.width-len(left)-len(state)-14)
	}
	lines := apart(left, state+"  "+s.clock().Format("15:04")+" ", s.width)
	lines[0] = bold(lines[0])
	waiting := 0
	for _, r := range s.rows {
		if r.ended == "" {
			waiting++
		}
	}
	right := ""
	if n := len(s.seen.Missed); n > 0 {
		right = fmt.Sprintf("missed while you were away: %d [m] ", n)
		if s.width < narrow {
			right = fmt.Sprintf("missed: %d [m] ", n)
		}
	}
	return append(lines, apart(fmt.Sprintf(" WAITING %d", waiting), right, s.width)...)
}

// body is what stands between head and foot.
func (s *screen) body() []string {
	switch s.view {
	case viewCard:
		if r, ok := s.focused(); ok {
			return s.page(r.lines(s.inner(), s.last))
		}
	case viewText, viewResume:
		return s.page(s.folded())
	case viewWords:
		body := fold("No to: "+s.heading, s.inner(), 2)
		body = append(body, "", "Words for the agent, or none:")
		return s.indent(append(body, fold("> "+s.words+"_", s.inner(), 2)...))
	}
	return s.list()
}

func (s *screen) indent(lines []string) []string {
	var all []string
	for _, l := range lines {
		all = append(all, " "+l)
	}
	return all
}

// page is the part of an open text that is shown.
func (s *screen) page(lines []string) []string {
	top := min(s.top, len(lines))
	return s.indent(lines[top:min(len(lines), top+s.room())])
}

// folded are the lines of an open text, for this width.
func (s *screen) folded() []string {
	all := append(fold(s.heading, s.inner(), 2), "")
	for _, l := range s.text {
		all = append(all, fold(l, s.inner(), 6)...)
	}
	return all
}

func (s *screen) list() []string {
	if s.seen.Problem != "" {
		return s.indent(fold("What waits cannot be told: "+plain(s.seen.Problem), s.inner(), 0))
	}
	if len(s.rows) == 0 {
		return s.indent(fold(s.nobody(), s.inner(), 0))
	}
	var all []string
	first, last := 0, 0
	for _, r := range s.rows {
		if r.place() == s.focus {
			first = len(all)
		}
		all = append(all, s.entry(r)...)
		if r.place() == s.focus {
			last = len(all)
		}
	}
	if over := last - s.room(); over > 0 { // keep the focus in sight
		all = all[min(over, first):]
	}
	return all
}

// entry is one row of the list.
func (s *screen) entry(r row) []string {
	mark := "  "
	if r.place() == s.focus {
		mark = "> "
	}
	c := r.cards[0]
	state := left(r.expires())
	if r.ended != "" {
		state = "over: " + plain(r.ended)
	}
	where := visible.Text(c.Window, shown)
	if c.Place != "" {
		where += " · " + visible.Text(c.Place, shown)
	}
	mouse := slices.ContainsFunc(r.cards, func(c control.Card) bool { return c.Delivery == "foreground" })
	if mouse && s.width >= narrow {
		where = "uses your real mouse · " + where
	}
	var lines []string
	if s.width >= narrow {
		lines = []string{mark + c.ID + "  " + state + "  " + visible.Text(c.Agent, 24) + "  " + r.says(), where}
	} else {
		lines = []string{mark + state + "  " + r.says(), visible.Text(c.Agent, 24) + " · " + where, c.ID}
		if mouse {
			lines = append(lines, "uses your real mouse")
		}
	}
	for _, note := range s.noted(r) {
		lines = append(lines, fold(note, s.width-7, 2)...)
	}
	for i := range lines {
		if i > 0 {
			lines[i] = "      " + lines[i]
		}
		lines[i] = clip(" "+lines[i], s.width)
	}
	if r.place() == s.focus {
		lines[0] = bold(lines[0])
	}
	return lines
}

// noted is what a person should know of a row at a glance.
func (s *screen) noted(r row) []string {
	var notes []string
	if n := r.cards[0].Again; n > 0 {
		notes = append(notes, fmt.Sprintf("asked again (time %d), unchanged", n+1))
	}
	if d := differs(r.cards[0], s.last); d != "" && r.ended == "" && r.cards[0].Group == "" {
		notes = append(notes, d)
	}
	return notes
}

// foot says what can be done. It has the same height for every state of a view.
func (s *screen) foot() []string {
	message := s.message
	if message == "" && s.view == viewCard {
		message = "Agents' input is held back while this is open."
	}
	switch s.view {
	case viewCard:
		return s.cardFoot(message)
	case viewWords:
		return s.keys(message, "[enter] deny", "[esc] back")
	case viewText:
		return s.keys(message, "↑↓ scroll", "[esc] back")
	case viewResume:
		return s.keys(message, "type  "+s.code+"  to resume", "[esc] stay paused")
	}
	return s.keys(message, "[enter] open", "d deny", s.pauseWord(), "l log", "q quit")
}

// said is a message in as few lines as it needs.
func (s *screen) said(message string) []string {
	all := s.indent(fold(message, s.inner(), 0))
	return all[:min(len(all), 4)]
}

// keys are what there is to say and, below it, the keys in as many lines as
// they need.
func (s *screen) keys(message string, keys ...string) []string {
	all := append(s.said(message), " "+keys[0])
	for _, k := range keys[1:] {
		if last := &all[len(all)-1]; wide(*last)+3+wide(k) <= s.width {
			*last += "   " + k
		} else {
			all = append(all, " "+k)
		}
	}
	for i := range all {
		all[i] = clip(all[i], s.width)
	}
	return all
}

func (s *screen) cardFoot(message string) []string {
	r, ok := s.focused()
	act := ""
	switch {
	case !ok || r.ended != "":
		act = "This is over: " + plain(r.ended)
	case s.read != r.key():
		act = "↓ scroll to the end to approve"
	default:
		what := "approve once"
		if r.cards[0].Group != "" {
			what = fmt.Sprintf("approve these %d", len(r.cards))
		}
		act = "type  " + r.code() + "  to " + what
		switch {
		case s.typed != "":
			act += "   (" + s.typed + "_)"
		case s.dead():
			act += "   (in a moment)"
		}
	}
	all := append(s.said(message), clip(" "+act, s.width))
	return append(all, s.keys("", "d deny", "[esc] back", left(r.expires())+" left")[1:]...)
}

func (s *screen) pauseWord() string {
	if s.seen.Pause.Paused {
		return "p resume"
	}
	return "p pause"
}

// missed are the asks that nobody answered.
func (s *screen) missed() []string {
	var all []string
	for _, c := range s.seen.Missed {
		line := fmt.Sprintf("%s  %s asked for %s", c.Changed.Local().Format("2006-01-02 15:04"), visible.Text(c.Agent, 24), plain(c.Verb))
		if c.Again > 0 {
			line += fmt.Sprintf(", %d times", c.Again+1)
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}
