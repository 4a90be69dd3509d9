package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// doc completes a document with version 1; rule one with a rule's other keys.
func doc(rest string) string { return `{"version": 1, ` + rest + `}` }
func match(rest string) string {
	return doc(`"rules": [{"id": "a", "level": "black", "match": {` + rest + `}}]`)
}
func window(rest string) string {
	return doc(`"windows": [{"pid": 1, "window_id": 2, "app": "x"` + rest + `}]`)
}

// corpus is what parser and schema must agree on.
var corpus = []struct {
	text string
	ok   bool
}{
	{`{"version": 1}`, true}, {`{}`, false}, {`[]`, false}, {`null`, false}, {`{"version": 2}`, false}, {`{"version": "1"}`, false},
	{doc(`"other": 1`), false}, {doc(`"default_level": "green"`), true}, {doc(`"default_level": "hide"`), false},
	{doc(`"default_level": ""`), false}, {doc(`"default_level": null`), false},
	{doc(`"hide_window_title_regex": ""`), true}, {doc(`"hide_window_title_regex": "a"`), true}, {doc(`"hide_window_title_regex": 1`), false},
	{doc(`"strict": true`), true}, {doc(`"strict": "true"`), false}, {doc(`"tools_only": true`), true},
	{doc(`"real_mouse": "never"`), true}, {doc(`"real_mouse": ""`), false}, {doc(`"real_mouse": "no"`), false},
	{doc(`"discover": "all"`), true}, {doc(`"discover": "none"`), false}, {doc(`"discover": ""`), false},
	{doc(`"tiers": {"launch": "deny", "file-read": "auto"}`), true}, {doc(`"tiers": {"launch": "no"}`), false},
	{doc(`"tiers": {"": "ask"}`), false}, {doc(`"tiers": {"agentCursor": "ask"}`), true}, {doc(`"tiers": {"1": "ask"}`), false}, {doc(`"tiers": []`), false},
	{doc(`"denied_tools": ["click"]`), true}, {doc(`"denied_tools": [" "]`), false}, {doc(`"allowed_tools": [1]`), false},
	{doc(`"windows": []`), true}, {window(``), true}, {window(`, "start": 0, "site": "", "title": ""`), true},
	{window(`, "start": 5, "site": "file:///", "title": "T"`), true}, {window(`, "start": -1`), false},
	{window(`, "site": "acme"`), false}, {window(`, "other": 1`), false}, {window(`, "start": 9007199254740994`), false},
	{doc(`"windows": [{"pid": 0, "window_id": 2, "app": "x"}]`), false}, {doc(`"windows": [{"pid": 1, "window_id": 0, "app": "x"}]`), false},
	{doc(`"windows": [{"pid": 1, "window_id": 2, "app": ""}]`), false}, {doc(`"windows": [{"pid": 1, "window_id": 2}]`), false},
	{doc(`"windows": [{"pid": 1, "app": "x"}]`), false}, {doc(`"windows": [{"window_id": 1, "app": "x"}]`), false},
	{doc(`"coordinates": [{"pid": 1, "window_id": 4294967295, "app": "x"}]`), false},
	{doc(`"rules": [{"id": "a", "level": "blue", "expect": "here", "match": {"label": "x"}, "note": ""}]`), true},
	{doc(`"rules": [{"id": "a", "level": "blue", "expect": "", "match": {"label": "x"}}]`), false},
	{doc(`"rules": [{"id": "a", "level": "blue", "match": {"label": "x"}, "note": null}]`), false},
	{doc(`"rules": [{"id": "", "level": "blue", "match": {"label": "x"}}]`), false},
	{doc(`"rules": [{"id": "ä", "level": "blue", "match": {"label": "x"}}]`), false},
	{doc(`"rules": [{"id": "hide_window_title_regex", "level": "blue", "match": {"label": "x"}}]`), false},
	{doc(`"rules": [{"level": "blue", "match": {"label": "x"}}]`), false}, {doc(`"rules": [{"id": "a", "match": {"label": "x"}}]`), false},
	{doc(`"rules": [{"id": "a", "level": "blue"}]`), false},
	{match(``), false}, {match(`"label": "x"`), true}, {match(`"label": ""`), false}, {match(`"label": " "`), false}, {match(`"Label": "x"`), false},
	{match(`"role": "button"`), true}, {match(`"role": " "`), false}, {match(`"app": "x"`), true}, {match(`"app": "\t"`), false},
	{match(`"label_regex": "x"`), true}, {match(`"label_regex": ""`), false}, {match(`"text_regex": "x"`), true}, {match(`"value_regex": "x"`), true},
	{match(`"text_digest": "0123456789abcdef"`), true}, {match(`"text_digest": "secret"`), false},
	{match(`"site": "https://a.example"`), true}, {match(`"site": "HTTPS://a.example:8443/"`), true}, {match(`"site": "https://[::1]:8443"`), true},
	{match(`"site": "chrome-extension://abc"`), true}, {match(`"site": "https://a.example/x"`), false}, {match(`"site": "https://"`), false},
	{match(`"site": "https://:443"`), false}, {match(`"site": "https:///"`), false}, {match(`"site": "https://u@a.example"`), false}, {match(`"site": ""`), false},
	{match(`"pid": 1, "start": 2, "window_id": 3`), true}, {match(`"pid": 0`), false}, {match(`"pid": -1`), false}, {match(`"pid": 4294967296`), false},
	{match(`"pid": "1"`), false}, {match(`"start": 0`), false}, {match(`"window_id": 0`), false}, {match(`"window_id": -1`), false},
	{match(`"window_title": "x", "window_title_regex": "y"`), true}, {match(`"window_title": " "`), false},
	{match(`"in_web_content": false`), true}, {match(`"in_web_content": null`), false}, {match(`"in_web_content": 0`), false},
	{match(`"within": {"label": "x", "within": {"role": "group"}}`), true}, {match(`"within": {}`), false}, {match(`"within": {"app": "x"}`), false},
	{match(`"within": {"label": ""}`), false}, {match(`"within": null`), false},
	{doc(`"rules": [{"id": "a", "level": "green", "match": {"label": "x"}}]`), true},
	{doc(`"rules": [{"id": "a", "level": "green", "match": {"text_digest": "0123456789abcdef"}}]`), false},
	{doc(`"rules": [{"id": "a", "level": "green", "match": {"within": {"within": {"text_digest": "0123456789abcdef"}}}}]`), false},
}

func TestPC01Schema(t *testing.T) {
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(policy.Schema(), &s))
	schema, err := s.Resolve(nil)
	require.NoError(t, err)
	valid := func(t *testing.T, text []byte) error {
		var v any
		require.NoError(t, json.Unmarshal(text, &v))
		return schema.Validate(v)
	}
	for _, c := range corpus {
		t.Run(c.text, func(t *testing.T) {
			_, err := policy.Parse([]byte(c.text))
			require.Equal(t, c.ok, err == nil, "the parser says: %v", err)
			err = valid(t, []byte(c.text))
			require.Equal(t, c.ok, err == nil, "the schema says: %v", err)
		})
	}
	t.Run("the example and every document of ours", func(t *testing.T) {
		require.NoError(t, valid(t, example(t)))
		p, err := policy.Parse(example(t))
		require.NoError(t, err)
		require.NoError(t, valid(t, p.Encode()))
		require.NoError(t, valid(t, compile(t, policy.New()).Encode()))
	})
	t.Run("it names every key", func(t *testing.T) {
		for _, key := range []string{"hide_window_title_regex", "text_digest", "in_web_content", "window_title_regex", "allowed_tools"} {
			require.Contains(t, string(policy.Schema()), `"`+key+`"`)
		}
		require.True(t, strings.Contains(string(policy.Schema()), "draft/2020-12"))
	})
}
