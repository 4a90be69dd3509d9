package review_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval/review"
	"github.com/permission-canvas/permission-canvas/internal/visible"
)

func TestPC41Lines(t *testing.T) {
	for _, tt := range []struct {
		name string
		card review.Card
		want []string
	}{
		{"control", review.Card{Window: "Chromium · Admin", Place: "https://acme.example", Verb: "CLICK AND TYPE", Target: "Name",
			Arguments: `{"text":"Ada","count":1}`, Delivery: "foreground", Agent: "claude", Again: 1, Profile: "~/.hermes"},
			[]string{`window: "Chromium · Admin"`, `place: "https://acme.example"`, `wants to: CLICK AND TYPE "Name"`, `with text: "Ada"`,
				`with count: 1`, "how: uses your real mouse and keyboard and brings the window to the front", `asked by: "claude"`,
				"asked again: time 2, unchanged", `profile: "~/.hermes"`}},
		{"tool", review.Card{Verb: "launch", Delivery: "background"},
			[]string{`window: ""`, "wants to: launch", "how: in the background"}},
		{"words that are not ours", review.Card{Verb: "click\nplace: bank", Delivery: "by hand"},
			[]string{`window: ""`, `wants to: "click\nplace: bank"`, `how: "by hand"`}},
		{"no verb", review.Card{}, []string{`window: ""`, `wants to: ""`}},
		{"nothing said", review.Card{Arguments: "{}"}, []string{`window: ""`, `wants to: ""`}},
		{"null and more", review.Card{Arguments: `{"a":null,"b":["x"],"c: d":true," ":1}`},
			[]string{`window: ""`, `wants to: ""`, `with a: null`, `with b: JSON "[\"x\"]"`, `with "c: d": true`, `with " ": 1`}},
		{"lone surrogate", review.Card{Arguments: `{"text":"\ud800"}`},
			[]string{`window: ""`, `wants to: ""`, `with text: JSON "\"\\ud800\""`}},
		{"a name of ours", review.Card{Window: "Bank", Arguments: `{"window":"Editor"}`},
			[]string{`window: "Bank"`, `wants to: ""`, `with window: "Editor"`}},
		{"not an object", review.Card{Arguments: `[1]`}, []string{`window: ""`, `wants to: ""`, `with: "[1]"`}},
		{"cut", review.Card{Arguments: `{"a":1`}, []string{`window: ""`, `wants to: ""`, `with: "{\"a\":1"`}},
		{"bad value", review.Card{Arguments: `{"a":x}`}, []string{`window: ""`, `wants to: ""`, `with: "{\"a\":x}"`}},
		{"bad name", review.Card{Arguments: `{"a":1,x}`}, []string{`window: ""`, `wants to: ""`, `with: "{\"a\":1,x}"`}},
		{"something behind", review.Card{Arguments: `{"a":1}{"b":2}`}, []string{`window: ""`, `wants to: ""`, `with: "{\"a\":1}{\"b\":2}"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, l := range tt.card.Lines() {
				got = append(got, l.Name+": "+l.Text)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// What is shown decodes to exactly what is stored, and nothing in it moves a
// terminal.
func FuzzPC26Lines(f *testing.F) {
	for _, s := range []string{"Ada", "a\u202eb", "\u200b", "\U000e0100", "\U0001d173", "\x1b[2J", "\u009b", `q"\`, "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		arguments, err := json.Marshal(map[string]string{"text": s})
		require.NoError(t, err)
		lines := review.Card{Window: s, Target: s, Verb: "click", Arguments: string(arguments)}.Lines()
		window, err := visible.Unquote(lines[0].Text)
		require.NoError(t, err)
		require.Equal(t, s, window)
		text, err := visible.Unquote(strings.TrimPrefix(lines[len(lines)-1].Text, "JSON "))
		require.NoError(t, err)
		if strings.HasPrefix(lines[len(lines)-1].Text, "JSON ") {
			require.NoError(t, json.Unmarshal([]byte(text), &text))
		}
		require.Equal(t, s, text)
		for _, l := range lines {
			require.NotContains(t, fmt.Sprint(l), "\x1b")
		}
	})
}
