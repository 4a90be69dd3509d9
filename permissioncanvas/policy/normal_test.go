package policy_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func TestPC09Normal(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"case", "API Key", "api key"},
		{"white space", "  API \t\n\u00a0\u2003key\u3000", "api key"},
		{"embedded objects", "\uFFFCAPI\uFFFC key", "api key"},
		{"braille blank", "API\u2800key", "api key"},
		{"zero width", "A\u200bP\u200d\u2060I\ufeff", "api"},
		{"bidi", "\u202eAPI\u202c\u2066", "api"},
		{"tags and selectors", "API\U000e0041\ufe0f\U000e0100", "api"},
		{"fillers", "API\u3164\uffa0\u115f\u034f", "api"},
		{"soft hyphen", "A\u00adPI", "api"},
		{"controls", "A\x00PI\x7f\u0085key", "api key"},
		{"full width", "ＡＰＩ　ｋｅｙ", "api key"},
		{"ligatures", "oﬃce", "office"},
		{"sharp s", "STRAßE", "strasse"},
		{"kelvin and long s", "\u212aey\u017f", "keys"},
		{"composed and not", "Cafe\u0301", "café"},
		{"an invisible between", "Cafe\u200b\u0301", "café"},
		{"turkish", "İ", "i̇"},
		{"mathematical", "𝐀𝐏𝐈", "api"},
		{"not text", "a\xffb", "a\ufffdb"},
		{"other scripts are other letters", "АРІ", "арі"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, policy.Normal(c.in)) })
	}
}

// TestPC09NormalOnce: what is normal stays as it is, whatever it came from.
func TestPC09NormalOnce(t *testing.T) {
	for r := rune(0); r <= 0xE0FFF; r++ {
		if r == 0x30000 {
			r = 0xE0000 // nothing is assigned between
		}
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Tangut) && r%64 != 0 {
			continue // many and alike
		}
		for _, s := range []string{string(r), "a" + string(r) + "\u0301"} {
			if n := policy.Normal(s); n != policy.Normal(n) {
				t.Fatalf("%+q: %+q, then %+q", s, n, policy.Normal(n))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := policy.Normal(rapid.String().Draw(t, "s"))
		if policy.Normal(n) != n || strings.TrimSpace(n) != n {
			t.Fatalf("%+q", n)
		}
	})
}
