package redact_test

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/redact"
)

func TestPC03NothingOfHiddenElementsIsLeft(t *testing.T) {
	const canary = "sk-CANARY-9f2a77c1b0"
	fields := map[string]func(*driver.Element){
		"label":   func(e *driver.Element) { e.Label = canary },
		"value":   func(e *driver.Element) { e.Value = canary },
		"text":    func(e *driver.Element) { e.Text = []string{"", canary} },
		"actions": func(e *driver.Element) { e.Actions = []string{canary} },
		"role":    func(e *driver.Element) { e.Role, e.RawRole = canary, canary },
		"token":   func(e *driver.Element) { e.Token = canary },
	}
	for name, set := range fields {
		for _, where := range []string{"itself", "child", "grandchild", "repeated by ancestors"} {
			t.Run(name+"/"+where, func(t *testing.T) {
				s := snapshot(t, element(-1, "page", 0, 0, 400, 300), element(0, "key", 10, 10, 50, 20),
					element(1, "child", 10, 10, 20, 20), element(2, "grandchild", 10, 10, 10, 10), element(0, "Save", 200, 200, 50, 20))
				targets := map[string][]int{"itself": {1}, "child": {2}, "grandchild": {3}, "repeated by ancestors": {0, 1}}
				for _, i := range targets[where] {
					set(&s.Elements[i])
				}
				s.Window.Title = "Admin Console: " + s.Elements[targets[where][0]].Label
				p := plan(s)
				p.Verdicts[1] = redact.Hide
				o, rows, err := redact.Redact(s, p, redact.Options{Nonce: 7})
				require.NoError(t, err)
				require.NotContains(t, all(o), canary)
				require.Equal(t, []int{0, 4}, rows)
				require.Equal(t, 1, o.Covered())
				flat(t, pixels(t, o), image.Rect(5, 5, 65, 35))
			})
		}
	}
}

func TestPC03KeptStringsThatHoldAHiddenTextAreDropped(t *testing.T) {
	for _, c := range []struct{ name, hidden, kept, want string }{
		{"whole", "sk-test-1", "sk-test-1", ""},
		{"within", "sk-test-1", "LOG: sk-test-1 used", ""},
		{"glued to letters", "sk-test-1", "keysk-test-1x", ""},
		{"other case", "sk-Test-1", "SK-TEST-1", ""},
		{"other white space", "9 Elm Street", "9\u00a0Elm \n Street", ""},
		{"invisible characters between", "sk-test-1", "sk-\u200btest\u00ad-1", ""},
		{"object characters between", "sk-test-1", "sk-\ufffctest-1", ""},
		{"four digits", "1234", "PIN is 1234", ""},
		{"word as a word", "Oslo", "trip to Oslo, soon", ""},
		{"word within a word", "Pass", "Password", "Password"},
		{"long word within a word", "monkeyhouse", "xmonkeyhousex", ""},
		{"ideographs", "秘密", "会社の秘密です", ""},
		{"short", "e2", "ref=e24", "ref=e24"},
		{"short word", "to", "to do", "to do"},
		{"letters beyond ASCII", "Ñandú", "un ñandú", ""},
		{"digits of another script", "١٢٣٤", "x١٢٣٤x", ""},
		{"part only", "sk-test-1", "sk-test-2", "sk-test-2"},
		{"secret begins another", "sk-test-12", "sk-test-1", "sk-test-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshot(t, element(-1, c.hidden, 10, 10, 50, 20), element(-1, c.kept, 200, 100, 50, 20), element(-1, "v", 200, 200, 50, 20))
			s.Elements[2].Value = c.kept
			p := plan(s)
			p.Verdicts[0] = redact.Hide
			o, _, err := redact.Redact(s, p, redact.Options{})
			require.NoError(t, err)
			label, _ := o.Element(0)
			value, _ := o.Element(1)
			require.Equal(t, c.want, label.Label)
			require.Equal(t, c.want, value.Value)
		})
	}
}

func TestPC03ManySecretsAreAllFound(t *testing.T) {
	var elements []driver.Element
	for i := range 400 {
		elements = append(elements, element(-1, fmt.Sprintf("key-%d", i*7), 10, 10, 50, 20))
	}
	for i := range 400 {
		elements = append(elements, element(-1, fmt.Sprintf("uses key-%d.", i*7), 200, 100, 50, 20))
	}
	s := snapshot(t, elements...)
	p := plan(s)
	for i := range 400 {
		p.Verdicts[i] = redact.Hide
	}
	o, _, err := redact.Redact(s, p, redact.Options{MaxElements: 1000})
	require.NoError(t, err)
	for e := range o.Elements() {
		require.Empty(t, e.Label)
	}
}

func TestPC13HiddenTitleIsNowhere(t *testing.T) {
	s := snapshot(t, element(-1, "tab: Admin Console", 0, 0, 50, 20), element(-1, "Save", 0, 50, 50, 20))
	p := plan(s)
	p.HideTitle = true
	o, _, err := redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	require.NotContains(t, all(o), "Admin")
	require.Equal(t, redact.Window{Ref: s.Window.Ref, App: "chromium", Bounds: window}, o.Window())
	require.Equal(t, redact.WindowOf(s.Window, true), o.Window())
	require.Equal(t, "Admin Console", redact.WindowOf(s.Window, false).Title)

	s.Window.Exe, s.Window.Title = "secret app", "x"
	s.Elements[0].Label = "secret app"
	p.Verdicts[0] = redact.Hide
	o, _, err = redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	require.NotContains(t, all(o), "secret app")
}

func TestPC49PlansThatDoNotFitAreErrors(t *testing.T) {
	s := snapshot(t, element(-1, "a", 0, 0, 50, 20), element(-1, "b", 0, 50, 50, 20))
	for name, change := range map[string]func(*redact.Plan){
		"zero":         func(p *redact.Plan) { *p = redact.Plan{} },
		"one less":     func(p *redact.Plan) { p.Verdicts = p.Verdicts[:1] },
		"one more":     func(p *redact.Plan) { p.Verdicts = append(p.Verdicts, redact.Show) },
		"levels less":  func(p *redact.Plan) { p.Levels = p.Levels[:1] },
		"levels alone": func(p *redact.Plan) { p.Verdicts = nil },
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(s)
			change(&p)
			o, rows, err := redact.Redact(s, p, redact.Options{})
			require.ErrorIs(t, err, redact.ErrWithheld)
			require.Nil(t, o)
			require.Nil(t, rows)
		})
	}
	_, _, err := redact.Redact(nil, redact.Plan{}, redact.Options{})
	require.ErrorIs(t, err, redact.ErrWithheld)
}

func TestPC49ZeroAndUnknownHide(t *testing.T) {
	s := snapshot(t, element(-1, "aaaa", 0, 0, 50, 20), element(-1, "bbbb", 0, 50, 50, 20), element(-1, "cccc", 0, 100, 50, 20),
		element(-1, "dddd", 0, 150, 50, 20), element(-1, "eeee", 0, 200, 50, 20))
	p := plan(s)
	p.Verdicts = []redact.Verdict{0, 200, redact.Show, redact.Show, redact.Show}
	p.Levels[2], p.Levels[3] = "", driver.LevelHide
	o, rows, err := redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	require.Equal(t, []int{4}, rows)
	require.Equal(t, 4, o.Covered())
	require.Zero(t, redact.Hide)
}

func TestPC05DescendantsGoAndAncestorsAreBare(t *testing.T) {
	s := snapshot(t,
		element(-1, "page with the key", 0, 0, 400, 300), // 0
		element(0, "box", 0, 0, 100, 100),                // 1
		element(1, "key", 10, 10, 50, 20),                // 2
		element(2, "popup outside", 300, 200, 50, 20),    // 3
		element(1, "sibling", 10, 60, 50, 20),            // 4
		element(0, "Save", 200, 10, 50, 20))              // 5
	s.Elements[1].Value = "value"
	p := plan(s)
	p.Levels[0], p.Levels[1] = driver.LevelHide, driver.LevelAllow
	p.Verdicts[0], p.Verdicts[2] = redact.Bare, redact.Hide
	o, rows, err := redact.Redact(s, p, redact.Options{Nonce: 0xabc})
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 4, 5}, rows)
	want := redact.Element{Token: "s00000abc:1", Index: 1, Parent: 0, Role: "button", Level: driver.LevelReadOnly}
	got, ok := o.Element(1)
	require.True(t, ok)
	require.Equal(t, want, got)
	require.Equal(t, 1, o.Covered())
	flat(t, pixels(t, o), image.Rect(295, 195, 355, 225))
	require.Equal(t, `window "Admin Console" of "chromium". Where no other is named: ask. 1 place is covered by the person; don't guess it.
[0] button (read only)
  [1] button (read only)
    [2] button "sibling"
  [3] button "Save"
`, o.Text())
}

func TestPC05TreesOutOfOrder(t *testing.T) {
	s := snapshot(t, element(2, "leaf", 0, 0, 50, 20), element(99, "lost", 0, 50, 50, 20), element(3, "hidden", 0, 100, 50, 20),
		element(-7, "root", 0, 0, 400, 300), element(5, "a loop", 200, 0, 50, 20), element(4, "its end", 200, 50, 50, 20))
	p := plan(s)
	p.Verdicts[2] = redact.Hide
	o, rows, err := redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	require.Equal(t, []int{1, 3, 4, 5}, rows)
	require.NotContains(t, all(o), "root")

	p.Verdicts[4] = redact.Hide
	_, rows, err = redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	require.Equal(t, []int{1, 3}, rows)
}

func TestPC06HiddenWithoutPlaceWithholds(t *testing.T) {
	page := element(-1, "page", 0, 0, 400, 300)
	page.Role, page.Web = driver.RoleDocument, true
	frameless := driver.Element{Parent: 0, Label: "CANARY", Web: true}
	for _, c := range []struct {
		name   string
		bounds image.Rectangle
		change func(*driver.Snapshot, *redact.Plan)
		ok     bool
	}{
		{"none", image.Rectangle{}, nil, false},
		{"sentinel", image.Rect(-32000, -32000, -31900, -31980), nil, false},
		{"far", image.Rect(1<<30, 0, 1<<30+5, 5), nil, false},
		{"turned", image.Rectangle{Min: image.Pt(9, 9), Max: image.Pt(3, 3)}, nil, false},
		{"honestly outside", image.Rect(100, 3000, 200, 3020), nil, true},
		{"partly outside", image.Rect(90, 40, 120, 60), nil, true},
		{"no picture either", image.Rectangle{}, func(s *driver.Snapshot, _ *redact.Plan) { s.Image = nil }, false},
		{"in a hidden page", image.Rectangle{}, func(_ *driver.Snapshot, p *redact.Plan) { p.Verdicts[0] = redact.Hide }, true},
		{"in a hidden page without a place", image.Rectangle{}, func(s *driver.Snapshot, p *redact.Plan) {
			p.Verdicts[0], s.Elements[0].Bounds = redact.Hide, image.Rectangle{}
		}, false},
		{"not of the web in a hidden page", image.Rectangle{}, func(s *driver.Snapshot, p *redact.Plan) {
			p.Verdicts[0], s.Elements[1].Web = redact.Hide, false
		}, false},
		{"in a hidden box that is no page", image.Rectangle{}, func(s *driver.Snapshot, p *redact.Plan) {
			p.Verdicts[0], s.Elements[0].Role = redact.Hide, driver.RoleGroup
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshot(t, page, frameless)
			s.Elements[1].Bounds = c.bounds
			p := plan(s)
			p.Verdicts[1] = redact.Hide
			if c.change != nil {
				c.change(s, &p)
			}
			o, _, err := redact.Redact(s, p, redact.Options{NoImage: s.Image == nil})
			if c.ok {
				require.NoError(t, err)
				require.NotContains(t, all(o), "CANARY")
				return
			}
			require.ErrorIs(t, err, redact.ErrWithheld)
			require.NotContains(t, err.Error(), "CANARY")
		})
	}
}

func TestPC06WebInAPlainBoxOfAHiddenPage(t *testing.T) {
	page := element(-1, "page", 0, 0, 400, 300)
	page.Role, page.Web = driver.RoleDocument, true
	box := element(0, "", 0, 0, 50, 50)
	s := snapshot(t, page, box, driver.Element{Parent: 1, Web: true})
	p := plan(s)
	p.Verdicts[0] = redact.Hide
	_, _, err := redact.Redact(s, p, redact.Options{})
	require.ErrorIs(t, err, redact.ErrWithheld, "what is not of the web may paint anywhere")
}

func TestPC34TokensAndRowsSpeakOfWhatIsVisible(t *testing.T) {
	s := snapshot(t, element(-1, "page", 0, 0, 400, 300), element(0, "Omitted", 0, 0, 50, 20), element(1, "Child", 0, 50, 50, 20),
		element(0, "Save", 0, 100, 50, 20))
	p := plan(s)
	p.Verdicts[1] = redact.Omit
	expires := time.Unix(1, 0)
	o, rows, err := redact.Redact(s, p, redact.Options{Nonce: 0xdeadbeef, Expires: expires})
	require.NoError(t, err)
	require.Equal(t, []int{0, 2, 3}, rows)
	for i, e := range slices.Collect(o.Elements()) {
		require.Equal(t, i, e.Index)
		require.Equal(t, driver.Token(fmt.Sprintf("s%08x:%d", uint32(0xdeadbeef), i)), e.Token)
		at, ok := o.Element(i)
		require.True(t, ok)
		require.Equal(t, e, at)
	}
	child, _ := o.Element(1)
	require.Equal(t, 0, child.Parent, "the nearest one that is listed")
	for _, i := range []int{-1, 3, 1 << 40} {
		_, ok := o.Element(i)
		require.False(t, ok)
	}
	require.NotContains(t, all(o), "s00000001:1")
	require.Equal(t, expires, o.Expires())
	require.Zero(t, o.Covered())
}

func TestPC44CountsAndFiltersSpeakOfWhatIsVisible(t *testing.T) {
	var elements []driver.Element
	for i := range 300 {
		elements = append(elements, element(-1, fmt.Sprintf("Row %d", i), 0, i, 50, 1))
	}
	s := snapshot(t, elements...)
	p := plan(s)
	for i := range 40 {
		p.Verdicts[i] = redact.Omit
	}
	o, rows, err := redact.Redact(s, p, redact.Options{NoImage: true})
	require.NoError(t, err)
	require.Len(t, rows, 250)
	require.Contains(t, o.Text(), "\n10 more; use query\n")

	p.Verdicts[0] = redact.Hide
	for query, want := range map[string]int{"row 29": 10, "ROW 299": 1, "Row 1\u200b0": 10, "Row 0": 0, "button": 0} {
		o, rows, err = redact.Redact(s, p, redact.Options{NoImage: true, Query: query})
		require.NoError(t, err)
		require.Len(t, rows, want, query)
		require.Equal(t, want == 0, strings.Contains(o.Text(), "nothing visible matches the query"), query)
	}
	o, rows, err = redact.Redact(s, p, redact.Options{NoImage: true, MaxElements: 2, Query: "row 1"})
	require.NoError(t, err)
	require.Equal(t, []int{100, 101}, rows)
	require.Contains(t, o.Text(), "\n98 more; use query\n")
	_, rows, err = redact.Redact(s, p, redact.Options{NoImage: true, MaxElements: 3})
	require.NoError(t, err)
	require.Equal(t, []int{40, 41, 42}, rows)
}

func TestTextQuotesWhatAPageSays(t *testing.T) {
	long := strings.Repeat("é", 301)
	s := snapshot(t, element(-1, "a\"]\n[7] button \\ \u202eevil\ufffc\U000e0041\ue000", 0, 0, 50, 20), element(-1, long, 0, 50, 50, 20),
		element(-1, " spaced \t out ", 0, 100, 50, 20), element(-1, "Notes", 0, 150, 50, 20), element(-1, "same", 0, 200, 50, 20),
		element(-1, "\xff\xfe", 0, 250, 50, 20))
	s.Elements[3].Role, s.Elements[3].Value = driver.RoleTextbox, "one\r\n  two\u2028three\x1b[0m\ttabs"
	s.Elements[4].Value, s.Elements[4].Selected, s.Elements[4].Disabled = "same", true, true
	p := plan(s)
	p.Levels[0], p.Levels[1] = driver.LevelAllow, driver.LevelReadOnly
	o, _, err := redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	require.Equal(t, `window "Admin Console" of "chromium". Where no other is named: ask.
[0] button "a\"] [7] button \\ evil" (allow)
[1] button "`+long[:600]+`"… (301 characters) (read only)
[2] button "spaced out"
[3] textbox "Notes" = "one\n  two\nthree[0m tabs"
[4] button "same" selected disabled
[5] button
`, o.Text())
	notes, _ := o.Element(3)
	require.Equal(t, "one\n  two\nthree[0m tabs", notes.Value)

	s.Window = driver.Window{Bounds: window}
	p.Default = ""
	o, _, err = redact.Redact(s, p, redact.Options{Query: "notes"})
	require.NoError(t, err)
	require.Equal(t, "window.\n[0] textbox \"Notes\" = \"one\\n  two\\nthree[0m tabs\" (ask)\n", o.Text())
}

func TestEX24CoveredPlacesAreCounted(t *testing.T) {
	s := snapshot(t, element(-1, "aaaa", 0, 0, 50, 20), element(0, "bbbb", 0, 0, 20, 20), element(-1, "cccc", 0, 100, 50, 20))
	p := plan(s)
	p.Verdicts[0], p.Verdicts[1], p.Verdicts[2] = redact.Hide, redact.Hide, redact.Hide
	o, _, err := redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	require.Equal(t, 2, o.Covered(), "a hidden place within a hidden one is no place of its own")
	require.Equal(t, "window \"Admin Console\" of \"chromium\". Where no other is named: ask. 2 places are covered by the person; don't guess them.\n", o.Text())
}

func TestRolesAreOfTheClosedSet(t *testing.T) {
	s := snapshot(t, element(-1, "a", 0, 0, 50, 20), element(-1, "b", 0, 50, 50, 20), element(-1, "c", 0, 100, 50, 20), element(-1, "d", 0, 150, 50, 20))
	s.Elements[1].Role, s.Elements[2].Role, s.Elements[3].Role = driver.RoleText, driver.RoleUnknown, "api key of ada"
	o, _, err := redact.Redact(s, plan(s), redact.Options{})
	require.NoError(t, err)
	var roles []string
	for e := range o.Elements() {
		roles = append(roles, e.Role)
	}
	require.Equal(t, []string{"button", "text", "unknown", "unknown"}, roles)
}

func TestPC03FullWidthCopyOfAHiddenTextIsDropped(t *testing.T) {
	s := snapshot(t, element(-1, "", 0, 0, 200, 100), element(0, "secret-42", 10, 10, 50, 10), element(0, "see ｓｅｃｒｅｔ－４２", 10, 40, 80, 10))
	p := plan(s)
	p.Verdicts[1] = redact.Hide
	o, _, err := redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	require.NotContains(t, all(o), "ｓｅｃｒｅｔ")
}
