package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/permission-canvas/permission-canvas/internal/strictjson"
	"github.com/stretchr/testify/require"
)

type colour string

func (c *colour) UnmarshalText(b []byte) error {
	if s := string(b); s != "green" && s != "black" {
		return fmt.Errorf("colour %q: use green or black", s)
	}
	*c = colour(b)
	return nil
}

type refuses []int

func (*refuses) UnmarshalJSON([]byte) error { return errors.New("never") }

type base struct {
	ID   string `json:"id"`
	Note string `json:"note,omitempty"`
}

type match struct {
	Role   string `json:"role"`
	Web    *bool  `json:"web"`
	Within *match `json:"within"`
}

type rule struct {
	base
	Level colour `json:"level"`
	Match match  `json:"match"`
	Note  string `json:"note"`
}

type document struct {
	Version int               `json:"version"`
	Rules   []rule            `json:"rules"`
	Tiers   map[string]colour `json:"tiers"`
	Extra   any               `json:"extra"`
	Raw     json.RawMessage   `json:"raw"`
	Count   uint8             `json:"count"`
	Quoted  int               `json:"quoted,string"`
	Pair    [2]float64        `json:"pair"`
	Plain   bool
	Secret  string `json:"-"`
	hidden  int
}

func TestPC45Decode(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"everything", `{"version":1,"rules":[{"id":"r1","note":"n","level":"black","match":{"role":"entry","web":true,"within":{"role":"form"}}}],
			"tiers":{"launch":"green"},"extra":{"Any":{"thing":1}},"raw":{"X":[1]},"count":255,"quoted":"3","pair":[1,2.5],"Plain":true}`, ""},
		{"nothing", `{}`, ""},
		{"null is a missing key", `{"version":null,"rules":null,"extra":null,"raw":null}`, ""},
		{"unknown key", "{\n  \"version\": 1,\n  \"verion\": 1\n}", "line 3, column 3, at verion: unknown key"},
		{"wrong case", `{"Version":1}`, `line 1, column 2, at Version: unknown key, write "version"`},
		{"wrong case, within", `{"rules":[{},{"match":{"within":{"Role":""}}}]}`, `at rules[1].match.within.Role: unknown key, write "role"`},
		{"wrong case, untagged", `{"plain":true}`, `unknown key, write "Plain"`},
		{"wrong case, embedded", `{"rules":[{"ID":"r"}]}`, `unknown key, write "id"`},
		{"long s", "{\"ver\u017fion\":1}", "unknown key"},
		{"a field left out of JSON", `{"Secret":"x"}`, "unknown key"},
		{"unexported", `{"hidden":1}`, "unknown key"},
		{"twice", `{"version":1,"version":2}`, "key stands twice"},
		{"twice where types end", `{"extra":{"a":1,"A":2}}`, "at extra.A: key differs only by case"},
		{"beyond 2^53 where types end", `{"raw":[9007199254740993]}`, "at raw[0]: number beyond 2^53"},
		{"a text that its type refuses", "{\"rules\":[\n{\"level\":\"hide\"}]}", `line 2, column 10, at rules[0].level: colour "hide": use green or black`},
		{"a text in a map that its type refuses", `{"tiers":{"launch":"red"}}`, `at tiers.launch: colour "red"`},
		{"string for a number", `{"version":"1"}`, "line 1, column 12, at version: found string, expected a whole number"},
		{"fraction for an integer", `{"version":1.5}`, "at version: found number 1.5, expected a whole number"},
		{"too large for the field", `{"count":256}`, "at count: found number 256, expected a whole number, 0 or more"},
		{"list for an object", `{"rules":[[]]}`, "at rules[0]: found array, expected an object"},
		{"object for a list", `{"rules":{"id":1}}`, "at rules: found object, expected a list"},
		{"object for a text", `{"rules":[{"match":{"role":{}}}]}`, "at rules[0].match.role: found object, expected a string"},
		{"number for a bool", `{"Plain":1}`, "found number, expected true or false"},
		{"string for a float", `{"pair":["1"]}`, "at pair[0]: found string, expected a number"},
		{"a bad number in quotes", `{"quoted":"x"}`, "invalid use of ,string"},
		{"trailing", `{}{}`, "something follows the value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d document
			err := strictjson.Decode([]byte(tt.in), &d)
			if tt.want == "" {
				require.NoError(t, err)
				var plain document
				require.NoError(t, json.Unmarshal([]byte(tt.in), &plain))
				require.Equal(t, plain, d)
				require.Zero(t, d.hidden)
				return
			}
			require.ErrorContains(t, err, tt.want)
			var at *strictjson.Error
			require.ErrorAs(t, err, &at)
		})
	}
}

// Node holds itself.
type Node struct {
	*Node
	Name string `json:"name"`
}

func TestDecodeTarget(t *testing.T) {
	require.ErrorContains(t, strictjson.Decode([]byte(`1`), nil), "not a pointer")
	require.ErrorContains(t, strictjson.Decode([]byte(`1`), document{}), "not a pointer")
	require.ErrorContains(t, strictjson.Decode([]byte(`1`), (*document)(nil)), "not a pointer")
	var v any
	require.NoError(t, strictjson.Decode([]byte(`{"Any":["thing"]}`), &v))
	require.Equal(t, map[string]any{"Any": []any{"thing"}}, v)
	var c colour
	require.NoError(t, strictjson.Decode([]byte(`"green"`), &c))
	require.ErrorContains(t, strictjson.Decode([]byte(`"blue"`), &c), "line 1, column 1: colour")
	var refuser refuses
	require.ErrorContains(t, strictjson.Decode([]byte(`[{"x":1}]`), &refuser), "line 1, column 1: never")
	require.NoError(t, strictjson.Decode([]byte(`{"name":"x"}`), &Node{}))
	var list []match
	require.ErrorContains(t, strictjson.Decode([]byte(`[{"Role":1}]`), &list), "at [0].Role: unknown key")
}
