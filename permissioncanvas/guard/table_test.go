package guard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
)

// inventory is the table written a second time, by category and coverage: "+"
// is enforced, "-" harmless, all others are uncovered.
var inventory = map[guard.Category]string{
	guard.Observe: `+list_apps +list_windows +get_window_state -get_session -get_screen_size -get_cursor_position
		get_desktop_state get_accessibility_tree zoom verify_state clipboard_read get_browser_state
		get_agent_cursor_state get_recording_state get_config list_sessions get_session_state
		check_permissions health_report debug_window_info check_for_update get_guide parse_visual_regions`,
	guard.Input: `+click +double_click +right_click +drag +scroll +type_text +press_key +hotkey +set_value
		mouse_button_down mouse_drag mouse_button_up parallel_mouse_drag run_steps`,
	guard.AgentCursor:       `move_cursor set_agent_cursor_enabled set_agent_cursor_motion set_agent_cursor_theme`,
	guard.Window:            `+bring_to_front set_window_frame`,
	guard.Clipboard:         `clipboard_write`,
	guard.Browser:           `browser_navigate browser_click browser_type browser_pointer browser_dialog browser_select`,
	guard.Session:           `-start_session -end_session`,
	guard.Launch:            `launch_app run_script`,
	guard.BrowserPrivileged: `browser_prepare browser_set_input_files browser_download page`,
	guard.Recording:         `start_recording stop_recording`,
	guard.Escalate:          `escalate_session`,
	guard.Menu:              `invoke_menu`,
	guard.Replay:            `replay_trajectory`,
	guard.Install:           `install_ffmpeg install_extension`,
	guard.Process:           `kill_app`,
	guard.Driver:            `set_config`,
	guard.Unknown:           `history_status history_query`,
}

type expected struct {
	category guard.Category
	coverage guard.Coverage
}

func expectations(t *testing.T) map[string]expected {
	t.Helper()
	all := map[string]expected{}
	for category, names := range inventory {
		for _, name := range strings.Fields(names) {
			e := expected{category, guard.Uncovered}
			switch name[0] {
			case '+':
				e.coverage = guard.Enforced
			case '-':
				e.coverage = guard.Harmless
			}
			all[strings.TrimLeft(name, "+-")] = e
		}
	}
	require.Len(t, inventory, 17)
	require.Len(t, all, 69)
	return all
}

// TestTG01Inventory asserts the decision for every tool of every recorded
// list, with each tier and each layer.
func TestTG01Inventory(t *testing.T) {
	all := expectations(t)
	require.Len(t, guard.Tools(), len(all))
	require.Equal(t, []string{"0.21.0", "0.37.0"}, guard.Versions())
	for _, version := range guard.Versions() {
		catalogue, ok := guard.Known(version)
		require.True(t, ok)
		for _, tool := range catalogue.Tools() {
			t.Run(version+"/"+tool, func(t *testing.T) {
				e, ok := all[tool]
				require.True(t, ok, "a recorded tool that the inventory lacks")
				require.Equal(t, e.category, guard.CategoryOf(tool))
				require.Equal(t, e.coverage, guard.CoverageOf(tool))
				for _, tier := range []guard.Tier{guard.Deny, guard.Ask, guard.Auto} {
					decides(t, tool, e, tier)
				}
			})
		}
	}
}

func decides(t *testing.T, tool string, e expected, tier guard.Tier) {
	t.Helper()
	layer := map[guard.Category]guard.Tier{e.category: tier}
	for source, c := range map[guard.Source]guard.Config{
		guard.FromBase: {Base: layer}, guard.FromPerson: {Base: open(guard.Deny).Person, Person: layer},
	} {
		// What a composite reaches is TestTG04's; here it holds nothing.
		d := c.DecideComposite(tool, nil)
		require.Equal(t, e.category, d.Category)
		switch {
		case tier == guard.Deny:
			require.Equal(t, []any{guard.Deny, source, guard.CodeDenied}, []any{d.Tier, d.Source, d.Code})
		case e.coverage == guard.Uncovered:
			require.Equal(t, []any{guard.Deny, guard.FromCoverage, guard.CodeUncovered}, []any{d.Tier, d.Source, d.Code})
		default:
			require.Equal(t, []any{tier, source, ""}, []any{d.Tier, d.Source, d.Code})
		}
		c.ToolsOnly = true
		d = c.DecideComposite(tool, nil)
		require.Equal(t, []any{tier, source}, []any{d.Tier, d.Source})
	}
}

func TestTG01Factory(t *testing.T) {
	want := map[guard.Category]guard.Tier{
		guard.Observe: guard.Auto, guard.Input: guard.Auto, guard.AgentCursor: guard.Auto, guard.Window: guard.Auto,
		guard.Clipboard: guard.Auto, guard.Browser: guard.Auto, guard.Session: guard.Auto,
		guard.Launch: guard.Ask, guard.BrowserPrivileged: guard.Ask, guard.Recording: guard.Ask, guard.Escalate: guard.Ask,
		guard.Menu: guard.Ask, guard.Replay: guard.Ask, guard.Install: guard.Ask,
		guard.Process: guard.Deny, guard.Driver: guard.Deny, guard.Unknown: guard.Deny,
	}
	require.Len(t, guard.Categories(), len(want))
	for c, tier := range want {
		require.Equal(t, tier, c.Factory(), c)
		require.Contains(t, guard.Categories(), c)
	}
}

// TestTG01Zero: what nobody set is the least authority.
func TestTG01Zero(t *testing.T) {
	var tier guard.Tier
	var category guard.Category
	var coverage guard.Coverage
	var catalogue guard.Catalogue
	require.Equal(t, guard.Deny, guard.Stricter(tier, guard.Auto))
	require.Equal(t, guard.Deny, category.Factory())
	require.False(t, category.Ordinary())
	require.Equal(t, guard.Uncovered, coverage)
	require.False(t, catalogue.DescriptionKnown("click", ""))
}

func TestStricter(t *testing.T) {
	order := []guard.Tier{guard.Deny, guard.Ask, guard.Auto}
	for i, a := range order {
		for j, b := range order {
			require.Equal(t, order[min(i, j)], guard.Stricter(a, b))
		}
		require.Equal(t, guard.Deny, guard.Stricter(a, "loud"))
	}
}

func TestParse(t *testing.T) {
	t.Run("tiers", func(t *testing.T) {
		tiers, err := guard.ParseTiers(map[string]string{"launch": "deny", "browserPrivileged": "auto", "unknown": "ask"})
		require.NoError(t, err)
		require.Equal(t, map[guard.Category]guard.Tier{"launch": guard.Deny, "browserPrivileged": guard.Auto, "unknown": guard.Ask}, tiers)
	})
	for name, texts := range map[string]map[string]string{
		`category "Launch" is not known`:                        {"Launch": "deny"},
		`category "" is not known`:                              {"": "deny"},
		`category launch: tier "allow": use deny, ask or auto`:  {"launch": "allow"},
		`category launch: tier "": use deny, ask or auto`:       {"launch": ""},
		`category launch: tier "Auto": use deny, ask or auto`:   {"launch": "Auto"},
		`category launch: tier "auto ": use deny, ask or auto`:  {"launch": "auto "},
		`category launch: tier "yellow": use deny, ask or auto`: {"launch": "yellow"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := guard.ParseTiers(texts)
			require.EqualError(t, err, name)
		})
	}
	t.Run("coverage", func(t *testing.T) {
		for _, want := range []guard.Coverage{guard.Uncovered, guard.Harmless, guard.Enforced} {
			text, err := want.MarshalText()
			require.NoError(t, err)
			var got guard.Coverage
			require.NoError(t, got.UnmarshalText(text))
			require.Equal(t, want, got)
		}
		got := guard.Enforced
		require.ErrorContains(t, got.UnmarshalText([]byte("full")), "not known")
		require.Equal(t, "uncovered", guard.Coverage(9).String())
	})
}

func TestCanonical(t *testing.T) {
	for name, want := range map[string]string{
		"click": "click", "  Click\t": "click", "cua_driver_native__click": "click", "mcp__cua-driver__Type_Text_Chars": "type_text",
		"type_text_chars": "type_text", "": "", "a__b__zoom": "zoom", "press": "press", "click__": "",
	} {
		require.Equal(t, want, guard.Canonical(name), name)
		require.Equal(t, want, guard.Canonical(guard.Canonical(name)), name)
	}
}
