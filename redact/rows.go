package redact

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

const (
	longLabel = 300  // characters of a label in Text
	longValue = 2000 // characters of a value in Text
	deepest   = 20   // indentation in Text
)

func itoa(n int) string { return strconv.Itoa(n) }

// token names row n of the observation with the nonce.
func token(nonce uint32, n int) driver.Token {
	const hex = "0123456789abcdef"
	b := make([]byte, 0, 16)
	b = append(b, 's')
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, hex[nonce>>shift&15])
	}
	b = append(b, ':')
	return driver.Token(strconv.AppendInt(b, int64(n), 10))
}

// write returns the observation's text.
func (l *list) write(o *Observation, standard driver.Level) string {
	var b strings.Builder
	b.Grow(64 + 48*len(l.elements))
	l.head(&b, o, standard)
	for n := range l.elements {
		e := &l.elements[n]
		for range min(l.depth[n], deepest) {
			b.WriteString("  ")
		}
		b.WriteByte('[')
		b.WriteString(itoa(n))
		b.WriteString("] ")
		b.WriteString(e.Role)
		if e.Label != "" {
			b.WriteByte(' ')
			quote(&b, e.Label, longLabel)
		}
		if e.Value != "" && e.Value != e.Label {
			b.WriteString(" = ")
			quote(&b, e.Value, longValue)
		}
		if raw := &l.s.Elements[l.rows[n]]; l.t.verdicts[l.rows[n]] == Show {
			if raw.Selected {
				b.WriteString(" selected")
			}
			if raw.Disabled {
				b.WriteString(" disabled")
			}
		}
		if e.Level != standard {
			b.WriteString(" (")
			b.WriteString(word(e.Level))
			b.WriteByte(')')
		}
		b.WriteByte('\n')
	}
	switch {
	case l.more > 0:
		fmt.Fprintf(&b, "%d more; use query\n", l.more)
	case len(l.elements) == 0 && l.opts.Query != "":
		b.WriteString("nothing visible matches the query\n")
	}
	return b.String()
}

// head writes the first line.
func (l *list) head(b *strings.Builder, o *Observation, standard driver.Level) {
	b.WriteString("window")
	if o.window.Title != "" {
		b.WriteByte(' ')
		quote(b, o.window.Title, longLabel)
	}
	if o.window.App != "" {
		b.WriteString(" of ")
		quote(b, o.window.App, longLabel)
	}
	b.WriteByte('.')
	if shows(standard) {
		fmt.Fprintf(b, " Where no other is named: %s.", word(standard))
	}
	switch o.covered {
	case 0:
	case 1:
		b.WriteString(" 1 place is covered by the person; don't guess it.")
	default:
		fmt.Fprintf(b, " %d places are covered by the person; don't guess them.", o.covered)
	}
	b.WriteByte('\n')
}

// word is what an agent reads for a level that a visible element can have.
func word(l driver.Level) string {
	switch l {
	case driver.LevelAllow:
		return "allow"
	case driver.LevelAsk:
		return "ask"
	}
	return "read only"
}
