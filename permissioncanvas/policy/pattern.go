package policy

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// longestPattern bounds a pattern's source; RE2 bounds its run time.
const longestPattern = 4096

// pattern is a regular expression of a rule.
type pattern struct {
	number int
	re     *regexp.Regexp // as written, over what is there
	anyway *regexp.Regexp // in any case
	folded *regexp.Regexp // in any case and its own letters folded, over the folded text
	need   []string       // lower case; every match of re holds one of them; nil: not known
	needs  []string       // the same for folded
	one    bool           // both are the same
}

func newPattern(source string, number int) (*pattern, error) {
	if len(source) > longestPattern {
		return nil, errors.New("longer than 4096 bytes")
	}
	anyway := "(?i:" + source + ")"
	var tree *syntax.Regexp
	for _, s := range []string{source, anyway} {
		var err error
		if tree, err = syntax.Parse(s, syntax.Perl); err != nil {
			return nil, err
		}
	}
	foldTree(tree)
	folded := tree.String()
	var made [3]*regexp.Regexp
	for i, s := range []string{folded, source, anyway} {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, err // folding can make a pattern too large
		}
		made[i] = re
	}
	p := &pattern{
		number: number, folded: made[0], re: made[1], anyway: made[2],
		need: required(source, "ks"), needs: required(folded, ""),
	}
	p.one = slices.Equal(p.need, p.needs)
	return p, nil
}

// foldTree folds the letters that a pattern names, for texts that are folded.
func foldTree(re *syntax.Regexp) {
	for _, sub := range re.Sub {
		foldTree(sub)
	}
	if re.Op != syntax.OpLiteral {
		return
	}
	var b strings.Builder
	for _, r := range norm.NFKC.String(cases.Fold().String(norm.NFKC.String(string(re.Rune)))) {
		if isGap(r) || !isInvisible(r) {
			b.WriteRune(r)
		}
	}
	if re.Rune = []rune(b.String()); len(re.Rune) == 0 {
		re.Op = syntax.OpEmptyMatch
	}
}

// loose reports whether t may be what the pattern describes, in any form of it.
func (p *pattern) loose(t *text) bool {
	if p.one && t.plain && !holdsOne(t.folded, p.needs) {
		return false
	}
	if holdsOne(t.lower, p.need) && p.re.MatchString(t.raw) {
		return true
	}
	if t.visible != t.raw && p.re.MatchString(t.visible) {
		return true
	}
	if !holdsOne(t.folded, p.needs) {
		return false
	}
	return p.folded.MatchString(t.folded) ||
		!isASCII(t.visible) && p.anyway.MatchString(t.visible) ||
		t.visible != t.raw && p.anyway.MatchString(t.raw)
}

// exact reports whether t's own code points match.
func (p *pattern) exact(t *text) bool { return holdsOne(t.lower, p.need) && p.re.MatchString(t.raw) }

func holdsOne(s string, need []string) bool {
	for _, n := range need {
		if strings.Contains(s, n) {
			return true
		}
	}
	return need == nil
}

// required returns literals of printable ASCII, in lower case, one of which is
// in every match of source, ASCII letters lowered. In a literal that matches
// any case the letters of except are left out: k and s have partners beyond
// ASCII (U+212A, U+017F).
func required(source, except string) []string {
	tree, _ := syntax.Parse(source, syntax.Perl) // it compiled
	return literals(tree.Simplify(), except)
}

// most is how many alternatives are worth looking for.
const most = 8

func literals(re *syntax.Regexp, except string) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if l := literal(re, except); l != "" {
			return []string{l}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0], except)
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if l := literals(sub, except); l != nil && (best == nil || shortest(l) > shortest(best)) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			l := literals(sub, except)
			if l == nil || len(all)+len(l) > most {
				return nil
			}
			all = append(all, l...)
		}
		return all
	}
	return nil
}

// literal returns the longest run of re's characters that can be looked for.
func literal(re *syntax.Regexp, except string) string {
	var best, run strings.Builder
	end := func() {
		if run.Len() > best.Len() {
			best.Reset()
			best.WriteString(run.String())
		}
		run.Reset()
	}
	for _, r := range re.Rune {
		l := lower(string(r))
		if r <= ' ' || r > '~' || re.Flags&syntax.FoldCase != 0 && strings.Contains(except, l) {
			end()
			continue
		}
		run.WriteString(l)
	}
	end()
	return best.String()
}

func shortest(l []string) int {
	n := len(l[0])
	for _, s := range l {
		n = min(n, len(s))
	}
	return n
}
