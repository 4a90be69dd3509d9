package driver

import "fmt"

// Level is what a person allows for a control. The text forms, used on disk
// and on the wire, are colours. The zero Level is none and grants nothing.
type Level string

const (
	LevelAllow    Level = "green"  // may be seen and operated
	LevelReadOnly Level = "blue"   // may be seen
	LevelAsk      Level = "yellow" // may be seen; each act is asked for
	LevelHide     Level = "black"  // does not exist for the agent
)

// words are what a person reads and writes for a level.
var words = map[string]Level{
	"allow": LevelAllow, "read only": LevelReadOnly, "readonly": LevelReadOnly, "read_only": LevelReadOnly,
	"ask": LevelAsk, "ask first": LevelAsk, "hide": LevelHide,
}

// strictness orders levels for acting. An unknown level is the strictest.
var strictness = map[Level]int{LevelAllow: 1, LevelAsk: 2, LevelReadOnly: 3, LevelHide: 4}

// ParseLevel reads a level as a policy file spells it. Its error names the
// colour where text is the word for one.
func ParseLevel(text string) (Level, error) {
	l := Level(text)
	if strictness[l] != 0 {
		return l, nil
	}
	if w, ok := words[text]; ok {
		return "", fmt.Errorf("level %q: write %q (%s)", text, w, w.Word())
	}
	return "", fmt.Errorf("level %.40q: use green, blue, yellow or black", text)
}

// LevelOf reads a level as a person says it: a word or a colour.
func LevelOf(text string) (Level, error) {
	if w, ok := words[text]; ok {
		return w, nil
	}
	if l := Level(text); strictness[l] != 0 {
		return l, nil
	}
	return "", fmt.Errorf("level %.40q: use allow, readonly, ask or hide", text)
}

// Word is what a person reads for l.
func (l Level) Word() string {
	switch l {
	case LevelAllow:
		return "Allow"
	case LevelReadOnly:
		return "Read only"
	case LevelAsk:
		return "Ask first"
	case LevelHide:
		return "Hide"
	}
	return "unknown"
}

// Stricter returns the more restrictive of two levels. One that is not known
// is hidden.
func Stricter(a, b Level) Level {
	sa, sb := strictness[a], strictness[b]
	switch {
	case sa == 0 || sb == 0:
		return LevelHide
	case sa >= sb:
		return a
	default:
		return b
	}
}
