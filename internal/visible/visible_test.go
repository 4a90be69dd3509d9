package visible_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/stretchr/testify/require"
)

func TestPC26Quote(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", "", `""`},
		{"a label", "Save as…", `"Save as…"`},
		{"quote and backslash", `a "b" \n`, `"a \"b\" \\n"`},
		{"a text that closes its quotes", `Save" (allow)`, `"Save\" (allow)"`},
		{"scripts", "Übergröße 漢字 שלום नमस्ते ไทย 😀", `"Übergröße 漢字 שלום नमस्ते ไทย 😀"`},
		{"line breaks", "a\nb\r\nc\td", `"a\nb\r\nc\td"`},
		{"control", "\x00\x1b[31m\x7f", `"\u{0000}\u{001B}[31m\u{007F}"`},
		{"C1", "\u0085\u009b31m", `"\u{0085}\u{009B}31m"`},
		{"bidi", "pay \u202eeerf\u202c \u2066x\u2069\u061c", `"pay \u{202E}eerf\u{202C} \u{2066}x\u{2069}\u{061C}"`},
		{"zero width", "a\u200bb\u200cc\u200dd\u2060e\ufeff", `"a\u{200B}b\u{200C}c\u{200D}d\u{2060}e\u{FEFF}"`},
		{"soft hyphen", "a\u00adb", `"a\u{00AD}b"`},
		{"tags", "x\U000e0041\U000e007f", `"x\u{E0041}\u{E007F}"`},
		{"variation selectors", "❤\ufe0f\U000e0100", `"❤\u{FE0F}\u{E0100}"`},
		{"object", "\ufffc", `"\u{FFFC}"`},
		{"other spaces", "a\u00a0b\u2003c\u3000d\u2028", `"a\u{00A0}b\u{2003}c\u{3000}d\u{2028}"`},
		{"fillers", "\u3164\u115f\u1160\uffa0\u2800\u034f\u17b5", `"\u{3164}\u{115F}\u{1160}\u{FFA0}\u{2800}\u{034F}\u{17B5}"`},
		{"private use", "\ue000\U00100000", `"\u{E000}\u{100000}"`},
		{"unassigned", "\u0378\U0010ffff", `"\u{0378}\u{10FFFF}"`},
		{"invalid bytes", "a\xff\xed\xa0\x80", `"a\xFF\xED\xA0\x80"`},
		{"the replacement character itself", "\ufffd", `"` + "\ufffd" + `"`},
		{"a mark on the quote", "\u0338x", `"\u{0338}x"`},
		{"a mark on an escape", "\u200b\u0301", `"\u{200B}\u{0301}"`},
		{"a mark on an invalid byte", "\xff\u0301", `"\xFF\u{0301}"`},
		{"marks on a letter", "e\u0301\u0323", `"` + "e\u0301\u0323" + `"`},
		{"a stack of marks", "e" + strings.Repeat("\u0301", 6), `"e` + strings.Repeat("\u0301", 4) + `\u{0301}\u{0301}"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := visible.Quote(tt.in)
			require.Equal(t, tt.want, got)
			back, err := visible.Unquote(got)
			require.NoError(t, err)
			require.Equal(t, tt.in, back)
			require.Equal(t, got, visible.Text(tt.in, utf8.RuneCountInString(got)))
		})
	}
}

// Every code point there is, behind a letter and behind another code point:
// seen, and restored.
func TestPC26AllCodePoints(t *testing.T) {
	const block = 512
	for first := rune(0); first <= unicode.MaxRune; first += block {
		var alone, lettered strings.Builder
		for r := first; r < first+block; r++ {
			if !utf8.ValidRune(r) {
				continue // no text holds a surrogate
			}
			alone.WriteRune(r)
			lettered.WriteString("x" + string(r))
		}
		for _, s := range []string{alone.String(), lettered.String()} {
			q := visible.Quote(s)
			back, err := visible.Unquote(q)
			require.NoError(t, err, "%U", first)
			require.True(t, s == back, "%U", first)
			require.Empty(t, unseen(q), "%U", first)
		}
	}
}

// unseen names the first code point of q that no person sees.
func unseen(q string) string {
	for i, r := range q {
		switch {
		case r == utf8.RuneError && q[i] != 0xef:
			return "invalid byte"
		case r >= ' ' && r <= '~':
		case unicode.In(r, unicode.C, unicode.Z), !unicode.IsGraphic(r),
			unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
				unicode.Bidi_Control, unicode.Join_Control, unicode.White_Space),
			strings.ContainsRune("\u2800\ufffc\u3164\U0001d159\U00016fe4", r):
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

func TestPC26Text(t *testing.T) {
	tests := []struct {
		name string
		in   string
		max  int
		want string
	}{
		{"fits", "Save", 4, `"Save"`},
		{"cut", "Send to everybody", 14, `"Send to everyb"… (17 characters)`},
		{"cut at nothing", "Save", 0, `""… (4 characters)`},
		{"a negative limit is none", "Save", -1, `"Save"`},
		{"one character", "\u202e", 3, `""… (1 character)`},
		{"never within an escape", "ab\u202ecd", 9, `"ab"… (5 characters)`},
		{"with the escape", "ab\u202ecd", 10, `"ab\u{202E}"… (5 characters)`},
		{"counts characters, not bytes", "漢字漢字", 2, `"漢字"… (4 characters)`},
		{"an ellipsis of the page stays inside", "a… (3 characters)", 99, `"a… (3 characters)"`},
		{"nothing", "", 0, `""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, visible.Text(tt.in, tt.max))
		})
	}
}

func TestPC26UnquoteRefuses(t *testing.T) {
	for _, q := range []string{
		``, `"`, `x`, `'x'`, `"x`, `x"`, `"a"b"`, `"\"`, `"\q"`, `"\u202E"`, `"\u{202E"`, `"\u{}"`, `"\u{110000}"`,
		`"\u{D800}"`, `"\u{202e}"`, `"\u{0041}"`, `"\u{0202E}"`, `"\u{+202E}"`, `"\x"`, `"\xF"`, `"\xff"`, `"\x41"`, `"\xZZ"`,
		`"\u{000A}"`, "\"\u202e\"", "\"\n\"", "\"\xff\"", `"\'"`,
	} {
		_, err := visible.Unquote(q)
		require.ErrorIs(t, err, visible.ErrForm, "%q", q)
	}
}

func FuzzPC26(f *testing.F) {
	for _, s := range []string{"", "Save", `a"\b`, "\u202ex", "\xff\xfe", "e\u0301\u0301\u0301\u0301\u0301", `"\u{202E}"`, "\U000e0041"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		q := visible.Quote(s)
		back, err := visible.Unquote(q)
		require.NoError(t, err)
		require.Equal(t, s, back)
		require.Empty(t, unseen(q), "%q", q)
		if got, err := visible.Unquote(s); err == nil {
			require.Equal(t, s, visible.Quote(got))
		}
		cut := visible.Text(s, max)
		require.Empty(t, unseen(cut))
		if i := strings.LastIndex(cut, `"… (`); max >= 0 && i >= 0 && cut != q {
			part, err := visible.Unquote(cut[:i+1])
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(s, part))
			require.LessOrEqual(t, utf8.RuneCountInString(cut[1:i]), max)
		}
	})
}

func ExampleText() {
	fmt.Println(visible.Text("Pay \u202enow", 40))
	fmt.Println(visible.Text("Dear customer, your account has been chosen", 13))
	// Output:
	// "Pay \u{202E}now"
	// "Dear customer"… (43 characters)
}
