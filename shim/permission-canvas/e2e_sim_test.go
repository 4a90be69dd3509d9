package main_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// Windows of the simulated desktop, and what stands in them.
const (
	consoleTitle = "Admin Console"
	loginTitle   = "Staff Login"
	browserTitle = "Orders - Acme"

	shownKey  = "sk-test-9f2a77c1b0" // on the console, as a static text
	hiddenKey = "sk-live-5b0e44d7a9" // in it, not shown
	reveal    = "Reveal key"         // a button beside it
	password  = "correct-horse-7"    // in the login's password field
)

// console has the person choose the console and say: the button beside the key
// and whatever looks like the key are hidden, Delete is read only, Name is
// allowed, Save asks; then she resumes.
func (d *desk) console() window {
	d.t.Helper()
	w := d.choose(titled(consoleTitle))
	d.rule(w, "hide", "button", reveal)
	d.rule(w, "hide", "text", shownKey, "--as", "shape")
	d.rule(w, "readonly", "button", "Delete")
	d.rule(w, "allow", "textbox", "Name")
	d.rule(w, "allow", "textbox", "Notes")
	d.rule(w, "ask", "button", "Save")
	f := d.resume()
	require.Len(d.t, f.Windows, 1)
	require.Equal(d.t, 2, f.Windows[0].Hidden)
	require.Equal(d.t, 2, f.Windows[0].Allow)
	require.Equal(d.t, 1, f.Windows[0].ReadOnly)
	require.Empty(d.t, f.Windows[0].Problem)
	require.Empty(d.t, f.Windows[0].Missing)
	return w
}

// TestPC01FirstUse: an agent that comes first finds everything paused, and its
// first look makes the profile.
func TestPC01FirstUse(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	h := d.host("e2e")
	for _, tool := range []string{"list_windows", "list_apps"} {
		r := h.call(tool, nil).refused("paused")
		require.Contains(t, r.text, "pc setup")
		require.Equal(t, "ask_person", r.field("next"))
	}
	ws := d.windows()
	require.Len(t, ws, 3)
	require.Equal(t, consoleTitle, ws[0].Title, "front first")
	for _, w := range ws {
		require.False(t, w.Selected)
		h.call("get_window_state", w.args()).refused("paused")
	}
	rules := do[struct {
		DefaultLevel string `json:"default_level"`
		Windows      []any
		Rules        []any
	}](d, "rules")
	require.Equal(t, "yellow", rules.DefaultLevel)
	require.Empty(t, rules.Windows)
	require.Empty(t, rules.Rules)
	// Resumed without a window, there is still nothing to see.
	d.resume()
	require.Empty(t, h.call("list_windows", nil).fields["windows"])
	h.call("get_window_state", ws[0].args()).refused("no_window_selected")
	h.ends(2 * time.Second)
	d.verified()
}

// TestPC02MainJob is what it is all for, on the simulated desktop, with the
// official client's own way to start a server.
func TestPC02MainJob(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.console()
	cmd := exec.Command(canvasProgram, "mcp", "--driver", "sim", "--data-dir", d.dir)
	cmd.Env = d.env
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	act := func(tool string, args map[string]any) *reply {
		r, err := call(context.Background(), t, session, tool, args)
		require.NoError(t, err)
		return r
	}
	listed, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	require.Subset(t, names, []string{"list_windows", "get_window_state", "click", "type_text", "set_value"})
	require.NotContains(t, names, "run_script")

	list := act("list_windows", nil)
	require.Len(t, list.fields["windows"], 1)
	require.EqualValues(t, 2, list.fields["other_windows"])
	require.NotContains(t, list.text, loginTitle)
	see := func() *shot { return &shot{reply: act("get_window_state", w.args())} }
	s := see()
	require.Equal(t, "ask", levelWord(s.element("button", "Save").Level))
	require.Equal(t, "readonly", levelWord(s.element("button", "Delete").Level))

	act("click", map[string]any{"element_token": s.token("button", "Delete")}).refused("read_only")
	act("set_value", map[string]any{"element_token": s.token("textbox", "Name"), "value": "Ada"}).done()
	s = see()
	require.Equal(t, "Ada", s.element("textbox", "Name").Value)
	click := map[string]any{"element_token": s.token("button", "Save"), asks: "1"}
	answer := make(chan *reply, 1)
	go func() {
		r, err := call(context.Background(), t, session, "click", click)
		if err != nil {
			r = &reply{t: t, failed: true, text: err.Error()}
		}
		answer <- r
	}()
	ask := d.asked()
	require.Equal(t, "CLICK", ask.Verb)
	require.Equal(t, "button Save", ask.Target)
	require.Equal(t, consoleTitle, ask.Place)
	require.Equal(t, "background", ask.Delivery)
	require.Equal(t, "e2e", ask.Agent)
	require.Positive(t, ask.SecondsLeft)
	before := d.acts()
	d.approve(ask.ID)
	(<-answer).done()
	require.Equal(t, before+1, d.acts())
	require.Equal(t, "Saved: Ada", see().element("status", "Status").Value)
	require.Empty(t, d.pending())

	require.NoError(t, session.Close())
	require.Zero(t, cmd.ProcessState.ExitCode())
	d.verified()
}

// levelWord reads a level's word or colour as pc's word.
func levelWord(s string) string {
	switch strings.ReplaceAll(s, " ", "") {
	case "green", "allow":
		return "allow"
	case "blue", "readonly", "read_only":
		return "readonly"
	case "yellow", "ask", "askfirst":
		return "ask"
	}
	return s
}

// TestPC03Hidden: what is hidden is in no byte that the agent gets, and one
// flat colour in its picture (PC04).
func TestPC03Hidden(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.choose(titled(consoleTitle))
	d.resume()
	h := d.host("e2e")
	open := h.capture(w)
	require.Contains(t, string(open.raw), shownKey)
	require.Contains(t, string(open.raw), reveal)
	plain := open.picture()
	keyPlace, revealPlace := open.element("text", shownKey).place(), open.element("button", reveal).place()
	savePlace := open.element("button", "Save").place()
	require.Greater(t, colours(plain, keyPlace), 1)
	require.Greater(t, colours(plain, revealPlace), 1)

	d.console()
	s := h.capture(w)
	s.hides(shownKey, hiddenKey, reveal, "9f2a77c1b0")
	masked := s.picture()
	require.Equal(t, plain.Bounds(), masked.Bounds())
	flat(t, masked, keyPlace.Inset(-4))
	flat(t, masked, revealPlace.Inset(-4))
	require.Greater(t, colours(masked, savePlace), 1, "the rest is as it was")
	require.EqualValues(t, 2, s.fields["covered"])
	for _, e := range s.elements() {
		require.NotContains(t, []string{reveal, shownKey}, e.Label)
	}
	// PC44: rows are counted over what is visible.
	for i, e := range s.elements() {
		require.Equal(t, i, e.Index)
	}
	require.EqualValues(t, len(s.elements()), s.fields["element_count"])
	require.Subset(t, []string{
		"pid", "window_id", "app_name", "window_title", "window_bounds", "snapshot_id", "covered", "expires_at",
		"screenshot_width", "screenshot_height", "screenshot_mime_type", "tree_markdown", "elements",
		"element_count", "returned_element_count",
	}, keys(s.fields))
	// Nor in what a query finds, nor in what a person may hand on.
	require.Empty(t, h.capture(w, "query", "sk-test").elements())
	h.capture(w, "query", reveal).hidesNothingElse(reveal)
	rules, _ := d.pc("rules")
	require.NotContains(t, string(rules), shownKey, "a rule never holds the secret (BX05)")
	record, _ := d.pc("audit", "tail", "500")
	require.NotContains(t, string(record), shownKey)
	require.NotContains(t, string(record), reveal)
	h.ends(2 * time.Second)
}

// hidesNothingElse requires that the text stands in no byte but of the query,
// which the reply does not repeat.
func (s *shot) hidesNothingElse(text string) {
	s.t.Helper()
	require.NotContains(s.t, string(s.raw), text)
	require.Empty(s.t, s.elements())
}

func keys(m map[string]any) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}

// TestPC29Password: a password's value is nowhere, with no rule set.
func TestPC29Password(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.choose(titled(loginTitle))
	d.resume()
	h := d.host("e2e")
	s := h.capture(w)
	require.NotContains(t, string(s.raw), password)
	require.Empty(t, s.element("password", "Password").Value)
	flat(t, s.picture(), s.element("password", "Password").place())
	h.ends(2 * time.Second)
}

// TestPC19OneGrant: one yes is one act.
func TestPC19OneGrant(t *testing.T) {
	t.Parallel()
	t.Run("the waiting call acts, the identical next one asks anew", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e")
		click := map[string]any{"element_token": h.capture(w).token("button", "Save"), asks: "1"}
		call := h.start("click", click)
		first := d.asked()
		d.approve(first.ID)
		call.wait().done()
		require.Equal(t, 1, d.acts())
		_, code := d.pc("approve", first.ID)
		require.Equal(t, 1, code, "what is spent cannot be approved again")

		call = h.start("click", click)
		second := d.asked(first.ID)
		require.NotEqual(t, first.ID, second.ID)
		d.deny(second.ID, "once is enough")
		r := call.wait().refused("approval_denied")
		require.Equal(t, "once is enough", r.field("person_reply"))
		require.Equal(t, "stop", r.field("next"))
		h.call("click", click).refused("approval_denied") // blocked, unasked
		require.Empty(t, d.pending())
		require.Equal(t, 1, d.acts())
		d.verified()
	})
	t.Run("after approval_required the identical call acts once", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e") // not known, and shows no progress: it waits 4 s
		click := map[string]any{"element_token": h.capture(w).token("button", "Save")}
		r := h.call("click", click).refused("approval_required")
		require.Equal(t, "retry_same", r.field("next"))
		expires, err := time.Parse(time.RFC3339, r.field("expires_at"))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(110*time.Second), expires, 20*time.Second)
		ask := d.asked()
		require.Equal(t, ask.ID, r.field("approval_id"))
		require.Contains(t, r.field("person_command"), "approve "+ask.ID)
		d.approve(ask.ID)
		// The same in other words is the same call (D30); another is not.
		other := map[string]any{"element_token": click["element_token"], "count": 2}
		h.call("click", other).refused("approval_required")
		require.Zero(t, d.acts())
		h.call("click", map[string]any{"count": 1.0, "button": "left", "element_token": click["element_token"]}).done()
		require.Equal(t, 1, d.acts())
		h.call("click", click).notDone()
		require.Equal(t, 1, d.acts())
		d.verified()
	})
	t.Run("a policy edit clears it", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e")
		click := map[string]any{"element_token": h.capture(w).token("button", "Save"), asks: "1"}
		call := h.start("click", click)
		ask := d.asked()
		d.rule(w, "readonly", "textbox", "Notes")
		require.Empty(t, d.pending())
		call.wait().notDone()
		_, code := d.pc("approve", ask.ID)
		require.Equal(t, 1, code)
		h.call("click", click).refused("stale_snapshot")
		require.Zero(t, d.acts())
		d.verified()
	})
	t.Run("a new capture withdraws it", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e")
		click := map[string]any{"element_token": h.capture(w).token("button", "Save")}
		h.call("click", click).refused("approval_required")
		ask := d.asked()
		h.capture(w)
		require.Empty(t, d.pending())
		_, code := d.pc("approve", ask.ID)
		require.Equal(t, 1, code)
		h.call("click", click).refused("stale_token")
		require.Zero(t, d.acts())
	})
	t.Run("ten identical calls at once act once", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e")
		click := map[string]any{"element_token": h.capture(w).token("button", "Save"), asks: "1"}
		var calls []*waiting
		for range 10 {
			calls = append(calls, h.start("click", click))
		}
		ask := d.asked()
		d.approve(ask.ID)
		again := d.asked(ask.ID) // the next one of the ten asks for itself
		require.NotEqual(t, ask.ID, again.ID)
		for _, c := range calls {
			c.cancel()
		}
		done := 0
		for _, c := range calls {
			if r, ok := <-c.answer; ok && !r.failed {
				done++
			}
		}
		require.LessOrEqual(t, done, 1)
		require.Eventually(t, func() bool { return len(d.pending()) == 0 }, patience, 50*time.Millisecond)
		require.Equal(t, 1, d.acts())
		d.verified()
	})
}

// TestPC19Cancel: a call that the host gave up is withdrawn, and nothing
// happens for it later.
func TestPC19Cancel(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.console()
	h := d.host("e2e")
	click := map[string]any{"element_token": h.capture(w).token("button", "Save"), asks: "1"}
	call := h.start("click", click)
	ask := d.asked()
	call.cancel()
	call.failed()
	require.Eventually(t, func() bool { return len(d.pending()) == 0 }, patience, 50*time.Millisecond)
	_, code := d.pc("approve", ask.ID)
	require.Equal(t, 1, code)
	time.Sleep(500 * time.Millisecond)
	require.Zero(t, d.acts())
	require.Equal(t, "Ready", h.capture(w).element("status", "Status").Value)
	h.ends(2 * time.Second)
	d.verified()
}

// TestPC20Pause: while the person has the desktop every call says so, and only
// she gives it back.
func TestPC20Pause(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.console()
	h := d.host("e2e")
	s := h.capture(w)
	click := map[string]any{"element_token": s.token("button", "Save"), asks: "1"}
	call := h.start("click", click)
	ask := d.asked()
	paused := do[struct{ Paused struct{ Reason, By string } }](d, "pause", "--reason", "lunch")
	require.Equal(t, "lunch", paused.Paused.Reason)
	// A yes under a pause acts no more than none: the pause is looked at last.
	d.approve(ask.ID)
	call.wait().refused("paused")
	for tool, args := range map[string]map[string]any{
		"list_windows": nil, "list_apps": nil, "get_window_state": w.args(),
		"click":     {"element_token": s.token("textbox", "Name")},
		"set_value": {"element_token": s.token("textbox", "Name"), "value": "x"},
		"type_text": {"element_token": s.token("textbox", "Name"), "text": "x"},
		"scroll":    {"element_token": s.token("textbox", "Name"), "direction": "down"},
		"press_key": w.args("key", "a"), "hotkey": w.args("keys", []string{"ctrl", "a"}),
		"bring_to_front": w.args(), "get_screen_size": nil, "get_cursor_position": nil,
	} {
		r := h.call(tool, args).refused("paused")
		require.NotContains(t, r.text, "lunch", "the reason is the person's own")
	}
	require.Zero(t, d.acts())
	d.pending() // she may look and answer all the while
	d.resume()
	h.capture(w)
	h.ends(2 * time.Second)
	d.verified()
}
