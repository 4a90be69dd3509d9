package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A desk is a profile on a desktop: where its data lies, and how a child
// reaches the desktop.
type desk struct {
	t      *testing.T
	dir    string
	driver string   // as --driver takes it
	env    []string // of every child
}

// simulated returns a fresh profile on the simulated desktop, where no display
// is to be found.
func simulated(t *testing.T) *desk {
	return &desk{t: t, dir: filepath.Join(t.TempDir(), "data"), driver: "sim", env: cleanEnv()}
}

// command returns pc with args, for this profile.
func (d *desk) command(args ...string) *exec.Cmd {
	cmd := exec.Command(pcProgram, append([]string{"--driver", d.driver, "--data-dir", d.dir, "--json"}, args...)...)
	cmd.Env = d.env
	return cmd
}

// pc runs pc with args and returns the document it printed and its exit code.
func (d *desk) pc(args ...string) (json.RawMessage, int) {
	d.t.Helper()
	var out, notes bytes.Buffer
	cmd := d.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &notes
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(d.t, err)
	}
	code := cmd.ProcessState.ExitCode()
	if out.Len() == 0 {
		require.NotZero(d.t, code, "pc %q says nothing\n%s", args, notes.String())
		return nil, code
	}
	dec := json.NewDecoder(&out)
	var doc json.RawMessage
	require.NoError(d.t, dec.Decode(&doc), "pc %q\n%s", args, notes.String())
	_, err = dec.Token()
	require.ErrorIs(d.t, err, io.EOF, "pc %q prints more than one document", args)
	if code != 0 {
		d.t.Logf("pc %q: exit %d, %s%s", args, code, doc, notes.String())
	}
	return doc, code
}

// do runs pc, which must succeed, and reads what it printed as a T.
func do[T any](d *desk, args ...string) T {
	d.t.Helper()
	doc, code := d.pc(args...)
	require.Zero(d.t, code, "pc %q: %s", args, doc)
	var v T
	require.NoError(d.t, json.Unmarshal(doc, &v), "pc %q: %s", args, doc)
	return v
}

// A window is a window as pc lists it.
type window struct {
	Number   int    `json:"number"`
	PID      int    `json:"pid"`
	ID       uint64 `json:"window_id"`
	App      string `json:"app"`
	Title    string `json:"title"`
	Selected bool   `json:"selected"`
	Never    string `json:"never"`
}

// ref is the window as pc takes it.
func (w window) ref() string { return strconv.Itoa(w.PID) + ":" + strconv.FormatUint(w.ID, 10) }

// args are a call's arguments that name the window, and more.
func (w window) args(more ...any) map[string]any {
	m := map[string]any{"pid": w.PID, "window_id": w.ID}
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

// windows lists what is on the desktop.
func (d *desk) windows() []window {
	d.t.Helper()
	return do[struct{ Windows []window }](d, "windows").Windows
}

// choose selects the one window that fits.
func (d *desk) choose(fits func(window) bool, flags ...string) window {
	d.t.Helper()
	var found []window
	all := d.windows()
	for _, w := range all {
		if fits(w) {
			found = append(found, w)
		}
	}
	require.Len(d.t, found, 1, "%v", all)
	got := do[struct {
		Selected window
		Notes    []string
	}](d, append([]string{"select", found[0].ref()}, flags...)...)
	require.Equal(d.t, found[0].ref(), got.Selected.ref())
	require.True(d.t, got.Selected.Selected)
	require.NotEmpty(d.t, got.Notes, "that agents are paused now is said")
	return found[0]
}

// titled fits a window of that title.
func titled(title string) func(window) bool { return func(w window) bool { return w.Title == title } }

// A rule is a rule as pc prints it.
type rule struct {
	ID    string          `json:"id"`
	Level string          `json:"level"`
	Match json.RawMessage `json:"match"`
}

// rule gives a control of the window a level and returns the rule's id.
func (d *desk) rule(w window, level, role, label string, flags ...string) string {
	d.t.Helper()
	r := do[rule](d, append([]string{"rule", "add", level, "--window", w.ref(), "--role", role, "--label", label}, flags...)...)
	require.NotEmpty(d.t, r.ID)
	return r.ID
}

// A forecast is what pc says at a resume.
type forecast struct {
	Resumed bool
	Windows []struct {
		Allow, Ask int
		ReadOnly   int `json:"read_only"`
		Hidden     int
		Missing    []string
		Problem    string
	}
	Remains []string
}

// resume lets agents work.
func (d *desk) resume() forecast {
	d.t.Helper()
	f := do[forecast](d, "resume", "--yes")
	require.True(d.t, f.Resumed)
	return f
}

// A card is an ask as pc prints it.
type card struct {
	ID          string `json:"id"`
	Verb        string `json:"verb"`
	Agent       string `json:"agent"`
	Target      string `json:"target"`
	Window      string `json:"window"`
	Place       string `json:"place"`
	Arguments   string `json:"arguments"`
	Delivery    string `json:"delivery"`
	SecondsLeft int    `json:"seconds_left"`
}

// pending lists what waits for an answer.
func (d *desk) pending() []card {
	d.t.Helper()
	return do[struct{ Pending []card }](d, "pending").Pending
}

// asked waits for the only ask, one that is none of those seen before.
func (d *desk) asked(before ...string) card {
	d.t.Helper()
	var cards []card
	require.Eventually(d.t, func() bool {
		cards = nil
		for _, c := range d.pending() {
			if !contains(before, c.ID) {
				cards = append(cards, c)
			}
		}
		return len(cards) > 0
	}, patience, 50*time.Millisecond, "an ask comes before the person")
	require.Len(d.t, cards, 1)
	return cards[0]
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}

// approve says yes, once.
func (d *desk) approve(id string) {
	d.t.Helper()
	got := do[struct{ Approved struct{ ID string } }](d, "approve", id)
	require.Equal(d.t, id, got.Approved.ID)
}

// deny says no.
func (d *desk) deny(id, words string) {
	d.t.Helper()
	got := do[struct{ Denied struct{ ID string } }](d, "deny", id, "--reply", words)
	require.Equal(d.t, id, got.Denied.ID)
}

// An entry is one of the record.
type entry struct {
	Seq     uint64            `json:"seq"`
	Session string            `json:"session"`
	Agent   string            `json:"agent"`
	Kind    string            `json:"kind"`
	Fields  map[string]string `json:"fields"`
}

// entries returns the record's entries of one kind, in order.
func (d *desk) entries(kind string) []entry {
	d.t.Helper()
	var found []entry
	for _, e := range do[struct{ Entries []entry }](d, "audit", "tail", "5000").Entries {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// acts counts the acts that were dispatched, by the record.
func (d *desk) acts() int {
	d.t.Helper()
	return len(d.entries("intent"))
}

// verified requires a whole record.
func (d *desk) verified() {
	d.t.Helper()
	r := do[struct {
		OK      bool
		Entries int
		Torn    int
	}](d, "audit", "verify")
	require.True(d.t, r.OK)
	require.NotZero(d.t, r.Entries)
}
