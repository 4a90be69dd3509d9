package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func TestPC10(t *testing.T) {
	entry := policy.WindowOf(console())
	require.Equal(t, policy.Window{PID: 4242, Start: 81237, WindowID: 77, App: "chromium", Site: "https://acme.example", Title: "Admin Console"}, entry)
	for _, c := range []struct {
		name    string
		entry   func(*policy.Window)
		window  func(*driver.Window)
		state   policy.SelectionState
		reason  string
		unbound bool
	}{
		{"the same", nil, nil, policy.Exact, "", false},
		{"the same site may retitle itself", nil, func(w *driver.Window) { w.Title = "Saved (1)" }, policy.Exact, "", false},
		{"another site", nil, func(w *driver.Window) { w.Site = "https://pay.example" }, policy.Changed, "another site", false},
		{"the site is not known now", nil, func(w *driver.Window) { w.Site = "" }, policy.Exact, "", false},
		{"no site, another title", nil, func(w *driver.Window) { w.Site, w.Title = "", "x" }, policy.Changed, "another title, and no site to tell it by", false},
		{"no site now, and never a title", func(e *policy.Window) { e.Title = "" }, func(w *driver.Window) { w.Site = "" }, policy.Changed, "the site is not known now", false},
		{"never a site, same title", func(e *policy.Window) { e.Site = "" }, nil, policy.Exact, "", true},
		{"never a site, another title", func(e *policy.Window) { e.Site = "" }, func(w *driver.Window) { w.Title = "x" }, policy.Changed, "another title, and no site to tell it by", false},
		{"no site anywhere", func(e *policy.Window) { e.Site = "" }, func(w *driver.Window) { w.Site = "" }, policy.Exact, "", false},
		{"hand-written", func(e *policy.Window) { e.Start, e.Site, e.Title = 0, "", "" }, nil, policy.Exact, "", true},
		{"without a start", func(e *policy.Window) { e.Start = 0 }, nil, policy.Exact, "", true},
		{"a recycled process", nil, func(w *driver.Window) { w.Start++ }, policy.Changed, "another process", false},
		{"a process of unknown start", nil, func(w *driver.Window) { w.Start = 0 }, policy.Changed, "another process", false},
		{"a recycled id", nil, func(w *driver.Window) { w.Ref.PID++ }, policy.Changed, "another process", false},
		{"another application in the window", nil, func(w *driver.Window) { w.App, w.Exe = "mail", "mail" }, policy.Changed, "another application", false},
		{"an id of another application", nil, func(w *driver.Window) { w.App, w.Exe, w.Ref.PID = "mail", "mail", 1 }, policy.None, "", false},
		{"another window", nil, func(w *driver.Window) { w.Ref.ID++ }, policy.None, "", false},
		{"no window", func(e *policy.Window) {}, func(w *driver.Window) { w.Ref = driver.WindowRef{} }, policy.None, "", false},
		{"a negative process", nil, func(w *driver.Window) { w.Ref.PID = -1 }, policy.None, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, w := entry, console()
			if c.entry != nil {
				c.entry(&e)
			}
			if c.window != nil {
				c.window(&w)
			}
			d := policy.New()
			d.Windows = []policy.Window{e}
			got := compile(t, d).Selected(w)
			want := policy.Selection{State: c.state, Reason: c.reason, Unbound: c.unbound, Entry: e}
			if c.state == policy.None {
				want.Entry = policy.Window{}
			}
			require.Equal(t, want, got)
		})
	}
	t.Run("an exact entry counts before a changed one", func(t *testing.T) {
		old := entry
		old.PID = 1
		d := policy.New()
		d.Windows = []policy.Window{old, entry}
		require.Equal(t, policy.Exact, compile(t, d).Selected(console()).State)
		d.Windows = []policy.Window{old, old}
		require.Equal(t, "changed: another process", compile(t, d).Selected(console()).String())
	})
	t.Run("as text", func(t *testing.T) {
		require.Equal(t, "not selected", policy.Selection{}.String())
		require.Equal(t, "exact", policy.Selection{State: policy.Exact}.String())
	})
}

// TestBX02: several windows, each exact.
func TestBX02(t *testing.T) {
	other := console()
	other.Ref.ID, other.Title = 78, "Other"
	d := policy.New()
	d.Windows = []policy.Window{policy.WindowOf(console()), policy.WindowOf(other)}
	p := compile(t, d)
	require.Equal(t, "Admin Console", p.Selected(console()).Entry.Title)
	require.Equal(t, "Other", p.Selected(other).Entry.Title)
	other.Ref.ID = 79
	require.Equal(t, policy.None, p.Selected(other).State)
}

func TestPC14Coordinates(t *testing.T) {
	d := policy.New()
	d.Coordinates = []policy.Window{policy.WindowOf(console())}
	require.False(t, compile(t, d).Coordinates(console()), "not selected")
	d.Windows = d.Coordinates
	require.True(t, compile(t, d).Coordinates(console()))
	moved := console()
	moved.Site = "https://pay.example"
	require.False(t, compile(t, d).Coordinates(moved))
	d.Coordinates = nil
	require.False(t, compile(t, d).Coordinates(console()))
}
