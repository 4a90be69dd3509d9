package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func ids(d policy.Document) []string {
	out := []string{}
	for _, r := range d.Rules {
		out = append(out, r.ID)
	}
	return out
}

func TestPC20Rules(t *testing.T) {
	d := policy.New()
	a, b := hide(policy.Match{Label: "a"}), hide(policy.Match{Label: "b"})

	one, err := d.AddRule(a)
	require.NoError(t, err)
	require.Empty(t, d.Rules, "the old document stays as it was")
	two, err := one.AddRule(b)
	require.NoError(t, err)
	require.Equal(t, []string{"r1", "r2"}, ids(two))

	t.Run("a rule that is there is refused", func(t *testing.T) {
		var dup *policy.DuplicateError
		_, err := two.AddRule(policy.Rule{Level: driver.LevelHide, Expect: "here", Match: b.Match, Note: "again"})
		require.ErrorAs(t, err, &dup)
		require.Equal(t, "r2", dup.ID)
		require.EqualError(t, err, "rule r2 says the same already")
		_, err = two.SetRule(policy.Rule{ID: "r1", Level: driver.LevelHide, Match: b.Match})
		require.ErrorAs(t, err, &dup)
	})
	t.Run("an id that is taken is refused", func(t *testing.T) {
		_, err := two.AddRule(policy.Rule{ID: "r1", Level: driver.LevelAsk, Match: policy.Match{Label: "c"}})
		require.ErrorContains(t, err, `"r1" is taken`)
	})
	t.Run("so is what does not compile", func(t *testing.T) {
		_, err := two.AddRule(policy.Rule{Level: "hide", Match: a.Match})
		require.ErrorContains(t, err, `write "black"`)
	})
	t.Run("ids are fresh beside any others", func(t *testing.T) {
		d := two
		d, err := d.AddRule(policy.Rule{ID: "acme-keys", Level: driver.LevelAsk, Match: policy.Match{Label: "c"}})
		require.NoError(t, err)
		d, err = d.RemoveRule("r1")
		require.NoError(t, err)
		d, err = d.AddRule(policy.Rule{Level: driver.LevelAsk, Match: policy.Match{Label: "d"}})
		require.NoError(t, err)
		require.Equal(t, []string{"r2", "acme-keys", "r3"}, ids(d))
	})
	t.Run("set and remove", func(t *testing.T) {
		d, err := two.SetRule(policy.Rule{ID: "r2", Level: driver.LevelAsk, Match: b.Match})
		require.NoError(t, err)
		require.Equal(t, driver.LevelAsk, d.Rules[1].Level)
		require.Equal(t, driver.LevelHide, two.Rules[1].Level)
		_, err = d.SetRule(policy.Rule{ID: "r2", Level: "x", Match: b.Match})
		require.Error(t, err)
		d, err = d.SetRule(d.Rules[0])
		require.NoError(t, err, "the same again is no other rule")
		d, err = d.RemoveRule("r1")
		require.NoError(t, err)
		require.Equal(t, []string{"r2"}, ids(d))
		require.Equal(t, []string{"r1", "r2"}, ids(two))
	})
	t.Run("what is not there", func(t *testing.T) {
		var missing *policy.UnknownRuleError
		_, err := two.SetRule(policy.Rule{ID: "r9"})
		require.ErrorAs(t, err, &missing)
		_, err = two.RemoveRule("r9")
		require.EqualError(t, err, `there is no rule "r9"`)
	})
}

// selectable has one rule of each kind that selecting could touch.
func selectable() policy.Document {
	d := policy.New()
	d.Windows = []policy.Window{policy.WindowOf(console())}
	pin := func(m policy.Match) policy.Match { m.PID, m.Start, m.WindowID = 4242, 81237, 77; return m }
	d.Rules = []policy.Rule{
		{ID: "free", Level: driver.LevelHide, Match: policy.Match{App: "chromium", Label: "a"}},
		{ID: "pinned", Level: driver.LevelHide, Match: pin(policy.Match{App: "Chromium", Label: "b"})},
		{ID: "window", Level: driver.LevelAsk, Match: policy.Match{WindowID: 77, Label: "c"}},
		{ID: "start", Level: driver.LevelAsk, Match: policy.Match{Start: 81237, Label: "c"}},
		{ID: "green", Level: driver.LevelAllow, Match: pin(policy.Match{App: "chromium", Site: "https://acme.example", Label: "d"})},
		{ID: "app", Level: driver.LevelHide, Match: pin(policy.Match{App: "mail", Label: "e"})},
		{ID: "site", Level: driver.LevelHide, Match: pin(policy.Match{Site: "https://b.example", Label: "f"})},
		{ID: "elsewhere", Level: driver.LevelHide, Match: policy.Match{PID: 1, Label: "g"}},
	}
	return d
}

func TestPC10Select(t *testing.T) {
	next := policy.Window{PID: 5000, Start: 99, WindowID: 77, App: "chromium", Site: "https://acme.example", Title: "Next"}
	byID := func(d policy.Document) map[string]policy.Match {
		m := map[string]policy.Match{}
		for _, r := range d.Rules {
			m[r.ID] = r.Match
		}
		return m
	}
	t.Run("choosing replaces, and only pinned restrictive rules move", func(t *testing.T) {
		before := selectable()
		d, c, err := before.SelectWindow(next, false)
		require.NoError(t, err)
		require.Equal(t, []policy.Window{next}, d.Windows)
		require.Equal(t, policy.Change{Moved: []string{"pinned", "start"}}, c)
		got, was := byID(d), byID(before)
		require.Equal(t, policy.Match{App: "Chromium", Label: "b", PID: 5000, Start: 99, WindowID: 77}, got["pinned"])
		require.Equal(t, policy.Match{Label: "c", Start: 99}, got["start"])
		for _, id := range []string{"free", "window", "green", "app", "site", "elsewhere"} {
			require.Equal(t, was[id], got[id], id)
		}
		require.Equal(t, selectable(), before, "the old document stays as it was")
	})
	t.Run("adding keeps, and copies them", func(t *testing.T) {
		next.WindowID = 80
		d, c, err := selectable().SelectWindow(next, true)
		require.NoError(t, err)
		require.Equal(t, []policy.Window{policy.WindowOf(console()), next}, d.Windows)
		require.Equal(t, policy.Change{Copied: []string{"r1", "r2", "r3"}}, c)
		got := byID(d)
		require.Equal(t, byID(selectable())["pinned"], got["pinned"])
		require.Equal(t, policy.Match{App: "Chromium", Label: "b", PID: 5000, Start: 99, WindowID: 80}, got["r1"])
		require.Equal(t, policy.Match{WindowID: 80, Label: "c"}, got["r2"])

		again, c, err := d.SelectWindow(next, true)
		require.NoError(t, err)
		require.Equal(t, policy.Change{}, c, "copies are there already")
		require.Equal(t, d.Rules, again.Rules)
		require.Equal(t, d.Windows, again.Windows, "and the window is listed once")
	})
	t.Run("copies are not made twice", func(t *testing.T) {
		d := selectable()
		d.Rules = append(d.Rules, policy.Rule{ID: "copy", Level: driver.LevelAsk, Match: policy.Match{WindowID: 80, Label: "c"}})
		next.WindowID = 80
		_, c, err := d.SelectWindow(next, true)
		require.NoError(t, err)
		require.Equal(t, []string{"r1", "r2"}, c.Copied)
	})
	t.Run("a start that is not known gives way to process and window", func(t *testing.T) {
		next.Start, next.WindowID = 0, 80
		d, _, err := selectable().SelectWindow(next, false)
		require.NoError(t, err)
		require.Equal(t, policy.Match{Label: "c", PID: 5000, WindowID: 80}, byID(d)["start"])
	})
	t.Run("a green default becomes ask first", func(t *testing.T) {
		d := selectable()
		d.DefaultLevel = driver.LevelAllow
		d, c, err := d.SelectWindow(d.Windows[0], false)
		require.NoError(t, err)
		require.Equal(t, policy.Change{AsksNow: true}, c)
		require.Equal(t, driver.LevelAsk, d.DefaultLevel)
	})
	t.Run("what is no window is refused", func(t *testing.T) {
		_, _, err := selectable().SelectWindow(policy.Window{PID: -1, WindowID: 1, App: "x"}, false)
		require.ErrorContains(t, err, "-1 is no process")
	})
}
