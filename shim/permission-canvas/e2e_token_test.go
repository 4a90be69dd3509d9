package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPC34Tokens: a token acts in the one snapshot, session and process that
// it is from, and the driver's own never.
func TestPC34Tokens(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.console()
	h, other := d.host("e2e"), d.host("another")
	set := func(token string) map[string]any { return map[string]any{"element_token": token, "value": "x"} }

	old := h.capture(w).token("textbox", "Name")
	require.Regexp(t, `^s[0-9a-f]{8}:[0-9]+$`, old)
	newest := h.capture(w).token("textbox", "Name")
	require.NotEqual(t, old, newest)
	h.call("set_value", set(old)).refused("stale_token")
	h.call("set_value", set(newest)).done() // a refusal of another token ends nothing

	// Another session, which has a snapshot of the same window.
	theirs := other.capture(w).token("textbox", "Name")
	other.call("set_value", set(newest)).refused("stale_token")
	h.call("set_value", set(theirs)).refused("stale_token")

	// Another conversation in the same session.
	labelled := w.args("session", "one")
	r := h.call("get_window_state", labelled)
	require.False(t, r.failed, "%s", r.text)
	one := (&shot{reply: r}).token("textbox", "Name")
	for _, label := range []any{"two", nil} {
		args := set(one)
		args["session"] = label
		h.call("set_value", args).refused("stale_token")
	}
	args := set(one)
	args["session"] = "one"
	h.call("set_value", args).done()

	// Another process. It takes no snapshot over, nor the ask made on one.
	before := d.acts()
	last := h.capture(w)
	click := map[string]any{"element_token": last.token("button", "Save")}
	h.call("click", click).refused("approval_required")
	ask := d.asked()
	h.kill()
	again := d.host("e2e")
	again.call("set_value", set(last.token("textbox", "Name"))).refused("stale_token")
	again.call("click", click).refused("stale_token")
	again.capture(w)
	again.call("click", click).refused("stale_token")
	_, _ = d.pc("approve", ask.ID) // whether or not it still counts
	again.call("click", click).refused("stale_token")
	require.Equal(t, before, d.acts())
	again.ends(2 * time.Second)
	d.verified()
}

// TestPC14Indexes: only a token of ours names a control; an index counts
// beside it alone, and points are refused.
func TestPC14Indexes(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.console()
	h := d.host("e2e")
	s := h.capture(w)
	name := s.element("textbox", "Name")
	id, _, _ := strings.Cut(name.Token, ":")
	for _, c := range []struct {
		what, tool string
		args       map[string]any
		code       string
	}{
		{"a driver's handle", "click", map[string]any{"element_token": fmt.Sprintf("s00000001:%d", name.Index)}, "stale_token"},
		{"a row that is not there", "click", map[string]any{"element_token": id + ":9999"}, "unknown_element"},
		{"a row in other digits", "click", map[string]any{"element_token": fmt.Sprintf("%s:0%d", id, name.Index)}, "stale_token"},
		{"a sign", "click", map[string]any{"element_token": id + ":-1"}, "stale_token"},
		{"no row", "click", map[string]any{"element_token": id}, "stale_token"},
		{"an index alone", "click", w.args("element_index", name.Index), "stale_token"},
		{"an index that disagrees", "click", w.args("element_token", name.Token, "element_index", name.Index+1), "stale_token"},
		{"a point", "click", w.args("x", 300, "y", 200), "coordinates_refused"},
		{"a point beside a token", "click", w.args("element_token", name.Token, "x", 300, "y", 200), "coordinates_refused"},
		{"another window than the token's", "click", map[string]any{"element_token": name.Token, "pid": w.PID, "window_id": w.ID + 1}, "ambiguous_window"},
		{"nothing", "click", w.args(), "stale_token"},
		{"a drag", "drag", w.args("from_x", 10, "from_y", 10, "to_x", 50, "to_y", 50), "drag_refused"},
		{"the whole desktop", "click", map[string]any{"scope": "desktop", "x": 1, "y": 1}, "desktop_placement_refused"},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := h.call(c.tool, c.args)
			r.t = t
			r.refused(c.code)
		})
	}
	require.Zero(t, d.acts())
	h.call("set_value", w.args("element_token", name.Token, "element_index", name.Index, "value", "Ada")).done()
	require.Equal(t, 1, d.acts())
}

// TestPC31Text: typed text has no character that a field would pass on.
func TestPC31Text(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.console()
	h := d.host("e2e")
	s := h.capture(w)
	name, notes := s.token("textbox", "Name"), s.token("textbox", "Notes")
	for what, text := range map[string]string{
		"tab": "E\tF", "newline": "E\nF", "return": "E\rF", "escape": "E\x1bF", "delete": "E\x7fF",
		"backspace": "E\bF", "a C1 control": "E\u0085F", "nothing": "",
	} {
		t.Run(what, func(t *testing.T) {
			for tool, key := range map[string]string{"type_text": "text", "set_value": "value"} {
				if text == "" && tool == "set_value" {
					continue // emptying a field is an act like any other
				}
				r := h.call(tool, map[string]any{"element_token": name, key: text})
				r.t = t
				r.refused("bad_request")
			}
		})
	}
	h.call("type_text", map[string]any{"element_token": notes, "text": "a\tb"}).refused("bad_request")
	require.Zero(t, d.acts())
	require.Empty(t, h.capture(w).element("textbox", "Name").Value)

	// What is text goes where it was meant to, line breaks too where there are
	// lines.
	h.call("type_text", map[string]any{"element_token": h.capture(w).token("textbox", "Notes"), "text": "one\ntwo"}).done()
	h.call("type_text", map[string]any{"element_token": h.capture(w).token("textbox", "Name"), "text": "Ada Ω 𝄞"}).done()
	s = h.capture(w)
	require.Equal(t, "one\ntwo", s.element("textbox", "Notes").Value)
	require.Equal(t, "Ada Ω 𝄞", s.element("textbox", "Name").Value)
	require.Equal(t, "Ready", s.element("status", "Status").Value)

	// The record has length and digest, never the text (PC24).
	record, _ := d.pc("audit", "tail", "500")
	require.False(t, strings.Contains(string(record), "Ada Ω"))
	intents := d.entries("intent")
	require.Len(t, intents, 2)
	require.Regexp(t, `^7:[0-9a-f]{32}$`, intents[1].Fields["text"])
	d.verified()
}

// TestPC10Windows: an act on one selected window reaches no other (BX02), and
// what was not chosen is not there.
func TestPC10Windows(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	console := d.console()
	login := d.choose(titled(loginTitle), "--add")
	d.resume()
	h := d.host("e2e")
	require.Len(t, h.call("list_windows", nil).fields["windows"], 2)
	var browser window
	for _, w := range d.windows() {
		require.Equal(t, w.Title != browserTitle, w.Selected)
		if !w.Selected {
			browser = w
		}
	}
	h.call("get_window_state", browser.args()).refused("no_window_selected")
	h.call("get_window_state", window{PID: console.PID, ID: login.ID}.args()).refused("no_window_selected")
	for _, args := range []map[string]any{nil, {"pid": console.PID}, {"window_id": console.ID}, {"pid": 0, "window_id": 0}, {"pid": -1, "window_id": -1}} {
		h.call("get_window_state", args).refused("ambiguous_window")
	}
	c := h.capture(console)
	h.capture(login)
	h.call("set_value", login.args("element_token", c.token("textbox", "Name"), "value", "x")).refused("ambiguous_window")
	h.call("set_value", console.args("element_token", c.token("textbox", "Name"), "value", "Ada")).done()
	l := h.capture(login)
	require.Equal(t, "ada@acme.example", l.element("textbox", "Account").Value)
	require.Equal(t, "Signed out", l.element("status", "Status").Value)
	// Choosing anew replaces both.
	d.choose(titled(browserTitle))
	d.resume()
	h.call("get_window_state", console.args()).refused("no_window_selected")
	h.call("set_value", console.args("element_token", c.token("textbox", "Name"), "value", "y")).notDone()
	require.Equal(t, 1, d.acts())
	d.verified()
}
