// Package visible shows untrusted text to a person. Labels, titles and typed
// text come from pages and agents that may want to be read as something else:
// panel, terminal and chat all print them through [Quote] or [Text] and so show
// the same.
//
// # Guarantees
//
//   - What is shown decodes to exactly what is stored: [Unquote] undoes Quote,
//     and takes nothing that Quote would not have written.
//   - No code point is printed that a person cannot see or that moves others
//     about: control characters, C1, line and paragraph separators, every space
//     but the ASCII one, bidirectional controls, zero-width and joining
//     characters, tags, variation selectors, fillers, blanks, U+FFFC, private
//     use, unassigned and invalid bytes stand as escapes.
//   - The text cannot leave its quotes, draw over them, or stack marks without
//     end on one letter.
//   - A cut text says how long it was, outside the quotes.
//
// # Limits
//
// Letters that look alike in two scripts are not told apart, and letters
// written from right to left are shown by the terminal or panel in their own
// order, as they must be. Sequences of emoji fall apart into their parts.
package visible

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrForm is what Unquote returns for anything that Quote did not write.
var ErrForm = errors.New("not a quoted text")

// Quote returns s between double quotes. A quote and a backslash get a
// backslash, line break, return and tab are \n, \r and \t; any other code point
// that must not be printed is \u{XXXX} with four to six upper-case digits, and
// a byte that is no UTF-8 is \xXX.
func Quote(s string) string {
	q, _ := quote(s, -1)
	return q
}

// Text is Quote, cut so that at most max characters stand between the quotes,
// never within an escape; a negative max is no limit. A cut text is followed by
// its whole length:
//
//	"Send to everyb"… (212 characters)
func Text(s string, max int) string {
	q, whole := quote(s, max)
	if whole {
		return q
	}
	n := utf8.RuneCountInString(s)
	if n == 1 {
		return q + "… (1 character)"
	}
	return q + "… (" + strconv.Itoa(n) + " characters)"
}

// quote writes at most max characters, all where max is negative, and reports
// whether that was all of s.
func quote(s string, max int) (string, bool) {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	shown := 0
	var run marks
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+n]
		switch {
		case r == utf8.RuneError && n == 1:
			piece = fmt.Sprintf(`\x%02X`, s[i])
			run.reset()
		case run.fits(r):
		default:
			piece = escape(r)
			run.reset()
		}
		shown += utf8.RuneCountInString(piece)
		if max >= 0 && shown > max {
			b.WriteByte('"')
			return b.String(), false
		}
		b.WriteString(piece)
		i += n
	}
	b.WriteByte('"')
	return b.String(), true
}

func escape(r rune) string {
	switch r {
	case '"', '\\':
		return `\` + string(r)
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return fmt.Sprintf(`\u{%04X}`, r)
}

// marks counts the combining marks on the letter before.
type marks struct {
	letter bool
	n      int
}

// most is how many marks in a row are printed; Thai and Vietnamese need two,
// Hebrew with all its points up to four.
const most = 4

func (m *marks) reset() { *m = marks{} }

// fits reports whether r can be printed here as it is. A mark needs a letter of
// the text before it, or it would sit on the quote or on an escape.
func (m *marks) fits(r rune) bool {
	if !plain(r) {
		return false
	}
	if !unicode.Is(unicode.M, r) {
		*m = marks{letter: true}
		return true
	}
	m.n++
	return m.letter && m.n <= most
}

// plain reports whether r is seen for what it is.
func plain(r rune) bool {
	if r == '"' || r == '\\' || !unicode.IsPrint(r) {
		return false
	}
	if r < utf8.RuneSelf {
		return true
	}
	return !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!blank(r)
}

// blank are the printing characters by their category that leave no ink, or
// that stand for something that is not there.
func blank(r rune) bool {
	switch r {
	case 0x2800, // braille pattern without dots
		0xfffc,  // where an object was in the text
		0x16fe4, // Khitan filler
		0x1d159: // null note head
		return true
	}
	return false
}

// Unquote returns the text that q, an output of Quote, stands for.
func Unquote(q string) (string, error) {
	if len(q) < 2 || q[0] != '"' || q[len(q)-1] != '"' {
		return "", ErrForm
	}
	in := q[1 : len(q)-1]
	var b strings.Builder
	for in != "" {
		plain, rest, found := strings.Cut(in, `\`)
		b.WriteString(plain)
		if !found {
			break
		}
		var ok bool
		if in, ok = unescape(&b, rest); !ok {
			return "", ErrForm
		}
	}
	s := b.String()
	if Quote(s) != q { // another spelling: two texts on the screen for one stored
		return "", ErrForm
	}
	return s, nil
}

// unescape writes what the escape at the start of in, past its backslash,
// stands for, and returns what follows it.
func unescape(b *strings.Builder, in string) (rest string, ok bool) {
	if in == "" {
		return "", false
	}
	rest = in[1:]
	switch in[0] {
	case '"', '\\':
		b.WriteByte(in[0])
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'x':
		if len(rest) < 2 {
			return "", false
		}
		n, err := strconv.ParseUint(rest[:2], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(n))
		rest = rest[2:]
	case 'u':
		digits, after, found := strings.Cut(rest, "}")
		digits, opened := strings.CutPrefix(digits, "{")
		n, err := strconv.ParseUint(digits, 16, 21)
		if !found || !opened || err != nil {
			return "", false
		}
		b.WriteRune(rune(n))
		rest = after
	default:
		return "", false
	}
	return rest, true
}
