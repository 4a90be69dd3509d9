package sim_test

import (
	"context"
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
)

// TestSave: the form does what its buttons say.
func TestSave(t *testing.T) {
	d := open(t, "Admin Console")
	require.Equal(t, driver.EffectConfirmed, d.typeText("Name", "Ada").Effect)
	d.click("Save")
	require.Equal(t, "Saved: Ada", d.Value(d.ref, "Status"))
	require.Equal(t, "Saved: Ada", find(d.read(), "Status").Value)
	d.click("Delete")
	require.Equal(t, "Deleted", d.Value(d.ref, "Status"))
	require.Empty(t, d.Value(d.ref, "Name"))
	require.Equal(t, []string{`type "Name" in "Admin Console"`, `click "Save" in "Admin Console"`,
		`click "Delete" in "Admin Console"`}, d.Events())

	require.Nil(t, find(d.read(), "sk-live-5b0e44d7a9"))
	d.click("Reveal key")
	require.NotNil(t, find(d.read(), "sk-live-5b0e44d7a9"))
	d.click("Reveal key")
	require.Nil(t, find(d.read(), "sk-live-5b0e44d7a9"))
	require.Equal(t, driver.EffectUnverifiable, d.click("API key").Effect)

	d = open(t, "Staff Login")
	d.click("Remember me")
	require.True(t, find(d.read(), "Remember me").Selected)
	d.click("Sign in")
	require.Equal(t, "Signed in as ada@acme.example", d.Value(d.ref, "Status"))
}

// TestPC31: why control characters in typed text are refused above. Each of
// these leaves the field it was meant for.
func TestPC31(t *testing.T) {
	t.Run("a tab types into the next field", func(t *testing.T) {
		d := open(t, "Staff Login")
		d.typeText("Account", "!\thunter2")
		require.Equal(t, "ada@acme.example!", d.Value(d.ref, "Account"))
		require.Equal(t, "correct-horse-7hunter2", d.Value(d.ref, "Password"))
		require.Equal(t, "Password", d.Focus(d.ref))
	})
	t.Run("a line break submits the form", func(t *testing.T) {
		d := open(t, "Admin Console")
		d.typeText("Name", "Ada\n")
		require.Equal(t, 1, d.Pressed("Save"))
		require.Equal(t, "Saved: Ada", d.Value(d.ref, "Status"))
		require.Contains(t, d.Events(), `press "Save" in "Admin Console"`)
	})
	t.Run("a line break stays in a field with lines", func(t *testing.T) {
		d := open(t, "Admin Console")
		d.typeText("Notes", "one\ntwo")
		require.Equal(t, "one\ntwo", d.Value(d.ref, "Notes"))
		require.Zero(t, d.Pressed("Save"))
		require.True(t, find(d.read(), "Notes").Multiline)
		require.False(t, find(d.read(), "Name").Multiline)
	})
	t.Run("tabs and a space press a button", func(t *testing.T) {
		d := open(t, "Admin Console")
		d.typeText("Notes", "\t\t ")
		require.Equal(t, 1, d.Pressed("Delete"))
	})
	t.Run("backspace erases", func(t *testing.T) {
		d := open(t, "Admin Console")
		d.typeText("Name", "Adb\ba\x07")
		require.Equal(t, "Ada", d.Value(d.ref, "Name"))
	})
	t.Run("alt and a letter press a button", func(t *testing.T) {
		d := open(t, "Admin Console")
		d.click("Name")
		d.press("alt", "d")
		require.Equal(t, 1, d.Pressed("Delete"))
		d.press("alt", "q")
		require.Equal(t, "Deleted", d.Value(d.ref, "Status"))
	})
}

// TestTyping: where text goes.
func TestTyping(t *testing.T) {
	d := open(t, "Admin Console")
	require.Equal(t, driver.EffectSuspectedNoop, d.do(driver.TypeText{Text: "lost"}).Effect, "nothing has the focus")
	d.click("Name")
	d.do(driver.TypeText{Text: "to the focus"})
	require.Equal(t, "to the focus", d.Value(d.ref, "Name"))
	require.True(t, find(d.read(), "Name").Focused)
	d.typeText("API key", "!") // not a control, so to the focus
	require.Equal(t, "to the focus!", d.Value(d.ref, "Name"))
	d.do(driver.Click{Target: d.token("Name"), Count: 2})
	d.typeText("Name", "instead")
	require.Equal(t, "instead", d.Value(d.ref, "Name"))
	require.Equal(t, driver.EffectUnverifiable, d.typeText("Save", "x").Effect)

	d = open(t, "Orders - Acme")
	token := d.token("Search orders")
	_, err := d.Do(t.Context(), d.ref, driver.TypeText{Target: token, Text: "x"})
	require.ErrorIs(t, err, driver.ErrBackgroundUnavailable, "pages take no typing in the background")
	d.do(driver.TypeText{Target: token, Text: "1002", Delivery: driver.Foreground})
	require.Equal(t, "1002", d.Value(d.ref, "Search orders"))
	d.typeText("Address", "/x")
	require.Equal(t, "https://acme.example/orders/x", d.Value(d.ref, "Address"))
}

// TestKeys: the editing keys, on a field that holds "abc" with the focus.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		keys [][]driver.Key
		want string
	}{
		{"letter", [][]driver.Key{{"d"}}, "abcd"},
		{"shifted letter", [][]driver.Key{{"shift", "D"}}, "abcD"},
		{"space", [][]driver.Key{{"space"}}, "abc "},
		{"backspace", [][]driver.Key{{"backspace"}}, "ab"},
		{"home and delete", [][]driver.Key{{"home"}, {"delete"}}, "bc"},
		{"delete at the end", [][]driver.Key{{"end"}, {"delete"}}, "abc"},
		{"backspace at the beginning", [][]driver.Key{{"home"}, {"backspace"}}, "abc"},
		{"left and letter", [][]driver.Key{{"left"}, {"x"}}, "abxc"},
		{"right at the end", [][]driver.Key{{"right"}, {"x"}}, "abcx"},
		{"select all and letter", [][]driver.Key{{"ctrl", "a"}, {"x"}}, "x"},
		{"select all and backspace", [][]driver.Key{{"ctrl", "a"}, {"backspace"}}, ""},
		{"copy and paste", [][]driver.Key{{"ctrl", "a"}, {"ctrl", "c"}, {"end"}, {"ctrl", "V"}}, "abcabc"},
		{"copy and paste by other keys", [][]driver.Key{{"cmd", "a"}, {"ctrl", "insert"}, {"end"}, {"shift", "insert"}}, "abcabc"},
		{"cut", [][]driver.Key{{"ctrl", "a"}, {"ctrl", "x"}}, ""},
		{"cut by other keys", [][]driver.Key{{"ctrl", "a"}, {"shift", "delete"}}, ""},
		{"cut of nothing", [][]driver.Key{{"ctrl", "x"}}, "abc"},
		{"tab and away", [][]driver.Key{{"tab"}, {"x"}}, "abc"},
		{"tab and back", [][]driver.Key{{"tab"}, {"shift", "tab"}, {"x"}}, "abcx"},
		{"escape", [][]driver.Key{{"Escape"}}, "abc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t, "Admin Console")
			d.Put(d.ref, "Name", "abc")
			d.click("Name")
			for _, k := range c.keys {
				d.press(k...)
			}
			require.Equal(t, c.want, d.Value(d.ref, "Name"))
		})
	}
	t.Run("enter submits", func(t *testing.T) {
		d := open(t, "Admin Console")
		d.press("enter")
		d.press("ctrl", "c")
		d.press("left")
		d.click("Name")
		d.press("enter")
		require.Equal(t, 1, d.Pressed("Save"))
	})
	t.Run("a password cannot be copied", func(t *testing.T) {
		d := open(t, "Staff Login")
		d.click("Password")
		d.press("ctrl", "a")
		d.press("ctrl", "c")
		d.press("ctrl", "x")
		require.Empty(t, d.Clipboard())
		require.Equal(t, "correct-horse-7", d.Value(d.ref, "Password"))
	})
}

// TestPopup: a list or menu is a window of its own, of the same process.
func TestPopup(t *testing.T) {
	d := open(t, "Admin Console")
	popup := d.click("Plan").Popup
	s := d.readWindow(popup)
	require.Equal(t, d.ref.PID, popup.PID)
	require.True(t, s.Window.SameProcess(d.read().Window))
	require.True(t, find(s, "Free").Selected)
	hit, err := d.WindowAt(t.Context(), s.Window.Bounds.Min)
	require.NoError(t, err)
	require.Equal(t, driver.Hit{Window: popup, Above: true}, hit)
	d.choose(popup, "Team")
	require.Equal(t, "Team", d.Value(d.ref, "Plan"))
	_, err = d.Snapshot(t.Context(), popup, driver.SnapshotOptions{})
	require.ErrorIs(t, err, driver.ErrWindowGone)

	for name, shut := range map[string]func(){
		"a click elsewhere": func() { d.click("Name") },
		"escape":            func() { d.press("escape") },
	} {
		popup = d.click("Plan").Popup
		require.False(t, popup.IsZero())
		shut()
		_, err = d.Snapshot(t.Context(), popup, driver.SnapshotOptions{})
		require.ErrorIs(t, err, driver.ErrWindowGone, name)
	}

	d.Put(d.ref, "Name", "abc")
	right := driver.Click{Target: d.token("Name"), Button: driver.ButtonRight}
	d.choose(d.do(right).Popup, "Select All")
	right.Target = d.token("Name")
	menu := d.do(right).Popup
	require.False(t, menu.IsZero())
	d.press("escape")
	d.press("ctrl", "a")
	d.press("ctrl", "c")
	require.Equal(t, "abc", d.Clipboard())
	d.click("Notes")
	d.do(driver.Click{Target: d.token("Notes"), Button: driver.ButtonMiddle})
	require.Equal(t, "abc", d.Value(d.ref, "Notes"))
	right.Target = d.token("Notes")
	d.choose(d.do(right).Popup, "Paste")
	require.Equal(t, "abcabc", d.Value(d.ref, "Notes"))
	right.Target = d.token("Save")
	require.Equal(t, driver.EffectUnverifiable, d.do(right).Effect)
	require.Equal(t, "Ready", d.Value(d.ref, "Status"))
}

// TestScroll: a wheel scrolls a page and changes a value control.
func TestScroll(t *testing.T) {
	d := open(t, "Orders - Acme")
	down := image.Pt(0, 3)
	secret := find(d.read(), "tok_live_82c1f0e9").Bounds
	require.True(t, secret.Intersect(d.read().Frame).Empty(), "below what the window shows")
	res := d.do(driver.Scroll{Target: d.token("Orders"), By: down})
	require.Equal(t, driver.EffectConfirmed, res.Effect)
	require.Equal(t, secret.Sub(image.Pt(0, 120)), find(d.read(), "tok_live_82c1f0e9").Bounds)
	d.do(driver.Scroll{Target: d.token("Orders"), By: image.Pt(0, 1000)})
	require.True(t, find(d.read(), "tok_live_82c1f0e9").Bounds.In(d.read().Frame))
	require.Equal(t, driver.EffectSuspectedNoop, d.do(driver.Scroll{Target: d.token("Orders"), By: down}).Effect)
	_, err := d.Do(t.Context(), d.ref, driver.Click{Target: d.token("Orders"), Delivery: driver.Foreground})
	require.ErrorIs(t, err, driver.ErrRefused, "the middle of it is not on the window")
	d.do(driver.Scroll{Target: d.token("Integration"), By: image.Pt(0, -1000), Delivery: driver.Foreground})
	require.Equal(t, secret, find(d.read(), "tok_live_82c1f0e9").Bounds)

	d.do(driver.Scroll{Target: d.token("Discount"), By: down})
	require.Equal(t, "13", d.Value(d.ref, "Discount"))
	require.Equal(t, driver.EffectSuspectedNoop, d.do(driver.Scroll{Target: d.token("Back"), By: down}).Effect)
	d = open(t, "Admin Console")
	d.do(driver.Scroll{Target: d.token("Plan"), By: image.Pt(0, 1)})
	require.Equal(t, "Team", d.Value(d.ref, "Plan"))
}

// TestSetValue: by accessibility, no key is pressed and no focus moves.
func TestSetValue(t *testing.T) {
	d := open(t, "Admin Console")
	d.click("Notes")
	d.do(driver.SetValue{Target: d.token("Name"), Value: "a\tb\n"})
	require.Equal(t, "a\tb\n", d.Value(d.ref, "Name"))
	require.Equal(t, "Notes", d.Focus(d.ref))
	require.Zero(t, d.Pressed("Save"))
	d.do(driver.SetValue{Target: d.token("Notes"), Value: "xy"})
	d.do(driver.TypeText{Text: "z"})
	require.Equal(t, "xyz", d.Value(d.ref, "Notes"))
	d.do(driver.SetValue{Target: d.token("Plan"), Value: "Enterprise"})
	require.Equal(t, "Enterprise", d.Value(d.ref, "Plan"))
	d.ref = d.Window("Orders - Acme")
	d.do(driver.SetValue{Target: d.token("Discount"), Value: "55"})
	require.Equal(t, "55", d.Value(d.ref, "Discount"))
}

// TestRefused: what cannot be done is refused before anything is.
func TestRefused(t *testing.T) {
	d := open(t, "Admin Console")
	login := d.Window("Staff Login")
	s := d.read()
	save, name, plan := driver.Token(find(s, "Save").Token), driver.Token(find(s, "Name").Token), driver.Token(find(s, "Plan").Token)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		action driver.Action
		want   error
	}{
		{"nothing", t.Context(), nil, driver.ErrUnsupported},
		{"drag", t.Context(), driver.Drag{Window: d.ref}, driver.ErrUnsupported},
		{"unknown button", t.Context(), driver.Click{Target: save, Button: "fourth"}, driver.ErrRefused},
		{"too many clicks", t.Context(), driver.Click{Target: save, Count: 4}, driver.ErrRefused},
		{"negative clicks", t.Context(), driver.Click{Target: save, Count: -1}, driver.ErrRefused},
		{"click by air mail", t.Context(), driver.Click{Target: save, Delivery: "air mail"}, driver.ErrRefused},
		{"type by air mail", t.Context(), driver.TypeText{Target: name, Text: "x", Delivery: "air mail"}, driver.ErrRefused},
		{"set by air mail", t.Context(), driver.SetValue{Target: name, Value: "x", Delivery: "air mail"}, driver.ErrRefused},
		{"scroll by air mail", t.Context(), driver.Scroll{Target: plan, By: image.Pt(0, 1), Delivery: "air mail"}, driver.ErrRefused},
		{"keys by air mail", t.Context(), driver.PressKeys{Window: d.ref, Keys: []driver.Key{"a"}, Delivery: "air mail"}, driver.ErrRefused},
		{"value of a button", t.Context(), driver.SetValue{Target: save, Value: "x"}, driver.ErrRefused},
		{"no such choice", t.Context(), driver.SetValue{Target: plan, Value: "Gold"}, driver.ErrRefused},
		{"no keys", t.Context(), driver.PressKeys{Window: d.ref}, driver.ErrRefused},
		{"unknown key", t.Context(), driver.PressKeys{Window: d.ref, Keys: []driver.Key{"f99"}}, driver.ErrRefused},
		{"unknown modifier", t.Context(), driver.PressKeys{Window: d.ref, Keys: []driver.Key{"hyper", "a"}}, driver.ErrRefused},
		{"keys elsewhere", t.Context(), driver.PressKeys{Window: login, Keys: []driver.Key{"a"}}, driver.ErrRefused},
		{"raise elsewhere", t.Context(), driver.Raise{Window: login}, driver.ErrRefused},
		{"ended context", ended, driver.Click{Target: save}, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := d.Do(c.ctx, d.ref, c.action)
			require.ErrorIs(t, err, c.want)
			require.ErrorIs(t, err, driver.ErrNoEffect)
			require.Empty(t, d.Events())
		})
	}
}
