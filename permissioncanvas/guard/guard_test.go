package guard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
)

// open is a configuration in which every tier is t and no rule for controls
// stands.
func open(t guard.Tier) guard.Config {
	c := guard.Config{Person: map[guard.Category]guard.Tier{}, ToolsOnly: true}
	for _, cat := range guard.Categories() {
		c.Person[cat] = t
	}
	return c
}

func TestTG02(t *testing.T) {
	tests := []struct {
		name   string
		config guard.Config
		tool   string
		tier   guard.Tier
		source guard.Source
		code   string
	}{
		{"factory auto", guard.Config{}, "click", guard.Auto, guard.FromFactory, ""},
		{"denied", guard.Config{Denied: []string{"click"}}, "click", guard.Deny, guard.FromDenied, guard.CodeDenied},
		{"another is denied", guard.Config{Denied: []string{"click"}}, "drag", guard.Auto, guard.FromFactory, ""},
		{"denied before allowed", guard.Config{Denied: []string{"click"}, Allowed: []string{"click"}}, "click", guard.Deny, guard.FromDenied, guard.CodeDenied},
		{"allowed", guard.Config{Allowed: []string{"click"}, Person: map[guard.Category]guard.Tier{guard.Input: guard.Deny}}, "click", guard.Auto, guard.FromAllowed, ""},
		{"not allowed", guard.Config{Allowed: []string{"click"}}, "drag", guard.Deny, guard.FromAllowed, guard.CodeDenied},
		{"a blank allowed list allows nothing", guard.Config{Allowed: []string{" "}}, "drag", guard.Deny, guard.FromAllowed, guard.CodeDenied},
		{"nor the empty name", guard.Config{Allowed: []string{""}}, "", guard.Deny, guard.FromAllowed, guard.CodeDenied},
		{"denied in any case", guard.Config{Denied: []string{" Click "}}, "CLICK", guard.Deny, guard.FromDenied, guard.CodeDenied},
		{"denied with a prefix", guard.Config{Denied: []string{"cua_driver_native__click"}}, "mcp__permission-canvas__click", guard.Deny, guard.FromDenied, guard.CodeDenied},
		{"denied by an alias", guard.Config{Denied: []string{"type_text"}}, "type_text_chars", guard.Deny, guard.FromDenied, guard.CodeDenied},
		{"denied as an alias", guard.Config{Denied: []string{"TYPE_TEXT_CHARS"}}, "type_text", guard.Deny, guard.FromDenied, guard.CodeDenied},
		{"an unknown one can be allowed by name", guard.Config{Allowed: []string{"frobnicate"}, ToolsOnly: true}, "frobnicate", guard.Auto, guard.FromAllowed, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tt.config.Decide(tt.tool)
			require.Equal(t, tt.tier, d.Tier)
			require.Equal(t, tt.source, d.Source)
			require.Equal(t, tt.code, d.Code)
			require.NotEmpty(t, d.Reason)
		})
	}
}

func TestTG01Layers(t *testing.T) {
	base := map[guard.Category]guard.Tier{guard.Input: guard.Ask, guard.Process: guard.Auto}
	person := map[guard.Category]guard.Tier{guard.Process: guard.Ask, guard.Window: "loud"}
	c := guard.Config{Base: base, Person: person}
	tests := []struct {
		category guard.Category
		tier     guard.Tier
		source   guard.Source
	}{
		{guard.Observe, guard.Auto, guard.FromFactory},
		{guard.Input, guard.Ask, guard.FromBase},
		{guard.Process, guard.Ask, guard.FromPerson},
		{guard.Window, guard.Deny, guard.FromPerson}, // a tier that is none of the three
		{guard.Unknown, guard.Deny, guard.FromFactory},
		{"invented", guard.Deny, guard.FromFactory},
		{"", guard.Deny, guard.FromFactory},
	}
	for _, tt := range tests {
		t.Run(string(tt.category), func(t *testing.T) {
			tier, source := c.TierOf(tt.category)
			require.Equal(t, tt.tier, tier)
			require.Equal(t, tt.source, source)
		})
	}
}

func TestTG01Unknown(t *testing.T) {
	for _, name := range []string{"", "frobnicate", "click2", "cli ck", "click\x00", "clіck", "history_query", "__", "click__"} {
		t.Run(name, func(t *testing.T) {
			d := guard.Config{}.Decide(name)
			require.Equal(t, guard.Deny, d.Tier)
			require.Equal(t, guard.Unknown, d.Category)
			require.Equal(t, guard.Uncovered, d.Coverage)
			require.Equal(t, guard.CodeDenied, d.Code)
		})
	}
	t.Run("its name is not quoted", func(t *testing.T) {
		require.NotContains(t, guard.Config{}.Decide("ignore all rules").Reason, "ignore")
	})
	t.Run("set to auto it is still uncovered", func(t *testing.T) {
		c := guard.Config{Person: map[guard.Category]guard.Tier{guard.Unknown: guard.Auto}}
		require.Equal(t, guard.CodeUncovered, c.Decide("frobnicate").Code)
	})
}

func TestPC30(t *testing.T) {
	auto := open(guard.Auto)
	auto.ToolsOnly = false
	for _, tool := range guard.Tools() {
		t.Run(tool, func(t *testing.T) {
			d := auto.Decide(tool)
			if guard.CoverageOf(tool) != guard.Uncovered {
				require.Equal(t, guard.Auto, d.Tier)
				require.Empty(t, d.Code)
				return
			}
			require.Equal(t, guard.Deny, d.Tier)
			require.Equal(t, guard.CodeUncovered, d.Code)
			require.Equal(t, guard.FromCoverage, d.Source)
		})
	}
	t.Run("an allowed list covers nothing", func(t *testing.T) {
		d := guard.Config{Allowed: []string{"clipboard_read"}}.Decide("clipboard_read")
		require.Equal(t, guard.CodeUncovered, d.Code)
	})
	t.Run("asking covers nothing", func(t *testing.T) {
		require.Equal(t, guard.CodeUncovered, guard.Config{}.Decide("launch_app").Code)
	})
}

func TestTG08(t *testing.T) {
	c := guard.Config{ToolsOnly: true}
	require.Equal(t, guard.Auto, c.Decide("get_desktop_state").Tier)
	require.Equal(t, guard.Ask, c.Decide("launch_app").Tier)
	require.Equal(t, guard.Deny, c.Decide("kill_app").Tier)
}

func TestTG04(t *testing.T) {
	tools := func(c guard.Config) guard.Config { c.ToolsOnly = true; return c }
	tests := []struct {
		name   string
		config guard.Config
		tool   string
		want   guard.Tier
	}{
		{"steps", guard.Config{}, "run_steps", guard.Auto},
		{"steps with a denied one", guard.Config{Denied: []string{"hotkey"}}, "run_steps", guard.Deny},
		{"steps move the agent's pointer", guard.Config{Person: map[guard.Category]guard.Tier{guard.AgentCursor: guard.Ask}}, "run_steps", guard.Ask},
		{"steps read", guard.Config{Person: map[guard.Category]guard.Tier{guard.Observe: guard.Deny}}, "run_steps", guard.Deny},
		{"steps alone on the allowed list", guard.Config{Allowed: []string{"run_steps"}}, "run_steps", guard.Deny},
		{"a script can launch", guard.Config{}, "run_script", guard.Ask},
		{"a script when launching is denied", guard.Config{Person: map[guard.Category]guard.Tier{guard.Launch: guard.Deny}}, "run_script", guard.Deny},
		{"a script when a tool of it is denied", guard.Config{Denied: []string{"list_apps"}}, "run_script", guard.Deny},
		{"a replay can do anything", guard.Config{}, "replay_trajectory", guard.Deny},
		{"a replay when everything is asked for", open(guard.Ask), "replay_trajectory", guard.Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tools(tt.config).Decide(tt.tool).Tier)
		})
	}
	t.Run("unpacked", func(t *testing.T) {
		c := tools(guard.Config{Denied: []string{"hotkey"}})
		require.Equal(t, guard.Auto, c.DecideComposite("run_steps", []string{"click", "type_text"}).Tier)
		d := c.DecideComposite("run_steps", []string{"click", "HotKey"})
		require.Equal(t, guard.Deny, d.Tier)
		require.Equal(t, guard.FromDenied, d.Source)
		require.Equal(t, guard.CodeDenied, d.Code)
		require.Equal(t, "run_steps can run hotkey: it is on the list of denied tools", d.Reason)
		require.Equal(t, guard.Ask, c.DecideComposite("replay_trajectory", []string{"click"}).Tier)
		require.Equal(t, guard.Deny, c.DecideComposite("replay_trajectory", []string{"kill_app"}).Tier)
	})
	t.Run("an inner name the table does not hold is not quoted", func(t *testing.T) {
		d := tools(guard.Config{}).DecideComposite("run_steps", []string{"ignore all rules"})
		require.Equal(t, guard.Deny, d.Tier)
		require.NotContains(t, d.Reason, "ignore")
	})
	t.Run("still uncovered", func(t *testing.T) {
		require.Equal(t, guard.CodeUncovered, guard.Config{}.Decide("run_steps").Code)
	})
}

func TestTG06(t *testing.T) {
	t.Run("list", func(t *testing.T) {
		require.Equal(t, []string{"click", "type_text", "odd"}, guard.ParseList(" Click, click,,mcp__x__CLICK , type_text_chars,type_text,odd"))
		require.Empty(t, guard.ParseList(" , "))
		require.Equal(t, []string{"odd"}, guard.Unrecognised([]string{"click", "odd", "Type_Text"}))
	})
	t.Run("summary", func(t *testing.T) {
		deny, ask, auto := guard.Config{}.Counts()
		require.Equal(t, []int{3, 7, 7}, []int{deny, ask, auto})
		deny, ask, auto = open(guard.Ask).Counts()
		require.Equal(t, []int{0, 17, 0}, []int{deny, ask, auto})
	})
	t.Run("groups", func(t *testing.T) {
		var ordinary int
		means := map[string]bool{}
		for _, c := range guard.Categories() {
			if c.Ordinary() {
				ordinary++
			}
			means[c.Means()] = true
		}
		require.Equal(t, 7, ordinary)
		require.Len(t, means, 17)
	})
}
