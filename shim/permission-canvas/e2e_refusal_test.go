package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// byHand edits policy.json as a person does with an editor.
func (d *desk) byHand(edit func(doc map[string]any)) {
	d.t.Helper()
	path := filepath.Join(d.dir, "policy.json")
	data, err := os.ReadFile(path)
	require.NoError(d.t, err)
	var doc map[string]any
	require.NoError(d.t, json.Unmarshal(data, &doc))
	edit(doc)
	data, err = json.MarshalIndent(doc, "", "  ")
	require.NoError(d.t, err)
	require.NoError(d.t, os.WriteFile(path, data, 0o600))
}

// TestBX07Refusals: each refusal says in both halves what is so and what to do
// next.
func TestBX07Refusals(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.console()
	d.byHand(func(doc map[string]any) {
		doc["denied_tools"] = []string{"double_click"}
		doc["real_mouse"] = "never"
	})
	h := d.host("e2e")
	s := h.capture(w)
	name, notes := s.token("textbox", "Name"), s.token("textbox", "Notes")
	for _, c := range []struct {
		what, tool string
		args       map[string]any
		code, next string
		says       string
	}{
		{"a tool that is denied", "double_click", map[string]any{"element_token": name}, "tool_denied", "stop", "The person's settings do not allow"},
		{"the same by its prefix", "mcp_cua_Double_Click", map[string]any{"element_token": name}, "tool_denied", "stop", "The person's settings do not allow"},
		{"a tool that nobody knows", "frobnicate", nil, "tool_denied", "stop", "The person's settings do not allow"},
		{"the real mouse", "click", map[string]any{"element_token": name, "delivery_mode": "foreground"}, "tool_denied", "stop", "the real mouse and keyboard"},
		{"the whole screen", "get_desktop_state", nil, "tool_uncovered", "stop", "This tool would go past the person's rules, so it is off."},
		{"a script", "run_script", map[string]any{"script": "1"}, "tool_denied", "stop", "The person's settings do not allow"},
		{"the page behind the window", "page", nil, "tool_uncovered", "stop", "Use get_window_state and click."},
		{"the clipboard", "clipboard_read", nil, "tool_uncovered", "stop", "past the person's rules"},
		{"a zoom", "zoom", w.args(), "tool_uncovered", "stop", "past the person's rules"},
		{"copy", "hotkey", w.args("keys", []string{"ctrl", "c"}), "clipboard_refused", "stop", "Copy, cut and paste are always refused."},
		{"paste by another name", "hotkey", w.args("keys", []string{"shift", "insert"}), "clipboard_refused", "stop", "Type the text"},
		{"system keys", "hotkey", w.args("keys", []string{"alt", "f4"}), "tool_denied", "stop", "keys that work on the whole window"},
		{"text for whatever has the focus", "type_text", w.args("text", "x"), "focus_unknown", "capture_again", "use set_value"},
		{"a wheel for nothing", "scroll", w.args("direction", "down"), "scroll_refused", "capture_again", "Scroll with the element_token"},
		{"a key that is not one", "set_value", map[string]any{"element_token": name, "value": "x", "force": true}, "argument_unknown", "stop", `"force"`},
		{"a file", "get_window_state", w.args("screenshot_out_file", "x.png"), "argument_unknown", "stop", `"screenshot_out_file"`},
		{"another type", "set_value", map[string]any{"element_token": name, "value": 5}, "bad_request", "stop", "value"},
		{"read only", "click", map[string]any{"element_token": s.token("button", "Delete")}, "read_only", "stop", `You may read button "Delete" but not use it.`},
		{"read only, by value", "set_value", map[string]any{"element_token": s.token("button", "Delete"), "value": "x"}, "read_only", "stop", "You may read"},
		{"a middle click into a field", "click", map[string]any{"element_token": notes, "button": "middle"}, "clipboard_refused", "stop", "refused"},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := h.call(c.tool, c.args)
			r.t = t
			r.refused(c.code)
			require.Equal(t, c.next, r.field("next"))
			require.Contains(t, r.field("message"), c.says)
		})
	}
	require.Zero(t, d.acts())
	require.NotEmpty(t, d.entries("refused"))
	h.call("set_value", map[string]any{"element_token": name, "value": "Ada"}).done()
	h.ends(2 * time.Second)
	d.verified()
}

// TestPC25BrokenRules: rules that cannot be read refuse everything, say where,
// and are left as they are.
func TestPC25BrokenRules(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		edit  func(string) string
		where string
	}{
		"half a file":      {func(s string) string { return s[:len(s)/2] }, "policy.json"},
		"an empty file":    {func(string) string { return "" }, "policy.json"},
		"a key twice":      {func(s string) string { return `{"version":1,` + s[1:] }, "version"},
		"an unknown key":   {func(s string) string { return `{"relax":true,` + s[1:] }, "relax"},
		"a word for black": {func(s string) string { return string(bytes.Replace([]byte(s), []byte(`"black"`), []byte(`"hide"`), 1)) }, `"black"`},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := simulated(t)
			w := d.console()
			h := d.host("e2e")
			token := h.capture(w).token("textbox", "Name")
			path := filepath.Join(d.dir, "policy.json")
			good, err := os.ReadFile(path)
			require.NoError(t, err)
			bad := c.edit(string(good))
			require.NotEqual(t, string(good), bad)
			require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
			for tool, args := range map[string]map[string]any{
				"list_windows": nil, "get_window_state": w.args(), "set_value": {"element_token": token, "value": "x"},
			} {
				r := h.call(tool, args).refused("policy_invalid")
				require.NotContains(t, r.text, "9f2a77c1b0")
			}
			check := exec.Command(canvasProgram, "check", "--driver", "sim", "--data-dir", d.dir)
			check.Env = d.env
			out, err := check.CombinedOutput()
			require.Error(t, err, "%s", out)
			require.Contains(t, string(out), c.where)
			doc, code := d.pc("rules")
			require.Equal(t, 1, code, "%s", doc)
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, bad, string(left), "left as it is")
			require.NoError(t, os.WriteFile(path, good, 0o600))
			h.capture(w)
			require.Zero(t, d.acts())
			d.verified()
		})
	}
}

// TestPC24Record: a record that was changed is found at its place, and what
// cannot be recorded is not done.
func TestPC24Record(t *testing.T) {
	t.Parallel()
	lines := func(data []byte) [][]byte {
		return bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	}
	for what, c := range map[string]struct {
		edit  func(log []byte) []byte
		index uint64 // of the first entry that does not belong
	}{
		"edited": {func(log []byte) []byte {
			l := lines(log)
			l[2] = bytes.Replace(l[2], []byte(`"seq":3,"time":"2`), []byte(`"seq":3,"time":"1`), 1)
			return bytes.Join(l, nil)
		}, 3},
		"one deleted": {func(log []byte) []byte {
			l := lines(log)
			return bytes.Join(append(append([][]byte{}, l[:3]...), l[4:]...), nil)
		}, 4},
		"two in another order": {func(log []byte) []byte {
			l := lines(log)
			l[1], l[2] = l[2], l[1]
			return bytes.Join(l, nil)
		}, 2},
		"the end cut off": {func(log []byte) []byte { return bytes.Join(lines(log)[:5], nil) }, 6},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := simulated(t)
			w := d.console()
			h := d.host("e2e")
			token := h.capture(w).token("textbox", "Name")
			h.call("set_value", map[string]any{"element_token": token, "value": "Ada"}).done()
			before := d.acts()
			d.verified()
			path := filepath.Join(d.dir, "audit", "audit-000001.jsonl")
			log, err := os.ReadFile(path)
			require.NoError(t, err)
			bad := c.edit(log)
			require.NotEqual(t, string(log), string(bad))
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			doc, code := d.pc("audit", "verify")
			require.Equal(t, 1, code)
			var r struct {
				OK     bool
				Broken *struct{ Index uint64 }
			}
			require.NoError(t, json.Unmarshal(doc, &r))
			require.False(t, r.OK)
			require.NotNil(t, r.Broken)
			require.Equal(t, c.index, r.Broken.Index)
			if what == "the end cut off" {
				h.call("set_value", map[string]any{"element_token": token, "value": "Eve"}).refused("audit_failed")
			}
			require.NoError(t, os.WriteFile(path, log, 0o600))
			require.Equal(t, before, d.acts())
			d.verified()
		})
	}
}
