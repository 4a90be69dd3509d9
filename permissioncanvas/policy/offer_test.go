package policy_test

import (
	"image"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// TestBX06: restrictive rules belong to app and place, green ones to the live
// window besides.
func TestBX06(t *testing.T) {
	s := page()
	want := policy.Match{App: "chromium", Site: "https://acme.example", Role: "button", Label: "Save"}
	for _, level := range []driver.Level{driver.LevelReadOnly, driver.LevelAsk} {
		r, err := policy.RuleFor(level, s, save, nil)
		require.NoError(t, err)
		require.Equal(t, policy.Rule{Level: level, Match: want}, r)
	}
	r, err := policy.RuleFor(driver.LevelHide, s, save, nil)
	require.NoError(t, err)
	require.Equal(t, policy.Rule{Level: driver.LevelHide, Expect: policy.ExpectHere, Match: want}, r)
	require.Equal(t, []int{save}, hidden(with(t, r), s))

	r, err = policy.RuleFor(driver.LevelAllow, s, save, nil)
	require.NoError(t, err)
	require.Equal(t, live(policy.Match{Role: "button", Label: "Save"}), r)

	t.Run("after a restart hide holds and allow sleeps", func(t *testing.T) {
		h, err := policy.RuleFor(driver.LevelHide, s, field, nil)
		require.NoError(t, err)
		p := with(t, h, r)
		require.Equal(t, driver.LevelAllow, p.Judge(s, nil).Verdicts[save].Level)
		again := page()
		again.Window.Ref.PID, again.Window.Start = 5000, 99
		require.Equal(t, []int{field}, hidden(p, again))
		require.Equal(t, driver.LevelAsk, p.Judge(again, nil).Verdicts[save].Level)
	})
	t.Run("where no site is known the title is the place", func(t *testing.T) {
		s := page()
		s.Window.Site = ""
		r, err := policy.RuleFor(driver.LevelAllow, s, save, nil)
		require.NoError(t, err)
		require.Equal(t, "Admin Console", r.Match.WindowTitle)
		s.Window.Title = ""
		_, err = policy.RuleFor(driver.LevelAllow, s, save, nil)
		require.EqualError(t, err, "allowing needs a site or a window title")
	})
	t.Run("allow means one control", func(t *testing.T) {
		s := page()
		other := s.Elements[save]
		other.Parent = box
		s.Elements = append(s.Elements, other)
		r, err := policy.RuleFor(driver.LevelAllow, s, len(s.Elements)-1, nil)
		require.NoError(t, err)
		require.Equal(t, &policy.Match{Role: "group", Label: "API key"}, r.Match.Within)
		s.Elements = append(s.Elements, other)
		_, err = policy.RuleFor(driver.LevelAllow, s, len(s.Elements)-1, nil)
		require.ErrorContains(t, err, "several controls here have this role and name")
		s.Elements[back].Label = "Save"
		_, err = policy.RuleFor(driver.LevelAllow, s, back, nil)
		require.ErrorContains(t, err, "several controls", "and no box to tell it by")
	})
	for _, c := range []struct {
		name   string
		level  driver.Level
		change func(*driver.Snapshot)
		want   string
	}{
		{"a word for a level", "hide", func(*driver.Snapshot) {}, `write "black"`},
		{"unknown application", driver.LevelHide, func(s *driver.Snapshot) { s.Window.App, s.Window.Exe = "", "" }, "the application has no name"},
		{"unknown start", driver.LevelAllow, func(s *driver.Snapshot) { s.Window.Start = 0 }, "a known role, process and window"},
		{"no window", driver.LevelAllow, func(s *driver.Snapshot) { s.Window.Ref.ID = 0 }, "a known role, process and window"},
		{"no name", driver.LevelHide, func(s *driver.Snapshot) { s.Elements[save].Label = "\u200b" }, "it has no name to know it by"},
		{"a strange site", driver.LevelAllow, func(s *driver.Snapshot) { s.Window.Site = "acme" }, "write an origin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := page()
			c.change(s)
			_, err := policy.RuleFor(c.level, s, save, nil)
			require.ErrorContains(t, err, c.want)
		})
	}
	for _, i := range []int{-1, 99} {
		_, err := policy.RuleFor(driver.LevelHide, page(), i, nil)
		require.ErrorContains(t, err, "no element")
		require.Empty(t, policy.Offers(driver.LevelHide, page(), i, nil))
	}
}

// TestBX05: a rule never holds the secret.
func TestBX05(t *testing.T) {
	for _, c := range []struct {
		name  string
		level driver.Level
		elem  driver.Element
		holds bool
	}{
		{"static text", driver.LevelHide, el(box, driver.RoleText, "hunter two"), true},
		{"static text, asked for", driver.LevelAsk, el(box, driver.RoleText, "hunter two"), true},
		{"a paragraph", driver.LevelReadOnly, el(box, driver.RoleParagraph, "hunter two"), true},
		{"what may be text", driver.LevelHide, el(box, driver.RoleUnknown, "hunter two"), true},
		{"a field named by its value", driver.LevelHide, driver.Element{Role: driver.RoleTextbox, Label: "hunter", Value: "Hunter "}, true},
		{"a button that shows a key", driver.LevelHide, el(box, driver.RoleButton, "Copy "+secret), true},
		{"a button that shows a number", driver.LevelAllow, el(box, driver.RoleButton, "Card 4111 1111 1111 1111"), true},
		{"a heading", driver.LevelHide, el(box, driver.RoleHeading, "Smith"), true},
		{"a heading, not hidden", driver.LevelReadOnly, el(box, driver.RoleHeading, "Smith"), false},
		{"a button", driver.LevelHide, el(box, driver.RoleButton, "Save changes 2"), false},
		{"a product", driver.LevelHide, el(box, driver.RoleButton, "Windows11 version2024"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := page()
			s.Elements[key] = c.elem
			_, err := policy.RuleFor(c.level, s, key, keyed)
			if c.holds {
				require.ErrorIs(t, err, policy.ErrHoldsText)
				return
			}
			require.NoError(t, err)
		})
	}

	t.Run("three ways to hide a key, none of which holds it", func(t *testing.T) {
		offers := policy.Offers(driver.LevelHide, page(), key, keyed)
		place := policy.Match{App: "chromium", Site: "https://acme.example"}
		shape, container, fingerprint := place, place, place
		shape.TextRegex = "sk-test-[0-9a-z-]{7,}"
		container.Role, container.Label = "group", "API key"
		fingerprint.TextDigest = keyed(secret)
		require.Equal(t, []policy.Offer{
			{policy.OfferShape, policy.Rule{Level: driver.LevelHide, Expect: policy.ExpectAnywhere, Match: shape}, "sk-test-[0-9a-z-]{7,}"},
			{policy.OfferContainer, policy.Rule{Level: driver.LevelHide, Expect: policy.ExpectHere, Match: container}, "API key"},
			{policy.OfferFingerprint, policy.Rule{Level: driver.LevelHide, Expect: policy.ExpectAnywhere, Match: fingerprint}, "18 characters"},
		}, offers)
		for _, o := range offers {
			p := with(t, o.Rule)
			require.NotContains(t, string(p.Encode()), "9f2a77")
			require.NotEmpty(t, hidden(p, page()), o.Kind)
			require.Empty(t, p.Judge(page(), keyed).Unmatched)
		}
	})
	t.Run("a field's value", func(t *testing.T) {
		s := page()
		s.Elements[field].Value = secret
		offers := policy.Offers(driver.LevelHide, s, field, nil)
		require.Len(t, offers, 2)
		require.Equal(t, "sk-test-[0-9a-z-]{7,}", offers[0].Hint)
		s.Elements[field].Label, s.Elements[field].Value = "", ""
		require.Len(t, policy.Offers(driver.LevelHide, s, field, keyed), 1, "no text: only the box")
	})
	t.Run("nothing around it", func(t *testing.T) {
		s := page()
		s.Elements[key].Parent, s.Elements[key].Label = document, "hunter two"
		offers := policy.Offers(driver.LevelAsk, s, key, keyed)
		require.Len(t, offers, 1)
		require.Equal(t, policy.OfferFingerprint, offers[0].Kind)
	})
	require.Empty(t, policy.Offers(driver.LevelAllow, page(), key, keyed), "an offer never allows")
}

func TestBX05Shape(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{secret, "sk-test-[0-9a-z-]{7,}"},
		{"Key: " + secret + ".", "sk-test-[0-9a-z-]{7,}"},
		{"ghp_A1b2C3d4E5f6G7h8", "ghp_[0-9A-Za-z_]{12,}"},
		{"AKIAIOSFODNN7EXAMPLE12345", "[0-9A-Z]{18,}"},
		{"dGhpcyBpcyBhIHNlY3JldA+/==", "[0-9A-Za-z+/=]{19,}"},
		{"4111 1111 1111 1111", `\b[0-9]{4} [0-9]{4} [0-9]{4} [0-9]{4}\b`},
		{"Card 4111-1111-1111-1111 ok", `\b[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{4}\b`},
		{"123456, then 12345678", `\b[0-9]{8}\b`},
		{"ada@acme.example", `[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)+`},
		{"correct horse battery staple", ""},
		{"12345", ""},
		{"Windows11", ""},
		{"version2024", ""},
		{"9f2a77c1b0", ""},
		{"Administration", ""},
		{"abc-def-gh", ""},
		{"", ""},
		{"ünïcödé", ""},
		{"---a1b2c3d4e5f6g7h8", "[0-9a-z-]{16,}"},
		{"averylongprefix-a1b2c3d4e5f6", "[0-9a-z-]{21,}"},
	} {
		t.Run(c.text, func(t *testing.T) {
			got := policy.Shape(c.text)
			require.Equal(t, c.want, got)
			if got != "" {
				require.Regexp(t, regexp.MustCompile(got), c.text)
			}
		})
	}
	require.Equal(t, policy.Shape(secret), policy.Shape("ｓｋ-test-9f2a77c1b0"))
}

// TestBX05Bounds: a rule names a control, wherever it is.
func TestBX05Bounds(t *testing.T) {
	s := page()
	s.Elements[save].Bounds = image.Rectangle{}
	r, err := policy.RuleFor(driver.LevelAllow, s, save, nil)
	require.NoError(t, err, "a rule for a control needs no place")
	require.Equal(t, driver.LevelAllow, with(t, r).Judge(s, nil).Verdicts[save].Level)
}
