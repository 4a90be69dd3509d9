package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// object is a JSON object of ours.
type object = map[string]any

// shown is how much of a page's words stands in a line.
const shown = 80

// quote shows words that are not ours.
func quote(s string) string { return visible.Text(s, shown) }

// plain shows a line of ours in which names of files or of the person's stand:
// the same, but that what cannot be seen is escaped.
func plain(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexAny(s, `"\`)
		if i < 0 {
			i = len(s)
		}
		q := visible.Quote(s[:i])
		b.WriteString(q[1 : len(q)-1])
		if i < len(s) {
			b.WriteByte(s[i])
			i++
		}
		s = s[i:]
	}
	return b.String()
}

// say tells the person something beside the answer.
func (c *call) say(format string, args ...any) { fmt.Fprintf(c.err, format+"\n", args...) }

// print writes a line of the answer for people.
func (c *call) print(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

// emit writes the answer as JSON. What a terminal would act on or not show is
// escaped, which decodes to the same.
func (c *call) emit(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := c.out.Write(escaped(b.String()))
	return err
}

func escaped(s string) []byte {
	var b []byte
	for _, r := range s {
		switch {
		case r == '\n', r < 0x7f, strconv.IsPrint(r):
			b = append(b, string(r)...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

// A problem is an error in an answer.
type problem struct {
	Message string   `json:"message"`
	Choices []string `json:"choices,omitempty"`
	Ways    []way    `json:"ways,omitempty"`
}

// A way is a rule that could be made instead.
type way struct {
	As   control.As `json:"as"`
	Hint string     `json:"hint"`
}

// fail says why nothing was done.
func (c *call) fail(err error) {
	p := problem{Message: err.Error()}
	var choice *control.ChoiceError
	var text *control.TextError
	switch {
	case errors.As(err, &choice) && len(choice.Choices) > 0:
		p.Choices = choice.Choices
		fmt.Fprintf(c.err, "pc: %s:\n", plain(choice.Message))
		for _, line := range choice.Choices {
			fmt.Fprintf(c.err, "  %s\n", plain(line))
		}
	case errors.As(err, &text):
		fmt.Fprintln(c.err, "pc:", plain(err.Error()))
		fmt.Fprintln(c.err, "Repeat the command with one of:")
		for _, o := range text.Offers {
			p.Ways = append(p.Ways, way{o.Kind, o.Hint})
			fmt.Fprintf(c.err, "  --as %-12s %s\n", o.Kind, waySaid(o.Kind, o.Hint))
		}
	default:
		fmt.Fprintln(c.err, "pc:", plain(err.Error()))
	}
	if c.json {
		// Where even this cannot be written, the exit code is left.
		_ = c.emit(object{"error": p})
	}
}

func waySaid(kind control.As, hint string) string {
	switch kind {
	case control.AsShape:
		return "everything like " + quote(hint)
	case control.AsContainer:
		return "the whole box " + quote(hint)
	default:
		return "this text alone (" + plain(hint) + ")"
	}
}
