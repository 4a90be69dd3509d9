package policy_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func example(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/example.json")
	require.NoError(t, err)
	return data
}

func TestPC01Parse(t *testing.T) {
	p, err := policy.Parse(example(t))
	require.NoError(t, err)
	require.Equal(t, driver.LevelAsk, p.DefaultLevel())
	require.Equal(t, policy.MouseAsk, p.RealMouse())
	require.Equal(t, policy.DiscoverSelected, p.Discover())
	require.Equal(t, map[string]string{"launch": "ask"}, p.Tiers())
	require.Equal(t, []string{"run_script"}, p.DeniedTools())
	require.Equal(t, []string{"click"}, p.AllowedTools())
	require.False(t, p.Strict())
	require.False(t, p.ToolsOnly())
	require.Equal(t, policy.WindowOf(console()).Title, p.Windows()[0].Title)
	require.Len(t, p.Rules(), 3)
	r, ok := p.Rule("r2")
	require.True(t, ok)
	require.Equal(t, policy.ExpectAnywhere, r.Expect)
	_, ok = p.Rule("r9")
	require.False(t, ok)

	again, err := policy.Parse(p.Encode())
	require.NoError(t, err)
	require.Equal(t, p.Hash(), again.Hash())
	require.Equal(t, p.Encode(), again.Encode())
	require.True(t, bytes.HasSuffix(p.Encode(), []byte("}\n")))
}

// TestPC01Defaults: what is left out is the least authority.
func TestPC01Defaults(t *testing.T) {
	p, err := policy.Parse([]byte(`{"version": 1}`))
	require.NoError(t, err)
	require.Equal(t, policy.New(), p.Document())
	require.Equal(t, compile(t, policy.New()).Hash(), p.Hash())
	golden, err := os.ReadFile("testdata/new.json")
	require.NoError(t, err)
	require.Equal(t, string(golden), string(p.Encode()))
}

func TestPC01Errors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"EX31 a word for a level", "{\"version\": 1, \"rules\": [\n  {\"id\": \"r1\", \"level\": \"hide\", \"match\": {\"label\": \"x\"}}]}",
			`line 2, column 25: rule r1: rules[0].level: level "hide": write "black" (Hide)`},
		{"EX31 a word for the default", `{"version": 1, "default_level": "ask"}`,
			`line 1, column 33: default_level: level "ask": write "yellow" (Ask first)`},
		{"no level", `{"version": 1, "rules": [{"id": "r1", "match": {"label": "x"}}]}`,
			`line 1, column 26: rule r1: rules[0].level: level "": use green, blue, yellow or black`},
		{"no version", `{}`, `line 1, column 1: version: 0 is not a version this program knows: it reads and writes 1`},
		{"a later version", `{"version": 2}`, `line 1, column 13: version: 2 is not a version this program knows: it reads and writes 1`},
		{"an unknown key", `{"version": 1, "levels": []}`, `line 1, column 16`},
		{"another case", `{"version": 1, "Rules": []}`, `line 1, column 16`},
		{"twice", `{"version": 1, "version": 1}`, `line 1, column 16`},
		{"nothing", ``, `line 1, column 1`},
		{"null", `{"version": 1, "strict": null}`, `line 1, column 26: strict: null says nothing: leave the key out`},
		{"an empty key of a match", `{"version": 1, "rules": [{"id": "r1", "level": "green", "match": {"app": "x", "label": ""}}]}`,
			`line 1, column 88: rules[0].match.label: empty: leave the key out, or say what it is`},
		{"an empty key within", `{"version": 1, "rules": [{"id": "r1", "level": "black", "match": {"within": {"role": ""}}}]}`,
			`rules[0].match.within.role: empty`},
		{"a zero in a match", `{"version": 1, "rules": [{"id": "r1", "level": "green", "match": {"pid": 0}}]}`,
			`rules[0].match.pid: 0 names nothing: leave the key out`},
		{"an empty setting", `{"version": 1, "real_mouse": "", "discover": null}`, `line 1, column 30: real_mouse: empty`},
		{"a mouse", `{"version": 1, "real_mouse": "yes"}`, `real_mouse: "yes": use ask, allow or never`},
		{"discovery", `{"version": 1, "discover": "none"}`, `discover: "none": use selected or all`},
		{"a tier", `{"version": 1, "tiers": {"launch": "allow"}}`, `line 1, column 36: tiers.launch: "allow": use deny, ask or auto`},
		{"a category", `{"version": 1, "tiers": {"La unch": "ask"}}`, `tiers: "La unch" is not the name of a category`},
		{"a denied tool", `{"version": 1, "denied_tools": ["a", " "]}`, `line 1, column 38: denied_tools[1]: names no tool`},
		{"an allowed tool", `{"version": 1, "allowed_tools": [""]}`, `allowed_tools[0]: names no tool`},
		{"a window's process", `{"version": 1, "windows": [{"pid": -1, "window_id": 1, "app": "x"}]}`, `windows[0].pid: -1 is no process`},
		{"a window's id", `{"version": 1, "coordinates": [{"pid": 1, "window_id": 4294967295, "app": "x"}]}`, `coordinates[0].window_id: 4294967295 is no window`},
		{"a window's application", `{"version": 1, "windows": [{"pid": 1, "window_id": 1}]}`, `windows[0].app: missing: name the application`},
		{"a window's site", `{"version": 1, "windows": [{"pid": 1, "window_id": 1, "app": "x", "site": "acme.example"}]}`,
			`windows[0].site: "acme.example": write an origin such as https://acme.example`},
		{"an id twice", `{"version": 1, "rules": [{"id": "a", "level": "blue", "match": {"label": "x"}}, {"id": "a", "level": "blue", "match": {"label": "y"}}]}`,
			`line 1, column 88: rule a: rules[1].id: "a" is taken by a rule above`},
		{"no id", `{"version": 1, "rules": [{"level": "blue", "match": {"label": "x"}}]}`, `rules[0].id: "": give the rule a short name`},
		{"a strange id", `{"version": 1, "rules": [{"id": "a b", "level": "blue", "match": {"label": "x"}}]}`, `rules[0].id: "a b"`},
		{"a reserved id", `{"version": 1, "rules": [{"id": "hide_window_title_regex", "level": "blue", "match": {"label": "x"}}]}`, `rules[0].id`},
		{"an expectation", `{"version": 1, "rules": [{"id": "a", "level": "blue", "expect": "now", "match": {"label": "x"}}]}`,
			`rule a: rules[0].expect: "now": use here or anywhere`},
		{"no match", `{"version": 1, "rules": [{"id": "a", "level": "blue"}]}`, `rule a: rules[0].match: names nothing`},
		{"an empty match", `{"version": 1, "rules": [{"id": "a", "level": "blue", "match": {}}]}`, `rule a: rules[0].match: names nothing`},
		{"an empty box", `{"version": 1, "rules": [{"id": "a", "level": "blue", "match": {"within": {}}}]}`, `rules[0].match.within: names nothing`},
		{"an app within", `{"version": 1, "rules": [{"id": "a", "level": "blue", "match": {"within": {"app": "x"}}}]}`, `rules[0].match.within: describes an ancestor`},
		{"a fingerprint that allows", `{"version": 1, "rules": [{"id": "a", "level": "green", "match": {"within": {"text_digest": "0123456789abcdef"}}}]}`,
			`rules[0].match: text_digest cannot allow`},
		{"a text for a fingerprint", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"text_digest": "my secret password"}}]}`,
			`rules[0].match.text_digest: not a fingerprint`},
		{"a blank role", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"role": " "}}]}`, `rules[0].match.role: blank`},
		{"a blank app", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"app": " "}}]}`, `rules[0].match.app: blank`},
		{"a label of nothing", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"label": "\u200b"}}]}`,
			`rules[0].match.label: holds nothing that can be seen`},
		{"a path for a site", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"site": "https://a.example/x"}}]}`, `rules[0].match.site: "https://a.example/x": write an origin`},
		{"a site without a host", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"site": "https://"}}]}`, `write an origin`},
		{"a site of a strange scheme", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"site": "1a://b"}}]}`, `write an origin`},
		{"a negative process", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"pid": -1}}]}`, `rules[0].match.pid: -1 is no process`},
		{"a negative window", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"window_id": -1}}]}`, `rules[0].match.window_id`},
		{"a placeholder window", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"window_id": 4294967295}}]}`, `rules[0].match.window_id: 4294967295 is no window`},
		{"a bad pattern", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"text_regex": "("}}]}`, `line 1, column 80: rule a: rules[0].match.text_regex: error parsing regexp`},
		{"a pattern that closes another", `{"version": 1, "rules": [{"id": "a", "level": "black", "match": {"text_regex": "a)(b"}}]}`, `rules[0].match.text_regex: error parsing regexp`},
		{"a bad pattern of titles", `{"version": 1, "hide_window_title_regex": "["}`, `line 1, column 43: hide_window_title_regex: error parsing regexp`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := policy.Parse([]byte(c.in))
			require.Nil(t, p)
			require.ErrorContains(t, err, c.want)
			var e *policy.Error
			require.ErrorAs(t, err, &e)
			require.Positive(t, e.Line)
			require.Positive(t, e.Col)
		})
	}
}

// TestPC01CompileErrors: what no JSON text can say, a Document can.
func TestPC01CompileErrors(t *testing.T) {
	bad := "\xff"
	deep := &policy.Match{Label: "x"}
	for range 9 {
		deep = &policy.Match{Within: deep}
	}
	rule := func(m policy.Match) func(*policy.Document) {
		return func(d *policy.Document) { d.Rules = []policy.Rule{{ID: "a", Level: driver.LevelHide, Match: m}} }
	}
	for _, c := range []struct {
		name   string
		change func(*policy.Document)
		want   string
	}{
		{"bytes that are no text", func(d *policy.Document) { d.HideWindowTitleRegex = bad }, "hide_window_title_regex: not valid UTF-8"},
		{"in a list", func(d *policy.Document) { d.DeniedTools = []string{"a", bad} }, "denied_tools[1]: not valid UTF-8"},
		{"in a map's key", func(d *policy.Document) { d.Tiers = map[string]string{bad: "ask"} }, "tiers: not valid UTF-8"},
		{"in a map's value", func(d *policy.Document) { d.Tiers = map[string]string{"a": bad} }, "tiers: not valid UTF-8"},
		{"in a box", rule(policy.Match{Within: &policy.Match{Label: bad}}), "rules[0].match.within.label: not valid UTF-8"},
		{"a long pattern", rule(policy.Match{TextRegex: strings.Repeat("a", 4097)}), "rule a: rules[0].match.text_regex: longer than 4096 bytes"},
		{"a pattern that grows", rule(policy.Match{TextRegex: strings.Repeat("\uFDFA{1000}", 200)}), "rules[0].match.text_regex: error parsing regexp: expression too large"},
		{"boxes in boxes", rule(*deep), "more than 8 within one another"},
		{"an unreadable number", rule(policy.Match{Start: 1<<53 + 1}), "rules[0].match.start: 9007199254740993 is beyond 2^53"},
		{"and in a window", func(d *policy.Document) {
			d.Windows = []policy.Window{{PID: 1, WindowID: 1, App: "x", Start: 1<<53 + 1}}
		}, "windows[0].start: 9007199254740993 is beyond 2^53"},
		{"too many rules", func(d *policy.Document) { d.Rules = make([]policy.Rule, 20_001) }, "rules: more than 20000"},
		{"a name too long", func(d *policy.Document) { d.Rules = []policy.Rule{{ID: strings.Repeat("a", 65)}} }, "rules[0].id"},
		{"no version", func(d *policy.Document) { d.Version = 0 }, "version: 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := policy.New()
			c.change(&d)
			p, err := policy.Compile(d)
			require.Nil(t, p)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestPC01Copies: nobody can change a policy that was compiled.
func TestPC01Copies(t *testing.T) {
	d := policy.New()
	d.Rules = []policy.Rule{{ID: "a", Level: driver.LevelHide, Match: policy.Match{InWebContent: yes(), Within: &policy.Match{Label: "x"}}}}
	p := compile(t, d)
	*d.Rules[0].Match.InWebContent = false
	d.Rules[0].Match.Within.Label = "y"
	got := p.Document()
	require.True(t, *got.Rules[0].Match.InWebContent)
	require.Equal(t, "x", got.Rules[0].Match.Within.Label)
	got.Rules[0].Match.Within.Label = "z"
	p.Encode()[0] = 'x'
	require.Equal(t, "x", p.Rules()[0].Match.Within.Label)
	require.Equal(t, byte('{'), p.Encode()[0])
}

func TestPC08RuleDigest(t *testing.T) {
	r := policy.Rule{ID: "a", Level: driver.LevelHide, Match: policy.Match{Label: "x"}}
	noted := r
	noted.Note = "mine"
	require.Equal(t, r.Digest(), noted.Digest())
	edited := r
	edited.Match.Label = "y"
	require.NotEqual(t, r.Digest(), edited.Digest())
}

func FuzzParse(f *testing.F) {
	f.Add(example(f))
	f.Add([]byte(`{"version": 1, "hide_window_title_regex": "<\u2028>", "rules": [{"id": "a", "level": "black", "match": {"within": {"label": "ſ\u212a"}, "in_web_content": false}}]}`))
	for _, c := range corpus {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := policy.Parse(data)
		if err != nil {
			var e *policy.Error
			require.ErrorAs(t, err, &e)
			require.Positive(t, e.Line)
			return
		}
		again, err := policy.Parse(p.Encode())
		require.NoError(t, err)
		require.Equal(t, p.Encode(), again.Encode())
		require.Equal(t, p.Hash(), again.Hash())
		require.Equal(t, p.Document(), again.Document())
		s := page()
		require.Len(t, p.Judge(s, keyed).Verdicts, len(s.Elements))
	})
}
