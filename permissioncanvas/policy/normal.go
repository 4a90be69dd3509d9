package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Normal returns text as restrictive rules compare it: compatibility forms and
// case folded, white space and embedded objects (U+FFFC) collapsed to single
// spaces, invisible characters dropped. Normal of a result is that result.
func Normal(text string) string { return fold(visible(text)) }

// settling bounds how often a text is made normal again.
const settling = 8

// visible does the same but keeps case, so that patterns can tell it.
func visible(text string) string {
	if isPlain(text) {
		return text
	}
	// Once is enough for nearly all; dropping and composing can make room for
	// each other.
	for range settling {
		next := collapse(norm.NFKC.String(collapse(text)))
		if next == text {
			break
		}
		text = next
	}
	return text
}

// fold makes what visible left the same in any case.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	for range settling {
		next := visible(cases.Fold().String(text)) // a Caser must not be shared
		if next == text {
			break
		}
		text = next
	}
	return text
}

// isPlain reports whether text is ASCII that visible would leave as it is.
func isPlain(text string) bool {
	space := true
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return text == "" || !space
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// collapse drops what cannot be seen and makes every gap one space.
func collapse(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	gap := false
	for _, r := range text {
		switch {
		case isGap(r):
			gap = b.Len() > 0
			continue
		case isInvisible(r):
			continue
		case gap:
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isGap reports whether r shows as empty space. U+2800 is a braille pattern
// without dots; U+FFFC stands for an object inside the text.
func isGap(r rune) bool { return unicode.IsSpace(r) || r == '\uFFFC' || r == '\u2800' }

// isInvisible reports whether r shows as nothing at all.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		r >= 0xE0000 && r <= 0xE0FFF
}

// text is one string of a snapshot in the forms that rules compare.
type text struct {
	raw     string
	visible string
	folded  string
	lower   string // raw with ASCII letters lowered, for prefilters
	plain   bool   // nothing but case tells raw from folded
	number  int    // in the order of first use
}

func newText(raw string, number int) *text {
	t := &text{raw: raw, visible: raw, number: number}
	if isPlain(raw) {
		t.lower = strings.ToLower(raw)
		t.folded, t.plain = t.lower, true
		return t
	}
	t.visible = visible(raw)
	t.folded = fold(t.visible)
	t.lower = lower(raw)
	return t
}

// lower lowers ASCII letters and leaves every other byte alone.
func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
