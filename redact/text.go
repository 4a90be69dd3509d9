package redact

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// line returns s as it may be shown on one line: white space collapsed, what
// cannot be seen dropped.
func line(s string) string { return clean(s, false) }

// lines returns s as it may be shown, with its line breaks and its spacing.
func lines(s string) string { return clean(s, true) }

// fold returns s in the form in which texts are compared: as the policy's
// restrictive rules compare them, compatibility forms and case apart.
func fold(s string) string { return strings.ToLower(norm.NFKC.String(clean(s, false))) }

func clean(s string, breaks bool) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	space := !breaks // a line does not begin with one
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case breaks && (r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029'):
			b.WriteByte('\n')
		case unicode.IsSpace(r):
			if breaks || !space {
				b.WriteByte(' ')
			}
			space = true
		case unseen(r):
		default:
			b.WriteRune(r)
			space = false
		}
	}
	if breaks {
		return b.String()
	}
	return strings.TrimSuffix(b.String(), " ")
}

// plain reports whether clean would change nothing, for the usual text.
func plain(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return s == "" || last != ' '
}

// unseen reports whether r paints nothing of its own: control and format
// characters, private and unassigned ones, embedded objects, bytes that are no
// text, fillers and the selectors that can carry a message.
func unseen(r rune) bool {
	switch {
	case r == '\uFFFC', r == unicode.ReplacementChar, r == '\u034F',
		r == '\u115F', r == '\u1160', r == '\u3164', r == '\uFFA0', r == '\u2800',
		r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return !unicode.IsPrint(r)
}

// dots reports whether s is what a field shows in place of a password, whose
// length it gives away.
func dots(s string) bool {
	const bullets = "•●∙⚫⬤◦○∗*·‧▪■"
	n := 0
	for _, r := range s {
		if r != ' ' && !strings.ContainsRune(bullets, r) {
			return false
		}
		n++
	}
	return n > 1
}

// quote writes a clean text between quotation marks, cut at limit characters.
func quote(b *strings.Builder, s string, limit int) {
	b.WriteByte('"')
	n := 0
	for _, r := range s {
		if n++; n > limit {
			continue
		}
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	if n > limit {
		b.WriteString("… (")
		b.WriteString(itoa(n))
		b.WriteString(" characters)")
	}
}
