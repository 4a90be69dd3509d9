package policy_test

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func TestPC02Keys(t *testing.T) {
	for _, c := range []struct {
		name  string
		match policy.Match
		want  []int
	}{
		{"role", policy.Match{Role: "button"}, []int{save, blob, back}},
		{"role by the toolkit's word", policy.Match{Role: "Push Button"}, []int{save, blob, back}},
		{"role and label", policy.Match{Role: "button", Label: " SAVE\u200d "}, []int{save}},
		{"label", policy.Match{Label: "api  key"}, []int{box}},
		{"full-width label", policy.Match{Label: "ＳＡＶＥ"}, []int{save}},
		{"label pattern in any case", policy.Match{LabelRegex: "^sav"}, []int{save}},
		{"text among further strings", policy.Match{TextRegex: "of the customer$"}, []int{field}},
		{"text", policy.Match{TextRegex: "sk-[a-z0-9-]{10,}"}, []int{key}},
		{"value", policy.Match{ValueRegex: "^ada$"}, []int{field}},
		{"fingerprint", policy.Match{TextDigest: keyed(secret)}, []int{key}},
		{"fingerprint of another text", policy.Match{TextDigest: keyed("other")}, []int{}},
		{"page", policy.Match{Role: "button", InWebContent: yes()}, []int{save, blob}},
		{"browser", policy.Match{Role: "button", InWebContent: not()}, []int{back}},
		{"within", policy.Match{Role: "button", Within: &policy.Match{Label: "new CUSTOMER"}}, []int{save, blob}},
		{"within itself is not within", policy.Match{Label: "New customer", Within: &policy.Match{Label: "New customer"}}, []int{}},
		{"within a box in a page", policy.Match{Within: &policy.Match{Role: "group", Within: &policy.Match{Role: "document"}}}, []int{key}},
		{"app", policy.Match{Role: "password", App: "Chromium"}, []int{pin, blob}},
		{"another app", policy.Match{Role: "password", App: "mail"}, []int{}},
		{"site", policy.Match{Label: "Save", Site: "HTTPS://acme.example:443/"}, []int{save}},
		{"another site", policy.Match{Label: "Save", Site: "http://acme.example"}, []int{}},
		{"process", policy.Match{Label: "Save", PID: 4242, Start: 81237, WindowID: 77}, []int{save}},
		{"another process", policy.Match{Label: "Save", PID: 4243}, []int{}},
		{"another window", policy.Match{Label: "Save", WindowID: 78}, []int{}},
		{"another start", policy.Match{Label: "Save", Start: 5}, []int{}},
		{"title", policy.Match{Label: "Save", WindowTitle: "ADMIN console"}, []int{save}},
		{"title's pattern", policy.Match{Label: "Save", WindowTitleRegex: "console$"}, []int{save}},
		{"another title's pattern", policy.Match{Label: "Save", WindowTitleRegex: "shop"}, []int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, hidden(with(t, hide(c.match)), page()))
		})
	}
}

// TestPC09Patterns: a pattern's own letters compare loosely, too.
func TestPC09Patterns(t *testing.T) {
	for _, c := range []struct {
		pattern, label string
		want           bool
	}{
		{"^Straße$", "STRASSE", true},
		{"^Straße$", "ＳTRAßE", true},
		{"^strasse$", "Straße", true},
		{"^(ß\u200b)+$", "SSSS", true},
		{"^\u200b$", "x", false},
		{"ＡＫＩＡ[0-9]{4}", "akia1234", true},
		{"^[^a-z]+$", "ABC", true},
		{"(?-i:ABC)", "ABC", true},
		{"kelvin", "\u212aelvin", true},
		{"(?i)kelvin", "\u212aELVIN", true},
		{"secret|token|[0-9]", "a TOKEN", true},
		{"secret|token", "nothing", false},
		{"(one|two)+ (three)?", "TWO ", true},
		{"a|b|c|d|e|f|g|h|i", "I", true},
		{"x*", "", true},
		{"ab[0-9]+secret", "AB7Secret", true},
		{"secret[0-9]+a[0-9]|q", "SECRET7A8", true},
		{"ключ", "КЛЮЧ: 1", true},
		{"a b", "A \u00a0\u200bB", true},
	} {
		t.Run(c.pattern+" "+c.label, func(t *testing.T) {
			s := page()
			s.Elements[save].Label = c.label
			require.Equal(t, c.want, with(t, hide(policy.Match{LabelRegex: c.pattern})).Judge(s, nil).Verdicts[save].Hidden)
		})
	}
}

// TestPC02Roles: match.role takes a word of the closed set or the toolkit's.
func TestPC02Roles(t *testing.T) {
	for _, c := range []struct {
		name        string
		word        string
		role        driver.Role
		raw         string
		hides, lets bool
	}{
		{"closed set", "button", driver.RoleButton, "push button", true, true},
		{"toolkit", "push button", driver.RoleButton, "", true, true},
		{"another", "link", driver.RoleButton, "push button", false, false},
		{"unknown role", "button", driver.RoleUnknown, "blob", true, false},
		{"unknown word of an unknown role", "blob", driver.RoleUnknown, "Blob", true, false},
		{"unknown word beside a role", "blob", driver.RoleButton, "blob", true, true},
		{"unknown word, other raw word", "blob", driver.RoleButton, "push button", false, false},
		{"unknown word, no raw word", "blob", driver.RoleButton, "", true, false},
		{"text is static text", "text", driver.RoleText, "static", true, true},
		{"text may be a text field", "text", driver.RoleTextbox, "entry", true, false},
		{"raw word, other role", "push button", driver.RoleLink, "push button", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := page()
			s.Elements[save].Role, s.Elements[save].RawRole = c.role, c.raw
			v := with(t, hide(policy.Match{Role: c.word})).Judge(s, nil).Verdicts[save]
			require.Equal(t, c.hides, v.Hidden)
			v = with(t, live(policy.Match{Role: c.word})).Judge(s, nil).Verdicts[save]
			require.Equal(t, c.lets, v.Level == driver.LevelAllow)
		})
	}
}

// TestPC09Exact: green compares code points in every key.
func TestPC09Exact(t *testing.T) {
	for _, c := range []struct {
		name  string
		match policy.Match
		want  bool
	}{
		{"everything", policy.Match{}, true},
		{"label pattern", policy.Match{LabelRegex: "^Name$"}, true},
		{"label pattern, other case", policy.Match{LabelRegex: "^name$"}, false},
		{"text", policy.Match{TextRegex: "^Full name"}, true},
		{"text, other case", policy.Match{TextRegex: "^full name"}, false},
		{"value", policy.Match{ValueRegex: "^Ada$"}, true},
		{"value, other case", policy.Match{ValueRegex: "^ada$"}, false},
		{"page", policy.Match{InWebContent: yes()}, true},
		{"browser", policy.Match{InWebContent: not()}, false},
		{"within", policy.Match{Within: &policy.Match{Label: "New customer"}}, true},
		{"within, other case", policy.Match{Within: &policy.Match{Label: "new customer"}}, false},
		{"label, other case", policy.Match{Label: "name"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := live(c.match)
			v := with(t, r).Judge(page(), nil).Verdicts[field]
			require.Equal(t, c.want, v.Level == driver.LevelAllow)
		})
	}
	t.Run("a fingerprint cannot lift a stricter default", func(t *testing.T) {
		d := policy.New()
		d.DefaultLevel = driver.LevelReadOnly
		d.Rules = []policy.Rule{{ID: "r1", Level: driver.LevelAsk, Match: policy.Match{TextDigest: keyed("save")}}}
		require.Equal(t, driver.LevelReadOnly, compile(t, d).Judge(page(), keyed).Verdicts[save].Level)
	})
}

// TestPC02Unknown: what cannot be evaluated restricts.
func TestPC02Unknown(t *testing.T) {
	t.Run("no fingerprints at hand", func(t *testing.T) {
		p := with(t, hide(policy.Match{TextDigest: keyed("x")}))
		s := page()
		s.Elements[blob].Label = ""
		j := p.Judge(s, nil)
		require.True(t, j.Verdicts[save].Hidden)
		require.False(t, j.Verdicts[blob].Hidden, "no text, so not this one")
	})
	t.Run("values that nobody knows", func(t *testing.T) {
		p := with(t, hide(policy.Match{ValueRegex: "secret"}))
		s := page()
		s.Elements[field].Value = ""
		require.Empty(t, hidden(p, s))
		s.AllText = false
		require.Equal(t, []int{field, pin}, hidden(p, s))
		s.AllText, s.Elements[field].Label = true, "My Secret"
		require.Equal(t, []int{field}, hidden(p, s), "a field's label can be its value")
	})
	t.Run("ancestors that nobody knows", func(t *testing.T) {
		p := with(t, hide(policy.Match{Role: "button", Within: &policy.Match{Label: "New customer"}}))
		s := page()
		s.Elements[save].Parent, s.Elements[back].Parent = -1, -1
		s.Elements[blob].Role = driver.RoleLink
		require.Equal(t, []int{save}, hidden(p, s), "it could be inside; what is no part of the page could not")
		s.Elements[form].Web = false
		require.Equal(t, []int{save, back}, hidden(p, s))
		s.Elements[form].Label = ""
		require.Empty(t, hidden(p, s), "nothing it could be inside of")
		s.AllText = false
		require.Equal(t, []int{save, back}, hidden(p, s), "the box itself may be missing")
		s.Elements[save].Parent = 1 << 20
		require.Equal(t, []int{save, back}, hidden(p, s), "a parent that cannot be is none")
		r := live(policy.Match{Role: "button", Within: &policy.Match{Role: "form"}})
		require.Equal(t, driver.LevelAsk, with(t, r).Judge(s, nil).Verdicts[save].Level)
	})
}

// TestBX01Pieces: a text is one text, whatever it is cut into.
func TestBX01Pieces(t *testing.T) {
	rule := hide(policy.Match{TextRegex: `sk-[a-z0-9-]{10,}`})
	at := func(e driver.Element, x, y, w int) driver.Element {
		e.Bounds = image.Rect(x, y, x+w, y+16)
		return e
	}
	text := func(parent int, s string) driver.Element { return el(parent, driver.RoleText, s) }
	build := func(block driver.Role, rest ...driver.Element) *driver.Snapshot {
		return &driver.Snapshot{Window: console(), AllText: true,
			Elements: append([]driver.Element{el(-1, driver.RoleDocument, ""), el(0, block, "")}, rest...)}
	}
	for _, c := range []struct {
		name string
		s    *driver.Snapshot
		want []int
	}{
		{"side by side", build(driver.RoleParagraph,
			at(text(1, "Key: sk-te"), 0, 0, 80), at(text(1, "st-9f2a77"), 80, 0, 80), at(text(1, "(new)"), 170, 0, 40)), []int{2, 3}},
		{"in other letters", build(driver.RoleParagraph, text(1, "ＳＫ-te"), text(1, "st-9f2a77")), []int{2, 3}},
		{"with a link inside", build(driver.RoleParagraph,
			text(1, "sk-te"), el(1, driver.RoleLink, ""), text(3, "st-9f2a77"), el(1, driver.RoleImage, "key"), text(1, "c1b0")), []int{2, 4, 6}},
		{"over two lines of a paragraph", build(driver.RoleParagraph,
			at(text(1, "sk-te"), 300, 0, 80), at(text(1, "st-9f2a77"), 0, 18, 80)), []int{2, 3}},
		{"over two lines of a box of text", build(driver.RoleGroup,
			at(text(1, "sk-te"), 300, 0, 80), at(text(1, "st-9f2a77"), 0, 18, 80)), []int{2, 3}},
		{"over two lines of a box of other things", build(driver.RoleGroup,
			at(text(1, "sk-te"), 300, 0, 80), at(text(1, "st-9f2a77"), 0, 18, 80), el(1, driver.RoleButton, "")), []int{}},
		{"far apart on a line", build(driver.RoleParagraph,
			at(text(1, "sk-te"), 0, 0, 80), at(text(1, "st-9f2a77"), 300, 0, 80)), []int{}},
		{"far apart in a page", build(driver.RoleForm,
			at(text(1, "sk-te"), 0, 0, 80), at(text(1, "st-9f2a77"), 0, 18, 80)), []int{}},
		{"a control between them", build(driver.RoleParagraph,
			text(1, "sk-te"), el(1, driver.RoleButton, "x"), text(1, "st-9f2a77")), []int{}},
		{"two blocks", build(driver.RoleParagraph,
			text(1, "sk-te"), el(0, driver.RoleParagraph, ""), text(3, "st-9f2a77")), []int{}},
		{"no block known, side by side", build(driver.RoleParagraph,
			at(text(-1, "sk-te"), 0, 0, 80), at(text(-1, "st-9f2a77"), 80, 0, 80)), []int{2, 3}},
		{"no block known, two lines", build(driver.RoleParagraph,
			at(text(-1, "sk-te"), 0, 0, 80), at(text(-1, "st-9f2a77"), 0, 18, 80)), []int{}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, hidden(with(t, rule), c.s)) })
	}
	t.Run("words", func(t *testing.T) {
		s := build(driver.RoleParagraph, text(1, "correct"), text(1, "horse "), text(1, "battery"))
		require.Equal(t, []int{2, 3}, hidden(with(t, hide(policy.Match{TextRegex: "correct horse"})), s))
		require.Equal(t, []int{2, 3, 4}, hidden(with(t, hide(policy.Match{TextDigest: keyed("correct horse battery")})), s))
		require.Empty(t, hidden(with(t, hide(policy.Match{TextDigest: keyed("horse battery")})), s))
	})
}

func TestPC13(t *testing.T) {
	d := policy.New()
	d.HideWindowTitleRegex = "(?i)patient [a-z]+"
	p, s := compile(t, d), page()
	s.Window.Title = "Patient Smith"
	require.True(t, p.HideTitle(s.Window))
	require.False(t, p.HideTitle(console()))
	require.False(t, with(t).HideTitle(s.Window))
	require.True(t, p.MayHide(console()))
	require.Empty(t, hidden(p, s))

	s.Elements[frame].Label = "ＰＡＴＩＥＮＴ smith"
	s.Elements[document].Label = "Patient Smith - Records"
	s.Elements[key].Label = "Open: Patient Smith"
	j := p.Judge(s, nil)
	require.Equal(t, []int{frame, document, key}, hidden(p, s))
	require.True(t, j.Verdicts[frame].TitleOnly)
	require.True(t, j.Verdicts[document].TitleOnly)
	require.False(t, j.Verdicts[key].TitleOnly, "that text is painted")
	require.Equal(t, []string{"hide_window_title_regex"}, j.Verdicts[key].Rules)
	require.Empty(t, j.Unmatched)
	require.Empty(t, j.NeedsText)

	s.Elements[document].Value = "Patient Smith"
	require.False(t, p.Judge(s, nil).Verdicts[document].TitleOnly, "more than a name")
	s.AllText = false
	require.Equal(t, []string{"hide_window_title_regex"}, p.Judge(s, nil).NeedsText)

	d.Rules = []policy.Rule{{ID: "r1", Level: driver.LevelHide, Match: policy.Match{Role: "window"}}}
	require.False(t, compile(t, d).Judge(s, nil).Verdicts[frame].TitleOnly)
	require.Equal(t, []string{"r1", "hide_window_title_regex"}, compile(t, d).Judge(s, nil).Verdicts[frame].Rules)
}
