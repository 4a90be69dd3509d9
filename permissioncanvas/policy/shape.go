package policy

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	longestPrefix = 12 // characters of a shape that are the text's own
	leastRandom   = 6  // characters that must be left to the shape
	bareRandom    = 16 // the same without a prefix: words are shorter
)

// Shape returns a pattern for texts that look like text, without what makes it
// this one: sk-test-[0-9a-z-]{7,} for a key, four groups of digits for a card. It
// returns "" where no shape would tell text from ordinary words.
func Shape(text string) string {
	text = visible(text)
	if mail.MatchString(text) {
		return `[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)+`
	}
	if shape := digitShape(text); shape != "" {
		return shape
	}
	word := randomWord(text)
	prefix := keyPrefix(word)
	random := len(word) - len(prefix)
	least := max(leastRandom, random*3/4)
	if prefix == "" {
		least = max(bareRandom, least)
	}
	if random < least {
		return ""
	}
	return regexp.QuoteMeta(prefix) + fmt.Sprintf("%s{%d,}", class(word), least)
}

var mail = regexp.MustCompile(`^[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)+$`)

var number = regexp.MustCompile(`[0-9]+(?:[ .\-/][0-9]+)*`)

// digitShape keeps the groups of the longest number of six digits and more.
func digitShape(text string) string {
	best := ""
	for _, at := range number.FindAllStringIndex(text, -1) {
		n := text[at[0]:at[1]]
		alone := (at[0] == 0 || !isKeyRune(rune(text[at[0]-1]))) && (at[1] == len(text) || !isKeyRune(rune(text[at[1]])))
		if alone && len(n) > len(best) && digits(n) >= leastRandom {
			best = n
		}
	}
	if best == "" {
		return ""
	}
	return `\b` + digitRun.ReplaceAllStringFunc(regexp.QuoteMeta(best), func(run string) string {
		return fmt.Sprintf("[0-9]{%d}", len(run))
	}) + `\b`
}

var digitRun = regexp.MustCompile(`[0-9]+`)

func digits(s string) int {
	n := 0
	for _, r := range s {
		if isDigit(r) {
			n++
		}
	}
	return n
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func isKeyRune(r rune) bool {
	return isLetter(r) || isDigit(r) || r == '-' || r == '_' || r == '+' || r == '/' || r == '='
}

// looksRandom reports whether word is no word of a language: digits among
// letters, many digits, or capitals inside.
func looksRandom(word string) bool {
	changes, inner, letters := 0, 0, 0
	for i, r := range word {
		if isLetter(r) {
			letters++
		}
		if i == 0 {
			continue
		}
		before := rune(word[i-1])
		if isLetter(r) != isLetter(before) && (isDigit(r) || isDigit(before)) {
			changes++
		}
		if r >= 'A' && r <= 'Z' && before >= 'a' && before <= 'z' {
			inner++
		}
	}
	random := len(word) - len(keyPrefix(word))
	return random >= leastRandom && letters > 0 &&
		(changes >= 3 || digits(word) >= 5 || inner >= 2 && len(word) >= bareRandom)
}

// looksSecret reports whether text holds a word or a number that could be a
// secret, though it may have no shape that would tell it from others.
func looksSecret(text string) bool {
	return Shape(text) != "" || randomWord(visible(text)) != ""
}

// randomWord returns the longest word of text that looks random.
func randomWord(text string) string {
	best := ""
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isKeyRune(r) }) {
		if len(word) > len(best) && looksRandom(word) {
			best = word
		}
	}
	return best
}

// keyPrefix is what issuers put before a key: short words with a dash or an
// underline, as in sk-test- and ghp_.
func keyPrefix(word string) string {
	end, start := 0, 0
	for i, r := range word {
		if r == '-' || r == '_' {
			if i == start || i-start > 6 || i+1 > longestPrefix {
				break
			}
			end, start = i+1, i+1
			continue
		}
		if !isLetter(r) {
			break
		}
	}
	if len(word)-end < leastRandom {
		return ""
	}
	return word[:end]
}

// class is the set of characters in s, as a pattern.
func class(s string) string {
	has := func(in func(rune) bool) bool { return strings.IndexFunc(s, in) >= 0 }
	var b strings.Builder
	b.WriteByte('[')
	for _, c := range []struct {
		set string
		in  func(rune) bool
	}{
		{"0-9", isDigit},
		{"A-Z", func(r rune) bool { return r >= 'A' && r <= 'Z' }},
		{"a-z", func(r rune) bool { return r >= 'a' && r <= 'z' }},
		{"+", func(r rune) bool { return r == '+' }},
		{"/", func(r rune) bool { return r == '/' }},
		{"=", func(r rune) bool { return r == '=' }},
		{"_", func(r rune) bool { return r == '_' }},
		{"-", func(r rune) bool { return r == '-' }},
	} {
		if has(c.in) {
			b.WriteString(c.set)
		}
	}
	b.WriteByte(']')
	return b.String()
}
