package policy_test

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func TestPC02(t *testing.T) {
	t.Run("the strictest of all matching rules wins", func(t *testing.T) {
		m := policy.Match{Role: "button", Label: "Save"}
		for _, c := range []struct {
			name  string
			rules []policy.Rule
			want  driver.Level
		}{
			{"green", []policy.Rule{live(m)}, driver.LevelAllow},
			{"green and yellow", []policy.Rule{live(m), {Level: driver.LevelAsk, Match: m}}, driver.LevelAsk},
			{"yellow and blue", []policy.Rule{{Level: driver.LevelAsk, Match: m}, {Level: driver.LevelReadOnly, Match: m}}, driver.LevelReadOnly},
			{"all four", []policy.Rule{hide(m), live(m), {Level: driver.LevelReadOnly, Match: m}, {Level: driver.LevelAsk, Match: m}}, driver.LevelHide},
		} {
			t.Run(c.name, func(t *testing.T) {
				v := with(t, c.rules...).Judge(page(), keyed).Verdicts[save]
				require.Equal(t, c.want, v.Level)
				require.Equal(t, c.want == driver.LevelHide, v.Hidden)
				require.Len(t, v.Rules, len(c.rules))
				require.False(t, v.Default)
			})
		}
	})
	t.Run("without a rule the default holds", func(t *testing.T) {
		for i, v := range with(t).Judge(page(), keyed).Verdicts {
			require.Equal(t, policy.Verdict{Level: driver.LevelAsk, Default: true}, v, i)
		}
	})
	t.Run("a looser rule replaces a stricter default only where it matches exactly", func(t *testing.T) {
		d := policy.New()
		d.DefaultLevel = driver.LevelReadOnly
		d.Rules = []policy.Rule{{ID: "r1", Level: driver.LevelAsk, Match: policy.Match{Role: "button", Label: "Save"}}}
		p, s := compile(t, d), page()
		require.Equal(t, driver.LevelAsk, p.Judge(s, nil).Verdicts[save].Level)
		s.Elements[save].Label = "SAVE"
		v := p.Judge(s, nil).Verdicts[save]
		require.Equal(t, policy.Verdict{Level: driver.LevelReadOnly, Default: true, Rules: []string{"r1"}}, v)
	})
	t.Run("the zero policy hides everything", func(t *testing.T) {
		j := (&policy.Policy{}).Judge(page(), nil)
		for _, v := range j.Verdicts {
			require.True(t, v.Hidden)
		}
		require.True(t, (&policy.Policy{}).MayHide(console()))
	})
	t.Run("a default of hide needs all text", func(t *testing.T) {
		d := policy.New()
		d.DefaultLevel = driver.LevelHide
		s := page()
		require.Empty(t, compile(t, d).Judge(s, nil).NeedsText)
		s.AllText = false
		require.Equal(t, []string{"default_level"}, compile(t, d).Judge(s, nil).NeedsText)
		require.True(t, compile(t, d).MayHide(console()))
	})
}

// TestPC49: one verdict for each element, and the zero value of what a verdict
// becomes hides.
func TestPC49(t *testing.T) {
	s := page()
	require.Len(t, with(t).Judge(s, nil).Verdicts, len(s.Elements))
	require.Empty(t, with(t).Judge(&driver.Snapshot{}, nil).Verdicts)
	require.Equal(t, driver.LevelHide, driver.Stricter(policy.Verdict{}.Level, driver.LevelAllow))
}

func TestPC01DefaultGreen(t *testing.T) {
	d := policy.New()
	require.Equal(t, driver.LevelAsk, d.DefaultLevel)
	d.DefaultLevel = driver.LevelAllow
	d.Windows = []policy.Window{policy.WindowOf(console())}
	for _, c := range []struct {
		name   string
		change func(*driver.Snapshot)
		want   driver.Level
	}{
		{"a named control with a place in a selected window", func(*driver.Snapshot) {}, driver.LevelAllow},
		{"without a name", func(s *driver.Snapshot) { s.Elements[save].Label = " \u200b" }, driver.LevelAsk},
		{"named by its value", func(s *driver.Snapshot) { s.Elements[save].Value = "save" }, driver.LevelAsk},
		{"without a place", func(s *driver.Snapshot) { s.Elements[save].Bounds = image.Rectangle{} }, driver.LevelAsk},
		{"of unknown role", func(s *driver.Snapshot) { s.Elements[save].Role = "" }, driver.LevelAsk},
		{"a password", func(s *driver.Snapshot) { s.Elements[save].Role = driver.RolePassword }, driver.LevelAsk},
		{"in another window", func(s *driver.Snapshot) { s.Window.Ref.ID++ }, driver.LevelAsk},
		{"in a process of unknown start", func(s *driver.Snapshot) { s.Window.Start = 0 }, driver.LevelAsk},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := page()
			c.change(s)
			v := compile(t, d).Judge(s, nil).Verdicts[save]
			require.Equal(t, policy.Verdict{Level: c.want, Default: true}, v)
		})
	}
	t.Run("in a window whose entry is not bound yet", func(t *testing.T) {
		d.Windows = []policy.Window{{PID: 4242, WindowID: 77, App: "chromium"}}
		require.Equal(t, driver.LevelAsk, compile(t, d).Judge(page(), nil).Verdicts[save].Level)
	})
}

func TestPC08(t *testing.T) {
	scoped := policy.Match{App: "chromium", Site: "https://acme.example", Role: "textbox", Label: "Token"}
	for _, c := range []struct {
		name   string
		rule   policy.Rule
		change func(*driver.Snapshot)
		want   bool
	}{
		{"a named control that is not here", hide(scoped), nil, true},
		{"found", hide(scoped), func(s *driver.Snapshot) { s.Elements[field].Label = "token" }, false},
		{"on another site", hide(scoped), func(s *driver.Snapshot) { s.Window.Site = "https://b.example" }, false},
		{"on an unknown site", hide(scoped), func(s *driver.Snapshot) { s.Window.Site = "" }, true},
		{"in another application", hide(scoped), func(s *driver.Snapshot) { s.Window.App, s.Window.Exe = "mail", "" }, false},
		{"in an unknown application", hide(scoped), func(s *driver.Snapshot) { s.Window.App, s.Window.Exe = "", "" }, true},
		{"without an application it belongs nowhere", hide(policy.Match{Label: "Token"}), nil, false},
		{"a pattern", hide(policy.Match{App: "chromium", TextRegex: "AKIA"}), nil, false},
		{"a pattern that is expected", policy.Rule{Level: driver.LevelHide, Expect: "here", Match: policy.Match{App: "chromium", TextRegex: "AKIA"}}, nil, true},
		{"a name that is not", policy.Rule{Level: driver.LevelHide, Expect: "anywhere", Match: scoped}, nil, false},
		{"a role alone", hide(policy.Match{App: "chromium", Role: "slider"}), nil, true},
		{"a role found only among unknown ones", hide(policy.Match{App: "chromium", Role: "slider"}),
			func(s *driver.Snapshot) { s.Elements[save].Role = "" }, true},
		{"another window title", hide(policy.Match{App: "chromium", Label: "Token", WindowTitle: "Other"}), nil, false},
		{"a rule that does not hide", policy.Rule{Level: driver.LevelAsk, Match: scoped}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := page()
			if c.change != nil {
				c.change(s)
			}
			got := with(t, c.rule).Judge(s, keyed).Unmatched
			if c.want {
				require.Equal(t, []string{"a"}, got)
				return
			}
			require.Empty(t, got)
		})
	}
	t.Run("what a rule expects by its kind", func(t *testing.T) {
		for _, c := range []struct {
			match policy.Match
			want  policy.Expectation
		}{
			{policy.Match{Label: "x"}, policy.ExpectHere},
			{policy.Match{Role: "button"}, policy.ExpectHere},
			{policy.Match{Label: "x", TextRegex: "x"}, policy.ExpectHere},
			{policy.Match{Role: "button", LabelRegex: "x"}, policy.ExpectAnywhere},
			{policy.Match{TextDigest: keyed("x")}, policy.ExpectAnywhere},
			{policy.Match{ValueRegex: "x"}, policy.ExpectAnywhere},
			{policy.Match{Within: &policy.Match{Label: "x"}}, policy.ExpectAnywhere},
			{policy.Match{App: "x"}, policy.ExpectAnywhere},
		} {
			require.Equal(t, c.want, hide(c.match).Expects(), c.match)
		}
	})
}

// TestPC08NeedsText: a pattern may match nothing only after a complete search.
func TestPC08NeedsText(t *testing.T) {
	for _, c := range []struct {
		name string
		rule policy.Rule
		want bool
	}{
		{"text", hide(policy.Match{TextRegex: "x"}), true},
		{"text of a button", hide(policy.Match{Role: "button", TextRegex: "x"}), true},
		{"fingerprint", hide(policy.Match{TextDigest: keyed("x")}), true},
		{"value", hide(policy.Match{ValueRegex: "x"}), true},
		{"label pattern", hide(policy.Match{LabelRegex: "x"}), true},
		{"label pattern of a button", hide(policy.Match{Role: "push button", LabelRegex: "x"}), false},
		{"box", hide(policy.Match{Within: &policy.Match{Label: "x"}}), true},
		{"application", hide(policy.Match{App: "chromium"}), true},
		{"another application", hide(policy.Match{App: "mail", TextRegex: "x"}), false},
		{"named control", hide(policy.Match{Label: "x"}), false},
		{"not hidden", policy.Rule{Level: driver.LevelReadOnly, Match: policy.Match{TextRegex: "x"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := page()
			require.Empty(t, with(t, c.rule).Judge(s, keyed).NeedsText)
			s.AllText = false
			require.Equal(t, c.want, len(with(t, c.rule).Judge(s, keyed).NeedsText) == 1)
		})
	}
}

func TestPC37(t *testing.T) {
	pinned := hide(policy.Match{App: "chromium", Label: "Save", PID: 1, WindowID: 77})
	judge := func(r policy.Rule, windows ...policy.Window) []string {
		d := policy.New()
		d.Windows = windows
		r.ID = "r1"
		d.Rules = []policy.Rule{r}
		return compile(t, d).Judge(page(), keyed).Unmatched
	}
	require.Equal(t, []string{"r1"}, judge(pinned), "the window is gone")
	require.Empty(t, judge(pinned, policy.Window{PID: 1, WindowID: 77, App: "chromium"}), "it is selected")
	pinned.Match.App = "mail"
	require.Empty(t, judge(pinned), "it was another application's")
	pinned.Match.App = ""
	require.Equal(t, []string{"r1"}, judge(pinned), "it could have been this one's")
	pattern := hide(policy.Match{TextRegex: "x", Start: 5})
	require.Equal(t, []string{"r1"}, judge(pattern), "a pattern, too")
	pattern.Match.Start = 81237
	require.Empty(t, judge(pattern))
}

func TestPC09(t *testing.T) {
	button := policy.Match{Role: "button", Label: "Save"}
	green := func(change func(*policy.Match)) policy.Rule {
		r := live(button)
		change(&r.Match)
		return r
	}
	byTitle := func(m *policy.Match) { m.Site, m.WindowTitle = "", "Admin Console" }
	for _, c := range []struct {
		name   string
		rule   policy.Rule
		change func(*driver.Snapshot)
		want   bool
	}{
		{"all known and equal", live(button), nil, true},
		{"by the driver's name", green(func(m *policy.Match) { m.App = "CHROMIUM" }), nil, true},
		{"no application", green(func(m *policy.Match) { m.App = "" }), nil, false},
		{"another application", green(func(m *policy.Match) { m.App = "mail" }), nil, false},
		{"no place", green(func(m *policy.Match) { m.Site = "" }), nil, false},
		{"no process", green(func(m *policy.Match) { m.PID = 0 }), nil, false},
		{"no start", green(func(m *policy.Match) { m.Start = 0 }), nil, false},
		{"no window", green(func(m *policy.Match) { m.WindowID = 0 }), nil, false},
		{"another start", live(button), func(s *driver.Snapshot) { s.Window.Start++ }, false},
		{"unknown start", live(button), func(s *driver.Snapshot) { s.Window.Start = 0 }, false},
		{"unknown site", live(button), func(s *driver.Snapshot) { s.Window.Site = "" }, false},
		{"another site", live(button), func(s *driver.Snapshot) { s.Window.Site = "https://acme.example:8443" }, false},
		{"the same site in other words", live(button), func(s *driver.Snapshot) { s.Window.Site = "https://Acme.example:443/" }, true},
		{"unknown role", live(button), func(s *driver.Snapshot) { s.Elements[save].Role = "" }, false},
		{"another role", live(button), func(s *driver.Snapshot) { s.Elements[save].Role = driver.RoleLink }, false},
		{"a label that only looks the same", live(button), func(s *driver.Snapshot) { s.Elements[save].Label = "Save\u200b" }, false},
		{"a title where the site is known", green(byTitle), nil, false},
		{"a title where it is not", green(byTitle), func(s *driver.Snapshot) { s.Window.Site = "" }, true},
		{"another title", green(byTitle), func(s *driver.Snapshot) { s.Window.Site, s.Window.Title = "", "admin console" }, false},
		{"a title's pattern", green(func(m *policy.Match) { m.Site, m.WindowTitleRegex = "", "^Admin" }),
			func(s *driver.Snapshot) { s.Window.Site = "" }, true},
		{"a title's pattern in another case", green(func(m *policy.Match) { m.Site, m.WindowTitleRegex = "", "^Admin" }),
			func(s *driver.Snapshot) { s.Window.Site, s.Window.Title = "", "ADMIN" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := page()
			if c.change != nil {
				c.change(s)
			}
			v := with(t, c.rule).Judge(s, keyed).Verdicts[save]
			require.Equal(t, c.want, v.Level == driver.LevelAllow)
		})
	}
	t.Run("restrictive rules without scope still restrict", func(t *testing.T) {
		for _, level := range []driver.Level{driver.LevelReadOnly, driver.LevelHide} {
			v := with(t, policy.Rule{Level: level, Match: policy.Match{Label: "Save"}}).Judge(page(), nil).Verdicts[save]
			require.Equal(t, level, v.Level)
		}
	})
	t.Run("what cannot be evaluated restricts", func(t *testing.T) {
		m := policy.Match{Label: "Save", App: "chromium", Site: "https://acme.example", Start: 81237, WindowTitle: "admin console", WindowTitleRegex: "^admin"}
		s := page()
		s.Window.App, s.Window.Exe, s.Window.Site, s.Window.Start, s.Window.Title = "", "", "", 0, ""
		require.Equal(t, []int{save}, hidden(with(t, hide(m)), s))
		require.True(t, with(t, hide(m)).MayHide(s.Window))
		s.Window.Title = "Other"
		require.Empty(t, hidden(with(t, hide(m)), s))
		require.False(t, with(t, hide(m)).MayHide(s.Window))
	})
}
