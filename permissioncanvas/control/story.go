package control

import (
	"fmt"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/internal/visible"
)

// An Event is one thing that happened, in words.
type Event struct {
	Seq   uint64
	Time  time.Time
	Agent string // who did it, "" for the person
	// Kind is the record's, as in "outcome" or "answered".
	Kind string
	Text string // words of a page or an agent stand quoted
	By   string // of the person's side, where it has one
}

// storyMost is how many entries of the record a story goes back.
const storyMost = 100_000

// Story tells the record since a moment in people's words, oldest first: of one
// agent with what was answered it, or with agent "" of all. What was begun and
// what came of it is one event.
func (d *Desk) Story(since time.Time, agent string) ([]Event, error) {
	entries, err := d.Tail(storyMost)
	if err != nil {
		return nil, err
	}
	t := &teller{agents: map[string]string{}, asked: map[string]Entry{}, yes: map[string]Entry{}, begun: map[string]int{}}
	for _, e := range entries {
		if e.Agent != "" {
			t.agents[e.Session] = e.Agent
		}
		t.tell(e)
	}
	out := []Event{}
	for _, ev := range t.events {
		if !ev.Time.Before(since) && (agent == "" || ev.Agent == agent) {
			out = append(out, ev)
		}
	}
	return out, nil
}

type teller struct {
	events []Event
	agents map[string]string // by session
	asked  map[string]Entry  // by approval
	yes    map[string]Entry  // the person's yes, by what was asked
	begun  map[string]int    // index of an event whose outcome is not known, by what it is
}

// subject is equal for the entries of one act.
func subject(e Entry) string {
	f := e.Fields
	return strings.Join([]string{e.Session, f["act"], f["window"], f["snapshot"], f["role"], f["label"], f["text"], f["keys"]}, "\x00")
}

func (t *teller) tell(e Entry) {
	ev := Event{Seq: e.Seq, Time: e.Time, Agent: e.Agent, Kind: e.Kind, By: e.Fields["by"]}
	f := e.Fields
	switch e.Kind {
	case audit.Intent:
		ev.Text = "began: " + deed(f) + t.because(e) + "; what came of it is not on record"
		t.begun[subject(e)] = len(t.events)
	case audit.Outcome:
		ev.Text = deed(f) + t.because(e) + effect(f["effect"])
		delete(t.yes, subject(e))             // spent
		if i, ok := t.begun[subject(e)]; ok { // it is told by its outcome, in its place
			delete(t.begun, subject(e))
			t.events[i] = ev
			return
		}
	case audit.Asked:
		t.asked[f["approval"]] = e
		ev.Text = "asks: " + deed(f)
	case audit.Answered:
		ev.Agent, ev.Text = t.agents[e.Session], t.answer(e)
		if ev.Agent == "" {
			ev.Agent = t.agents[f["session"]]
		}
	default:
		ev.Text = personal(e)
	}
	t.events = append(t.events, ev)
}

// because says why an act was let through.
func (t *teller) because(e Entry) string {
	yes, ok := t.yes[subject(e)]
	if !ok {
		return " (allowed)"
	}
	return fmt.Sprintf(" (yes by %s, %s)", by(yes), yes.Time.Local().Format("15:04"))
}

func (t *teller) answer(e Entry) string {
	asked := t.asked[e.Fields["approval"]]
	about := ""
	if asked.Kind != "" {
		about = ": " + deed(asked.Fields)
	}
	switch e.Fields["answer"] {
	case "approve":
		t.yes[subject(asked)] = e
		return by(e) + " said yes, once" + about
	case "deny":
		delete(t.yes, subject(asked))
		return by(e) + " said no" + about
	case "void":
		delete(t.yes, subject(asked))
		return "the yes of " + by(e) + " came too late and did not count" + about
	}
	return by(e) + " answered" + about
}

func by(e Entry) string {
	if e.Fields["by"] == "" {
		return "the person"
	}
	return unquoted(e.Fields["by"])
}

// unquoted shows words without quotes where nothing in them needs any.
func unquoted(s string) string {
	q := visible.Text(s, shown)
	if q == `"`+s+`"` {
		return s
	}
	return q
}

// deeds are acts in people's words; what is not here is named by its own.
var deeds = map[string]string{
	"click": "click", "double_click": "double-click", "right_click": "right-click", "type_text": "type", "set_value": "set",
	"press_key": "press a key", "hotkey": "press keys", "scroll": "scroll", "drag": "drag", "bring_to_front": "bring to front",
	"capture": "look", "get_window_state": "look", "list_windows": "list windows", "list_apps": "list applications", "steps": "a list of steps",
}

// deed is what f says was done or wanted.
func deed(f map[string]string) string {
	words := deeds[f["act"]]
	if words == "" {
		words = "use " + visible.Text(f["act"], shown)
	}
	n, _, _ := strings.Cut(f["text"], ":")
	switch target := named(f); {
	case f["act"] == "type_text" && n != "":
		words = "type " + characters(n) + in(target)
	case f["act"] == "set_value" && n != "":
		words = "set " + target + " to " + characters(n)
	case f["keys"] != "" && f["keys"] != "1":
		words = "press " + unquoted(f["keys"]) + " keys" + in(target)
	case target != "":
		words += " " + target
	}
	if f["steps"] != "" {
		words += " (" + unquoted(f["steps"]) + ")"
	}
	if f["app"] != "" {
		words += " in " + unquoted(f["app"])
	}
	return words
}

func characters(n string) string {
	if n == "1" {
		return "1 character"
	}
	return unquoted(n) + " characters"
}

func in(target string) string {
	if target == "" {
		return ""
	}
	return " into " + target
}

// named names the control that f is about.
func named(f map[string]string) string {
	if f["role"] == "" && f["label"] == "" {
		return ""
	}
	return strings.TrimSpace(unquoted(f["role"]) + " " + visible.Text(f["label"], shown))
}

// effect says what came of an act, "" where it was done.
func effect(word string) string {
	switch word {
	case "confirmed", "unverifiable":
		return ""
	case "none":
		return ": nothing happened"
	case "refused":
		return ": the application refused"
	case "partial":
		return ": only in part"
	case "suspected_noop":
		return ": perhaps without effect"
	}
	return ": it may have happened"
}

// personal tells what is neither an act nor an answer.
func personal(e Entry) string {
	f := e.Fields
	switch e.Kind {
	case audit.Capture:
		text := "looked at " + unquoted(f["app"]) + ", " + unquoted(f["elements"]) + " things"
		switch f["covered"] {
		case "", "0":
		case "1":
			text += ", 1 hidden place"
		default:
			text += ", " + unquoted(f["covered"]) + " hidden places"
		}
		return text
	case audit.Refused:
		what := deed(f)
		switch f["code"] {
		case "hidden":
			what = "a hidden place"
		case "approval_required":
			return "nobody has answered yet: " + what
		}
		return "refused: " + what + " (" + strings.ReplaceAll(unquoted(f["code"]), "_", " ") + ")"
	case audit.Paused:
		text := by(e) + " paused agents"
		if f["reason"] != "" {
			text += ": " + visible.Text(f["reason"], shown)
		}
		return text
	case audit.Resumed:
		return by(e) + " let agents work"
	case audit.Selected:
		return by(e) + " chose a window of " + unquoted(f["app"])
	case audit.Policy:
		return by(e) + " " + edited(f)
	}
	return unquoted(strings.ReplaceAll(e.Kind, "_", " "))
}

// edited tells an edit of the rules.
func edited(f map[string]string) string {
	level, _ := LevelOf(f["level"]) // "" where the edit has none
	which := unquoted(f["rule"] + f["rules"])
	switch f["edit"] {
	case "add", "number":
		text := fmt.Sprintf("made rule %s (%s)", which, level.Word())
		if f["removed"] != "" {
			text += " in the place of " + unquoted(f["removed"])
		}
		return text
	case "set":
		return fmt.Sprintf("changed rule %s to %s", which, level.Word())
	case "remove":
		return "removed rule " + which
	case "wake":
		return "woke rule " + which
	case "default":
		return "set what has no rule to " + level.Word()
	case "accept_unmatched":
		return "accepted that rule " + which + " finds nothing"
	}
	return "edited the rules"
}
