package redact

import (
	"slices"
	"sort"
	"strings"
	"unicode"
)

// secrets are texts that no kept string may contain.
//
// A text counts from four letters or digits on (an ideograph counts for two):
// shorter ones are in every other word. One short Latin word counts only where
// it stands as a word, so that hiding "Pass" leaves "Password" alone.
type secrets struct {
	words map[string]bool
	parts []string // sorted; none begins with another
	heads map[[4]byte]bool
}

const (
	leastLetters = 4
	longWord     = 8
)

func newSecrets() *secrets {
	return &secrets{words: map[string]bool{}, heads: map[[4]byte]bool{}}
}

// add takes a text as the driver gave it.
func (x *secrets) add(text string) {
	text = fold(text)
	if !tells(text) {
		return
	}
	if latinWord(text) && len([]rune(text)) < longWord {
		x.words[text] = true
		return
	}
	x.parts = append(x.parts, text)
}

// seal makes x ready for in.
func (x *secrets) seal() {
	slices.Sort(x.parts)
	kept := x.parts[:0]
	for _, p := range x.parts {
		// What begins with a shorter secret contains it; so in sorted order
		// only the last one kept needs a look.
		if len(kept) > 0 && strings.HasPrefix(p, kept[len(kept)-1]) {
			continue
		}
		kept = append(kept, p)
		x.heads[[4]byte([]byte(p[:4]))] = true // four letters are four bytes at least
	}
	x.parts = kept
}

// in reports whether a text, folded, contains a secret.
func (x *secrets) in(text string) bool {
	if len(text) < leastLetters {
		return false
	}
	if len(x.words) > 0 && x.word(text) {
		return true
	}
	if len(x.parts) == 0 {
		return false
	}
	for i := 0; i+4 <= len(text); i++ {
		if !x.heads[[4]byte{text[i], text[i+1], text[i+2], text[i+3]}] {
			continue
		}
		// No secret begins another, so only the greatest one that is not
		// greater than the rest can be its beginning.
		rest := text[i:]
		n := sort.Search(len(x.parts), func(n int) bool { return x.parts[n] > rest })
		if n > 0 && strings.HasPrefix(rest, x.parts[n-1]) {
			return true
		}
	}
	return false
}

func (x *secrets) word(text string) bool {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if x.words[w] {
			return true
		}
	}
	return false
}

func latinWord(s string) bool {
	for _, r := range s {
		if !unicode.Is(unicode.Latin, r) {
			return false
		}
	}
	return true
}

// tells reports whether a text has letters enough to be looked for everywhere.
func tells(s string) bool {
	n := 0
	for _, r := range s {
		switch {
		case r < 0x80:
			if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' {
				n++
			}
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			n++
		}
		if n >= leastLetters {
			return true
		}
	}
	return false
}
