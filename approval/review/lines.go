package review

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/internal/visible"
)

// A Line is one fact of a card as every surface shows it: Name is ours, Text
// may be shown as it is. What a page or an agent says stands in it quoted by
// package visible, whole, and can be read back exactly; only the act's word,
// and names and numbers of the arguments, stand bare.
type Line struct {
	Name, Text string
}

// Lines says what is asked: where first, then what would be done, then each
// value of it, then who asks. Nothing is cut; a card that does not fit must be
// scrolled to its end before it can be approved.
func (c Card) Lines() []Line {
	lines := []Line{{"window", visible.Quote(c.Window)}}
	if c.Place != "" {
		lines = append(lines, Line{"place", visible.Quote(c.Place)})
	}
	act := word(c.Verb)
	if c.Target != "" {
		act += " " + visible.Quote(c.Target)
	}
	lines = append(lines, Line{"wants to", act})
	lines = append(lines, values(c.Arguments)...)
	switch c.Delivery {
	case "":
	case "background":
		lines = append(lines, Line{"how", "in the background"})
	case "foreground":
		lines = append(lines, Line{"how", "uses your real mouse and keyboard and brings the window to the front"})
	default:
		lines = append(lines, Line{"how", visible.Quote(c.Delivery)})
	}
	if c.Group != "" {
		lines = append(lines, Line{"in a list", fmt.Sprintf("step %d of %d", c.Step, c.Of)})
	}
	if c.Agent != "" {
		lines = append(lines, Line{"asked by", visible.Quote(c.Agent)})
	}
	if c.Again > 0 {
		lines = append(lines, Line{"asked again", fmt.Sprintf("time %d, unchanged", c.Again+1)})
	}
	if c.Profile != "" {
		lines = append(lines, Line{"profile", visible.Quote(c.Profile)})
	}
	return lines
}

// values shows each member of a JSON object. "with" before its name keeps it
// apart from the names that are ours.
func values(arguments string) []Line {
	if arguments == "" {
		return nil
	}
	var lines []Line
	d := json.NewDecoder(strings.NewReader(arguments))
	if start, err := d.Token(); err == nil && start == json.Delim('{') {
		for d.More() {
			name, err := d.Token()
			if err != nil {
				break
			}
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				break
			}
			lines = append(lines, Line{"with " + word(fmt.Sprint(name)), value(string(raw))})
		}
		if end, err := d.Token(); err == nil && end == json.Delim('}') && !d.More() {
			return lines
		}
	}
	return []Line{{"with", visible.Quote(arguments)}}
}

// value shows a string as what it says, a number or a constant as it is, and
// everything else as JSON.
func value(raw string) string {
	if !strings.ContainsAny(raw[:1], `"{[`) {
		return raw
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) == nil && !strings.ContainsRune(s, utf8.RuneError) {
		return visible.Quote(s)
	}
	return "JSON " + visible.Quote(raw)
}

// word is s where it is nothing but words, as the names of acts and arguments
// are, and quoted otherwise.
func word(s string) string {
	if s == "" || strings.Trim(s, " ") != s || strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(letters, r) }) {
		return visible.Quote(s)
	}
	return s
}

// letters are what stands bare: nothing that could end a line or begin a quote.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-, "
