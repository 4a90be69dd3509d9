package sim_test

import (
	"encoding/json"
	"errors"
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
)

// TestD43: the tools are those of 0.37.0 that a guarded desktop serves, whole.
func TestD43(t *testing.T) {
	d := sim.New(nil)
	list, err := d.Tools(t.Context())
	require.NoError(t, err)
	require.Equal(t, "0.37.0", list.Version)
	var names []string
	for _, e := range list.Entries {
		names = append(names, e.Name)
		var keys map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(e.Raw, &keys))
		for _, k := range []string{"annotations", "capabilities", "description", "inputSchema", "risk"} {
			require.Contains(t, keys, k, e.Name) // M12: hosts read these
		}
	}
	require.ElementsMatch(t, []string{
		"list_windows", "list_apps", "get_window_state", "click", "double_click", "right_click", "type_text", "set_value",
		"press_key", "hotkey", "scroll", "drag", "bring_to_front",
		"start_session", "end_session", "get_session", "get_screen_size", "get_cursor_position",
	}, names)
}

// TestCallTool: the shapes are those of the real driver, 0.37.0 under Xvfb.
func TestCallTool(t *testing.T) {
	d := sim.New(nil)
	errResult := errors.New("a result that says it is an error")
	for _, c := range []struct {
		tool, args, want string
		err              error
	}{
		{"get_screen_size", ``, `{"height":1000,"scale_factor":1.0,"width":1600}`, nil},
		{"get_cursor_position", `{}`, `{"source":"sim","x":800,"y":500}`, nil},
		{"get_session", `{}`, `{"client_kind":"mcp","cursor_visible":false,"expires_in_seconds":299,"idle_seconds":0,
			"implicit":true,"recording_active":false,"session":null,"state":"active","transport":"mcp_stdio"}`, nil},
		{"get_session", `{"session":"a"}`, `session_not_started`, errResult},
		{"start_session", `{"session":"a","cursor_theme":{}}`, `{"active":true,"capture_scope":"auto",
			"desktop_capture_authorized":false,"desktop_unlocked":false,"effective_scope":"window","escalation_detail":null,
			"escalation_reason":null,"revived":false,"session":"a"}`, nil},
		{"get_session", `{"session":"a"}`, `{"client_kind":"mcp","cursor_visible":false,"expires_in_seconds":299,
			"idle_seconds":0,"implicit":false,"recording_active":false,"session":"a","state":"active","transport":"mcp_stdio"}`, nil},
		{"end_session", `{"session":"a"}`, `{"active":false,"session":"a"}`, nil},
		{"end_session", `{"session":"a"}`, `{"active":false,"session":"a"}`, nil},
		{"get_screen_size", `{"session":"a"}`, `session_ended`, errResult},
		{"start_session", `{"session":"a"}`, `{"active":true,"capture_scope":"auto",
			"desktop_capture_authorized":false,"desktop_unlocked":false,"effective_scope":"window","escalation_detail":null,
			"escalation_reason":null,"revived":true,"session":"a"}`, nil},
		{"end_session", ``, `{"active":false,"session":"implicit"}`, nil},
		{"get_screen_size", `{"bogus":1}`, `invalid_arguments`, errResult},
		{"get_screen_size", `{"session":5}`, `invalid_arguments`, errResult},
		{"get_screen_size", `[]`, `invalid_arguments`, errResult},
		{"click", `{}`, ``, driver.ErrUnsupported},
		{"clipboard_read", `{}`, ``, driver.ErrUnsupported},
	} {
		raw, err := d.CallTool(t.Context(), c.tool, json.RawMessage(c.args))
		if c.err == errResult {
			require.NoError(t, err)
			require.Contains(t, string(raw), `"isError":true`)
			require.Contains(t, string(raw), `"code":"`+c.want+`"`)
			continue
		}
		if c.err != nil {
			require.ErrorIs(t, err, c.err, "%s %s", c.tool, c.args)
			require.ErrorIs(t, err, driver.ErrNoEffect)
			continue
		}
		require.NoError(t, err, "%s %s", c.tool, c.args)
		var res struct {
			Content           []struct{ Type, Text string }
			StructuredContent json.RawMessage
		}
		require.NoError(t, json.Unmarshal(raw, &res))
		require.JSONEq(t, c.want, string(res.StructuredContent))
		require.Equal(t, "text", res.Content[0].Type)
		require.NotEmpty(t, res.Content[0].Text)
	}
}

// TestClosed: after Close nothing is answered, and a restart begins anew.
func TestClosed(t *testing.T) {
	d := sim.New(nil)
	require.NoError(t, d.Close())
	_, err := d.Tools(t.Context())
	require.ErrorIs(t, err, driver.ErrUnavailable)
	_, err = d.CallTool(t.Context(), "get_session", nil)
	require.ErrorIs(t, err, driver.ErrUnavailable)
	_, err = d.WindowAt(t.Context(), image.Point{})
	require.ErrorIs(t, err, driver.ErrUnavailable)
	d.Restart()
	_, err = d.Tools(t.Context())
	require.NoError(t, err)
}
