package control

import (
	"fmt"
	"strings"

	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// Mark stands before a level's word, for those who do not see its colour.
func Mark(l Level) string {
	switch l {
	case LevelAllow:
		return "✓"
	case LevelReadOnly:
		return "○"
	case LevelAsk:
		return "?"
	case LevelHide:
		return "■"
	}
	return " "
}

// A Description is a rule in words. The page's own stand quoted.
type Description struct {
	What  string // the control, as in `button "Save"`
	Where string // a sentence: where the rule holds, and for how long
}

// Describe puts r in words.
func Describe(r Rule) Description {
	return Description{What: what(r.Match), Where: where(r)}
}

// what names the elements that m describes.
func what(m policy.Match) string {
	name := "anything"
	if m.Role != "" {
		name = strings.Trim(visible.Text(m.Role, shown), `"`)
	}
	if m.Label != "" {
		if m.Role == "" {
			name = "whatever is called"
		}
		name += " " + visible.Text(m.Label, shown)
	}
	for _, p := range []struct{ text, words string }{
		{m.LabelRegex, "called something like"}, {m.TextRegex, "with a text like"}, {m.ValueRegex, "with a value like"},
		{m.TextDigest, "with the text of fingerprint"},
	} {
		if p.text != "" {
			name += " " + p.words + " " + visible.Text(p.text, shown)
		}
	}
	if m.InWebContent != nil {
		name += map[bool]string{true: " of a page", false: " outside of pages"}[*m.InWebContent]
	}
	if m.Within != nil {
		name += " in " + what(*m.Within)
	}
	return name
}

// where says in a sentence where r holds.
func where(r Rule) string {
	m := r.Match
	place := ""
	if m.Site != "" {
		place += " on " + strings.Trim(visible.Text(m.Site, shown), `"`)
	}
	if m.WindowTitle != "" {
		place += " while it is called " + visible.Text(m.WindowTitle, shown)
	}
	if m.WindowTitleRegex != "" {
		place += " while it is called something like " + visible.Text(m.WindowTitleRegex, shown)
	}
	app := "every"
	if m.App != "" {
		app = strings.Trim(visible.Text(m.App, shown), `"`)
	}
	switch {
	case r.Level == LevelAllow && bound(r):
		return fmt.Sprintf("Only in this live window (%s, %d:%d)%s; over when that closes.", app, m.PID, m.WindowID, place)
	case r.Level == LevelAllow:
		return "Nowhere: allowing needs app, place and live window."
	case r.Pinned():
		return fmt.Sprintf("In the window pinned by its process or number (%d:%d)%s; it does not outlive it.", m.PID, m.WindowID, place)
	case m.App == "" && place == "":
		return "In every window, today and later."
	case m.App == "":
		return "In every window" + place + ", today and later."
	}
	return "In every " + app + " window" + place + ", today and later."
}

// Expects says in a sentence what it means when r finds nothing, "" where that
// means nothing.
func Expects(r Rule) string {
	if r.Level != LevelHide {
		return ""
	}
	if r.Expects() == policy.ExpectHere {
		return "If it is not there, nothing of the window is shown until you accept that."
	}
	return "It may be nowhere on a page."
}
