package sight_test

import (
	"context"
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

func TestPC12WindowIsTheSameBeforeAndAfter(t *testing.T) {
	changes := map[string]func(*driver.Window){
		"moved":           func(w *driver.Window) { w.Bounds = w.Bounds.Add(image.Pt(5, 0)) },
		"another size":    func(w *driver.Window) { w.Bounds.Max.X++ },
		"another title":   func(w *driver.Window) { w.Title = "Admin Console (1)" },
		"another site":    func(w *driver.Window) { w.Site = "https://evil.example" },
		"another process": func(w *driver.Window) { w.Start++ },
		"another program": func(w *driver.Window) { w.Exe = "evil" },
		"another name":    func(w *driver.Window) { w.App = "Evil" },
	}
	p := rules(t, func(d *policy.Document) {
		d.Windows[0].Title, d.Windows[0].Start = "", 0
		d.Windows[0].App = "console"
	})
	for name, change := range changes {
		t.Run(name+", in the reading alone", func(t *testing.T) {
			d := newDesk(t, form()...)
			d.change(func(w *driver.Window) { w.Site = "https://acme.example" })
			change(&d.snapshot.Window)
			_, err := sight.Take(t.Context(), d, p, ref, sight.Options{})
			require.ErrorIs(t, err, sight.ErrWithheld)
			require.Equal(t, 3, d.readings)
		})
		t.Run(name+", at the end alone", func(t *testing.T) {
			d := newDesk(t, form()...)
			d.change(func(w *driver.Window) { w.Site = "https://acme.example" })
			old := d.windows[0]
			d.onList = func(n int, d *desk) error {
				if d.windows[0] = old; n%2 == 0 {
					change(&d.windows[0])
				}
				return nil
			}
			_, err := sight.Take(t.Context(), d, p, ref, sight.Options{})
			require.ErrorIs(t, err, sight.ErrWithheld)
			require.Equal(t, 6, d.lists)
		})
		t.Run(name+", once", func(t *testing.T) {
			d := newDesk(t, form()...)
			d.change(func(w *driver.Window) { w.Site = "https://acme.example" })
			old := d.windows[0]
			d.onList = func(n int, d *desk) error {
				if d.windows[0] = old; n == 2 {
					change(&d.windows[0])
				}
				return nil
			}
			_, err := sight.Take(t.Context(), d, p, ref, sight.Options{})
			require.NoError(t, err)
		})
	}
	t.Run("gone at the end", func(t *testing.T) {
		d := newDesk(t, form()...)
		d.onList = func(n int, d *desk) error {
			if n == 2 {
				d.windows = nil
			}
			return nil
		}
		_, err := sight.Take(t.Context(), d, p, ref, sight.Options{})
		require.ErrorIs(t, err, sight.ErrWindowChanged)
		require.ErrorIs(t, err, driver.ErrWindowGone)
	})
}

func TestPC12PartsThatDoNotBelongTogether(t *testing.T) {
	for name, change := range map[string]func(*desk){
		"picture of another place":  func(d *desk) { d.snapshot.Frame = d.snapshot.Frame.Add(image.Pt(900, 0)) },
		"elements of another place": func(d *desk) { d.snapshot.Elements[0].Bounds = image.Rect(-400, -300, 0, 0) },
		"elements from the window's corner": func(d *desk) {
			for i := range d.snapshot.Elements {
				d.snapshot.Elements[i].Bounds = d.snapshot.Elements[i].Bounds.Sub(image.Pt(100, 50))
			}
		},
		"no elements where rules exist": func(d *desk) { d.snapshot.Elements = nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, form()...)
			change(d)
			_, err := sight.Take(t.Context(), d, rules(t, nil, policy.Match{TextRegex: "never-[0-9]+"}), ref, sight.Options{})
			require.ErrorIs(t, err, sight.ErrWithheld)
		})
	}
	t.Run("no snapshot", func(t *testing.T) {
		_, err := sight.Take(t.Context(), nothing{newDesk(t)}, rules(t, nil), ref, sight.Options{})
		require.ErrorIs(t, err, sight.ErrWithheld)
	})
}

type nothing struct{ *desk }

func (nothing) Snapshot(context.Context, driver.WindowRef, driver.SnapshotOptions) (*driver.Snapshot, error) {
	return nil, nil
}

func TestPC10ExactWindows(t *testing.T) {
	other := driver.WindowRef{PID: 4242, ID: 78}
	for _, c := range []struct {
		name   string
		ref    driver.WindowRef
		change func(*desk)
		want   error
	}{
		{"placeholder", driver.WindowRef{}, nil, sight.ErrAmbiguous},
		{"process −1", driver.WindowRef{PID: -1, ID: 77}, nil, sight.ErrAmbiguous},
		{"window 0", driver.WindowRef{PID: 4242}, nil, sight.ErrAmbiguous},
		{"listed twice", ref, func(d *desk) { d.windows = append(d.windows, d.windows[0]) }, sight.ErrAmbiguous},
		{"not selected", other, func(d *desk) { d.change(func(w *driver.Window) { w.Ref = other }) }, sight.ErrNotSelected},
		{"unknown", other, nil, sight.ErrNotSelected},
		{"gone", ref, func(d *desk) { d.windows = nil }, sight.ErrWindowChanged},
		{"another process with its id", ref, func(d *desk) { d.change(func(w *driver.Window) { w.Start++ }) }, sight.ErrWindowChanged},
		{"another application", ref, func(d *desk) { d.change(func(w *driver.Window) { w.App, w.Exe = "Evil", "evil" }) }, sight.ErrWindowChanged},
		{"another title", ref, func(d *desk) { d.change(func(w *driver.Window) { w.Title = "Settings" }) }, sight.ErrWindowChanged},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, form()...)
			if c.change != nil {
				c.change(d)
			}
			look, err := sight.Take(t.Context(), d, rules(t, nil), c.ref, sight.Options{})
			require.ErrorIs(t, err, c.want)
			require.Nil(t, look)
			require.Zero(t, d.readings)
		})
	}
}

func TestPC10SitesThatOnlyTheReadingKnows(t *testing.T) {
	p := rules(t, func(d *policy.Document) { d.Windows[0].Site = "https://acme.example" })
	for name, c := range map[string]struct {
		site string
		want error
	}{
		"the same, retitled": {"https://acme.example", nil},
		"another":            {"https://evil.example", sight.ErrWindowChanged},
		"unknown":            {"", sight.ErrWindowChanged},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, form()...)
			d.change(func(w *driver.Window) { w.Title = "Orders (3)" })
			d.snapshot.Window.Site = c.site
			look, err := sight.Take(t.Context(), d, p, ref, sight.Options{})
			require.ErrorIs(t, err, c.want)
			if c.want == nil {
				require.Equal(t, c.site, look.Window.Site)
			}
		})
	}
}

func TestLookKnowsWhatOnlyTheListKnows(t *testing.T) {
	d := newDesk(t, form()...)
	d.windows[0].Site = "https://acme.example"
	d.snapshot.Window.Start, d.snapshot.Window.Exe, d.snapshot.Window.App, d.snapshot.Window.Z = 0, "", "", 0
	look, err := sight.Take(t.Context(), d, rules(t, nil), ref, sight.Options{})
	require.NoError(t, err)
	require.Equal(t, d.windows[0], look.Window)
}

func TestPC20WindowsNobodyMaySelect(t *testing.T) {
	for _, w := range []driver.Window{
		{Exe: "pc"}, {Exe: "pc-canvas.exe"}, {App: "Permission Canvas"}, {Exe: "keepassxc"}, {App: "KeePassXC.app"}, {Exe: "KeePass.exe"},
		{Exe: "i3lock"}, {App: "LockApp.exe"}, {Exe: "polkit-gnome-authentication-agent-1"}, {Exe: "polkit-some-new-agent"},
		{Exe: "pinentry-qt6"}, {Exe: "xdg-desktop-portal-gtk"}, {Exe: "consent.exe"}, {App: "1Password 9"}, {App: "Keychain Access"},
		{Exe: "xterm", Title: "Permission Canvas: watch"},
	} {
		reason, never := sight.NeverSelectable(w)
		require.True(t, never, "%+v", w)
		require.NotEmpty(t, reason)
	}
	for _, w := range []driver.Window{
		{}, {Exe: "chromium", Title: "Permission Canvas"}, {Exe: "xterm", Title: "bash"}, {Exe: "mousepad"}, {App: "PCManFM", Exe: "pcmanfm"},
	} {
		_, never := sight.NeverSelectable(w)
		require.False(t, never, "%+v", w)
	}
	d := newDesk(t, form()...)
	d.change(func(w *driver.Window) { w.Exe = "keepassxc" })
	p := rules(t, func(d *policy.Document) { d.Windows[0].App = "keepassxc" })
	for _, unselected := range []bool{false, true} {
		_, err := sight.Take(t.Context(), d, p, ref, sight.Options{Unselected: unselected})
		require.ErrorIs(t, err, sight.ErrNotSelected)
	}
	require.Zero(t, d.readings)
	require.True(t, sight.IsTerminal(driver.Window{App: "XTerm", Exe: "xterm"}))
	require.False(t, sight.IsTerminal(driver.Window{Exe: "mousepad"}))
	require.True(t, sight.IsBrowser(driver.Window{App: "Google Chrome"}))
	require.False(t, sight.IsBrowser(driver.Window{Exe: "mousepad"}))
}
