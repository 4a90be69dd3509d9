package policy_test

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

var (
	someLabels = []string{"Save", "save", "ＳＡＶＥ", "Delete", "API key", "API\u200b key", "", secret}
	someRoles  = []driver.Role{driver.RoleUnknown, driver.RoleButton, driver.RoleTextbox, driver.RoleText, driver.RoleGroup, driver.RolePassword}
	someWords  = []string{"", "button", "push button", "text", "group", "blob"}
	someSites  = []string{"", "https://acme.example", "https://b.example"}
	someRegex  = []string{"", "", "sk-[a-z0-9-]{5,}", "^save$", "a", "(?i)KEY|del"}
	restrict   = []driver.Level{driver.LevelReadOnly, driver.LevelAsk, driver.LevelHide}
	levels     = append([]driver.Level{driver.LevelAllow}, restrict...)
)

func draw[T any](t *rapid.T, from []T, name string) T { return rapid.SampledFrom(from).Draw(t, name) }

func drawMatch(t *rapid.T, within bool) policy.Match {
	m := policy.Match{
		Role: draw(t, someWords, "role"), Label: draw(t, someLabels, "label"),
		LabelRegex: draw(t, someRegex, "label_regex"), TextRegex: draw(t, someRegex, "text_regex"), ValueRegex: draw(t, someRegex, "value_regex"),
	}
	if rapid.Bool().Draw(t, "narrow") {
		m.LabelRegex, m.TextRegex, m.ValueRegex = "", "", ""
	}
	if within {
		if rapid.Bool().Draw(t, "web") {
			m.InWebContent = yes()
		}
		if rapid.Bool().Draw(t, "within") {
			w := drawMatch(t, false)
			m.Within = &w
		}
		if rapid.Bool().Draw(t, "scoped") {
			m.App, m.Site = draw(t, []string{"", "chromium", "mail"}, "app"), draw(t, someSites, "site")
			m.Start = draw(t, []uint64{0, 81237, 5}, "start")
			m.WindowTitle = draw(t, []string{"", "", "Admin Console", "ADMIN console"}, "title")
		}
	}
	if m == (policy.Match{}) {
		m.Label = "Save"
	}
	return m
}

func drawRule(t *rapid.T, id string, from []driver.Level) policy.Rule {
	r := policy.Rule{ID: id, Level: draw(t, from, "level"), Match: drawMatch(t, true)}
	if r.Level == driver.LevelAllow && rapid.IntRange(0, 3).Draw(t, "live") > 0 {
		m := live(r.Match).Match
		m.WindowTitle = ""
		r.Match = m
	}
	return r
}

func drawDocument(t *rapid.T, defaults []driver.Level) policy.Document {
	d := policy.New()
	d.DefaultLevel = draw(t, defaults, "default")
	if rapid.Bool().Draw(t, "selected") {
		d.Windows = []policy.Window{policy.WindowOf(console())}
	}
	if rapid.Bool().Draw(t, "title pattern") {
		d.HideWindowTitleRegex = "key"
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "rules") {
		d.Rules = append(d.Rules, drawRule(t, fmt.Sprintf("r%d", i), levels))
	}
	return d
}

func drawSnapshot(t *rapid.T) *driver.Snapshot {
	s := &driver.Snapshot{Window: console(), AllText: rapid.Bool().Draw(t, "all text")}
	s.Window.Site = draw(t, someSites, "window site")
	s.Window.Start = draw(t, []uint64{81237, 81237, 0}, "window start")
	for i := range rapid.IntRange(1, 8).Draw(t, "elements") {
		e := el(rapid.IntRange(-1, i+1).Draw(t, "parent"), draw(t, someRoles, "role"), draw(t, someLabels, "label"))
		e.Value = draw(t, []string{"", "", "save", secret}, "value")
		e.Web = rapid.Bool().Draw(t, "web")
		if rapid.Bool().Draw(t, "placed") {
			e.Bounds = image.Rect(0, 20*i, 50, 20*i+18)
		}
		s.Elements = append(s.Elements, e)
	}
	return s
}

func mustCompile(t *rapid.T, d policy.Document) *policy.Policy {
	p, err := policy.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// atLeast reports whether b is as strict as a, or stricter.
func atLeast(a, b driver.Level) bool { return driver.Stricter(a, b) == b }

// TestPC02AddingRestricts: one restrictive rule more never loosens a verdict.
// Where the default is stricter than ask first, it may replace the default it
// says something else than, and only that.
func TestPC02AddingRestricts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, s := drawDocument(t, levels), drawSnapshot(t)
		before := mustCompile(t, d).Judge(s, keyed)
		added := drawRule(t, "new", restrict)
		d.Rules = slices.Insert(d.Rules, rapid.IntRange(0, len(d.Rules)).Draw(t, "at"), added)
		after := mustCompile(t, d).Judge(s, keyed)
		for i, v := range before.Verdicts {
			w := after.Verdicts[i]
			exception := v.Default && atLeast(added.Level, v.Level) && !w.Default
			if !atLeast(v.Level, w.Level) && !exception {
				t.Fatalf("element %d: %+v, then %+v", i, v, w)
			}
			if exception && atLeast(driver.LevelAsk, v.Level) && v.Level != driver.LevelAsk && driver.Stricter(w.Level, added.Level) != w.Level {
				t.Fatalf("element %d: %+v is looser than the rule", i, w)
			}
			if (d.DefaultLevel == driver.LevelAsk || d.DefaultLevel == driver.LevelAllow) && !atLeast(v.Level, w.Level) {
				t.Fatalf("element %d: %+v, then %+v under %s", i, v, w, d.DefaultLevel)
			}
		}
		for _, id := range before.NeedsText {
			if !slices.Contains(after.NeedsText, id) {
				t.Fatalf("%s no longer needs text", id)
			}
		}
		for _, id := range before.Unmatched {
			if !slices.Contains(after.Unmatched, id) {
				t.Fatalf("%s is no longer missing", id)
			}
		}
	})
}

// TestPC02Order: the order of rules does not matter.
func TestPC02Order(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, s := drawDocument(t, levels), drawSnapshot(t)
		a := mustCompile(t, d).Judge(s, keyed)
		d.Rules = rapid.Permutation(d.Rules).Draw(t, "order")
		b := mustCompile(t, d).Judge(s, keyed)
		for i := range a.Verdicts {
			v, w := a.Verdicts[i], b.Verdicts[i]
			slices.Sort(v.Rules)
			slices.Sort(w.Rules)
			if v.Level != w.Level || v.Hidden != w.Hidden || v.TitleOnly != w.TitleOnly || v.Default != w.Default || !slices.Equal(v.Rules, w.Rules) {
				t.Fatalf("element %d: %+v, then %+v", i, v, w)
			}
		}
		for _, ids := range [][]string{a.Unmatched, b.Unmatched, a.NeedsText, b.NeedsText} {
			slices.Sort(ids)
		}
		if !slices.Equal(a.Unmatched, b.Unmatched) || !slices.Equal(a.NeedsText, b.NeedsText) {
			t.Fatalf("%+v, then %+v", a, b)
		}
	})
}

// TestPC09NeverGreen: what is unknown never allows.
func TestPC09NeverGreen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, s := drawDocument(t, levels), drawSnapshot(t)
		for i, v := range mustCompile(t, d).Judge(s, keyed).Verdicts {
			if v.Level != driver.LevelAllow {
				continue
			}
			if s.Elements[i].Role == driver.RoleUnknown || s.Window.Start == 0 {
				t.Fatalf("element %d: %+v", i, v)
			}
			if !v.Default && s.Window.Site == "" {
				t.Fatalf("element %d: %+v on an unknown site", i, v)
			}
			if v.Hidden || v.TitleOnly {
				t.Fatalf("element %d: %+v", i, v)
			}
		}
	})
}

// disguise changes s so that a person sees the same.
func disguise(t *rapid.T, s string) string {
	var b strings.Builder
	for _, r := range s {
		for rapid.IntRange(0, 2).Draw(t, "insert") == 0 {
			b.WriteString(draw(t, []string{"\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\ufe0f", "\U000e0061", "\u202e", "\x01"}, "invisible"))
		}
		switch {
		case r == ' ':
			b.WriteString(draw(t, []string{" ", "  ", "\u00a0", "\u3000", "\t", " \ufffc"}, "space"))
		case r > ' ' && r <= '~' && rapid.Bool().Draw(t, "wide"):
			b.WriteRune(r + 0xFEE0)
		case rapid.Bool().Draw(t, "upper"):
			b.WriteString(strings.ToUpper(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFD.String(b.String())
}

// TestPC09Rename: a page can lose a permission by a trick with a name, never a
// restriction.
func TestPC09Rename(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label := draw(t, []string{"Save", "API key", "Kündigen", "sk-abc def", "Straße", "x"}, "label")
		s := page()
		s.Elements[save].Label = disguise(t, label)
		quoted := "^" + label + "$"
		for _, m := range []policy.Match{
			{Label: label}, {Role: "button", Label: label}, {LabelRegex: quoted}, {TextRegex: quoted}, {TextDigest: keyed(policy.Normal(label))},
			{Role: "button", Label: disguise(t, label)},
		} {
			d := policy.New()
			r := hide(m)
			r.ID = "r"
			d.Rules = []policy.Rule{r}
			if !mustCompile(t, d).Judge(s, keyed).Verdicts[save].Hidden {
				t.Fatalf("%+q escapes %+v", s.Elements[save].Label, m)
			}
		}
		if s.Elements[save].Label == label {
			return
		}
		for _, m := range []policy.Match{{Label: label}, {LabelRegex: quoted}, {TextRegex: quoted}} {
			d := policy.New()
			r := live(m)
			r.ID = "r"
			d.Rules = []policy.Rule{r}
			if mustCompile(t, d).Judge(s, keyed).Verdicts[save].Level == driver.LevelAllow {
				t.Fatalf("%+q is allowed by %+v", s.Elements[save].Label, m)
			}
		}
	})
}

// TestPC33Found: every element is found again by its identity.
func TestPC33Found(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		for i := range s.Elements {
			id := policy.Identify(s, i)
			k, n := policy.Find(s, id)
			if n != id.Count || n == 1 && k != i || n > 1 && k >= 0 && s.Elements[k].Bounds != s.Elements[i].Bounds {
				t.Fatalf("element %d found as %d of %d", i, k, n)
			}
		}
	})
}
