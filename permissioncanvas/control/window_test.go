package control_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

func TestPC10ChoosingReplacesOrAdds(t *testing.T) {
	b := open(t)
	b.choose(t, b.console, false)
	b.choose(t, b.login, false)
	require.Equal(t, []driver.WindowRef{b.login}, selected(t, b))
	b.choose(t, b.browser, true)
	require.Equal(t, []driver.WindowRef{b.login, b.browser}, selected(t, b))
	doc, err := b.Rules()
	require.NoError(t, err)
	w := doc.Windows[1]
	require.Equal(t, 4310, w.PID)
	require.Equal(t, uint64(82950), w.Start)
	require.Equal(t, uint64(91), w.WindowID)
	require.Equal(t, "sim-browser", w.App)
	require.Equal(t, "https://acme.example", w.Site)
	require.Equal(t, "Orders - Acme", w.Title)
	b.choose(t, b.console, false)
	require.Equal(t, []driver.WindowRef{b.console}, selected(t, b))
	require.Len(t, b.records(t, "selected"), 4)
}

func selected(t *testing.T, b *bench) []driver.WindowRef {
	t.Helper()
	all, err := b.Windows(t.Context())
	require.NoError(t, err)
	var some []driver.WindowRef
	for _, w := range all {
		if w.Selected {
			some = append(some, w.Ref)
		}
	}
	return some
}

func TestPC10OnlyPinnedRestrictionsMove(t *testing.T) {
	b := open(t)
	b.choose(t, b.console, false)
	free := b.rule(t, b.console, control.LevelHide, "textbox", "Notes")
	green := b.rule(t, b.console, control.LevelAllow, "textbox", "Name")
	pinned := b.raw(t, control.LevelReadOnly, `{"label":"Delete","pid":4242,"window_id":77}`)

	s := b.choose(t, b.login, true)
	require.Contains(t, notes(s.Notes), "Copied for this window: r4.")
	s = b.choose(t, b.browser, false)
	require.Contains(t, notes(s.Notes), "Moved to this window: "+pinned.ID)
	doc, err := b.Rules()
	require.NoError(t, err)
	rules := map[string]control.Rule{}
	for _, r := range doc.Rules {
		rules[r.ID] = r
	}
	require.Equal(t, free, rules[free.ID])
	require.Equal(t, green, rules[green.ID])
	require.Equal(t, 4310, rules[pinned.ID].Match.PID)
}

func TestPC10AnotherProcessNeedsThePerson(t *testing.T) {
	b := open(t)
	b.choose(t, b.console, false)
	b.desktop.Relaunch(b.console)
	all, err := b.Windows(t.Context())
	require.NoError(t, err)
	for _, w := range all {
		require.False(t, w.Selected)
		if w.Ref == b.console {
			require.Equal(t, "another process", w.Changed)
		}
	}
	f, err := b.Forecast(t.Context())
	require.NoError(t, err)
	require.Empty(t, f.Windows)
	require.Contains(t, notes(f.Remains), "not the same any more (another process)")
	b.desktop.CloseWindow(b.console)
	f, err = b.Forecast(t.Context())
	require.NoError(t, err)
	require.Contains(t, notes(f.Remains), "is gone")
}

func TestPC10AmbiguousNamesPickNothing(t *testing.T) {
	b := open(t)
	for _, test := range []struct{ text, want, fault string }{
		{"Admin", "Admin Console", ""},
		{"sim-login", "Staff Login", ""},
		{"ORDERS - ａcme", "Orders - Acme", ""},
		{"4242:77", "Admin Console", ""},
		{"1", "Admin Console", ""},
		{"sim-", "", `3 windows fit "sim-"`},
		{"nothing like it", "", "no window fits"},
		{"4242:78", "", "no window is 4242:78"},
		{"4242:", "", "no window fits"},
		{"0", "", "no window 0"},
		{"-1", "", "no window -1"},
		{"4", "", "no window 4"},
		{"", "", "no window is selected"},
		{"\u200b", "", "name a window"},
		{"\x1b[31m", "", `\u{001B}[31m`},
	} {
		t.Run(test.text, func(t *testing.T) {
			w, err := b.Find(t.Context(), test.text)
			if test.fault != "" {
				require.ErrorContains(t, err, test.fault)
				require.Empty(t, w)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, w.Title)
		})
	}
	b.choose(t, b.login, false)
	w, err := b.Find(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, b.login, w.Ref)
	b.choose(t, b.console, true)
	_, err = b.Find(t.Context(), "")
	var choice *control.ChoiceError
	require.ErrorAs(t, err, &choice)
	require.Len(t, choice.Choices, 2)
}

func TestANumberMeansTheListThatWasRead(t *testing.T) {
	b := open(t)
	all, err := b.Windows(t.Context())
	require.NoError(t, err)
	second := all[1]
	_, err = b.desktop.Do(t.Context(), b.browser, driver.Raise{Window: b.browser})
	require.NoError(t, err)
	other := openIn(t, b.dir) // its desktop begins anew: the numbers come from the file
	_, err = other.desktop.Do(t.Context(), b.browser, driver.Raise{Window: b.browser})
	require.NoError(t, err)
	w, err := other.Find(t.Context(), "2")
	require.NoError(t, err)
	require.Equal(t, second.Ref, w.Ref, "an agent that raises windows does not change what a number means")
	require.NotEqual(t, 2, w.Number)

	other.desktop.Relaunch(second.Ref)
	_, err = other.Find(t.Context(), "2")
	require.ErrorContains(t, err, "gone")
	b.write(t, "listing.json", `{"version":1,"windows":[{"pid":1,"PID":2}]}`)
	_, err = other.Find(t.Context(), "1")
	require.ErrorContains(t, err, "list them again")
	require.NoError(t, os.Remove(filepath.Join(b.dir, "listing.json")))
	w, err = other.Find(t.Context(), "1")
	require.NoError(t, err)
	require.Equal(t, b.browser, w.Ref, "without a list it is the order of now")
}

func TestPC20NeverSelectable(t *testing.T) {
	at := driver.WindowRef{PID: 900, ID: 5}
	for _, test := range []struct {
		name   string
		window driver.Window
		never  string
		note   string
	}{
		{"the panel", driver.Window{Ref: at, Exe: "pc-canvas"}, "answers for you", ""},
		{"a terminal that runs ours", driver.Window{Ref: at, Exe: "xterm", Title: "Permission Canvas · watching"}, "answers for you", ""},
		{"a password manager", driver.Window{Ref: at, Exe: "keepassxc", Title: "Passwords"}, "passwords", ""},
		{"a screen locker", driver.Window{Ref: at, Exe: "i3lock"}, "lock screen", ""},
		{"polkit", driver.Window{Ref: at, Exe: "polkit-gnome-authentication-agent-1"}, "consent", ""},
		{"a window of this process", driver.Window{Ref: driver.WindowRef{PID: os.Getpid(), ID: 5}, Exe: "app"}, "where you answer", ""},
		{"a window of what started this process", driver.Window{Ref: driver.WindowRef{PID: os.Getppid(), ID: 5}, Exe: "editor"}, "where you answer", ""},
		{"no window", driver.Window{Exe: "ghost"}, "no process or number", ""},
		{"PC42/another terminal", driver.Window{Ref: at, Start: 1, Exe: "xterm", Title: "build"}, "", "command on your account"},
		{"an ordinary one", driver.Window{Ref: at, Start: 1, Exe: "mousepad", Title: "notes"}, "", "paused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := open(t)
			b.Attach(anotherDesktop{b.desktop, []driver.Window{test.window}})
			all, err := b.Windows(t.Context())
			require.NoError(t, err)
			w := all[3]
			if test.never == "" {
				require.Empty(t, w.Never)
				require.Contains(t, notes(b.choose(t, at, false).Notes), test.note)
				return
			}
			require.Contains(t, w.Never, test.never)
			_, err = b.Select(t.Context(), test.window.Ref, false)
			require.Error(t, err)
			doc, err := b.Rules()
			require.NoError(t, err)
			require.Empty(t, doc.Windows)
			require.True(t, b.State().NeverSetUp, "a refused choice pauses nobody")
		})
	}
}

func TestPC10AWindowListedTwiceIsNotChosen(t *testing.T) {
	b := open(t)
	b.Attach(anotherDesktop{b.desktop, []driver.Window{{Ref: b.console, Exe: "twin"}}})
	_, err := b.Select(t.Context(), b.console, false)
	var choice *control.ChoiceError
	require.ErrorAs(t, err, &choice)
}

func TestABrowserWithoutAPageIsSaid(t *testing.T) {
	b := open(t)
	chrome := driver.Window{Ref: b.login, Start: 81302, App: "sim-login", Exe: "chromium", Title: "Staff Login", Bounds: bounds(t, b, b.login)}
	b.Attach(renamed{b.desktop, chrome})
	s := b.choose(t, b.login, false)
	require.Contains(t, notes(s.Notes), "cannot be read")
	f, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	require.Contains(t, f.Windows[0].Problem, "restart the browser")
}

func TestAHandWrittenWindowIsBoundToTheLiveOne(t *testing.T) {
	b := open(t)
	b.write(t, profile.PolicyFile, `{"version": 1, "windows": [{"pid": 4310, "window_id": 91, "app": "sim-browser"}]}`)
	f, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, f.Windows, 1)
	doc, err := b.Rules()
	require.NoError(t, err)
	require.Equal(t, uint64(82950), doc.Windows[0].Start)
	require.Equal(t, "https://acme.example", doc.Windows[0].Site)
	before := len(b.records(t, "policy"))
	_, err = b.Resume(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, b.records(t, "policy"), before, "once")
}
