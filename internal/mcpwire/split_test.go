package mcpwire_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/mcpwire"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
)

func TestSplit(t *testing.T) {
	members, err := mcpwire.Split([]byte(` { "a" : 1 , "b":"x\"},{\\" ,"c":[1,{"d":"]"}], "d":null,"e":{} ,"f":-1.5e3} `))
	require.NoError(t, err)
	got := map[string]string{}
	for _, m := range members {
		got[m.Key] = string(m.Value)
	}
	require.Equal(t, map[string]string{
		"a": "1", "b": `"x\"},{\\"`, "c": `[1,{"d":"]"}]`, "d": "null", "e": "{}", "f": "-1.5e3",
	}, got)
	require.Equal(t, "null", string(mcpwire.Get(members, "d")))
	require.Nil(t, mcpwire.Get(members, "D"))
}

func TestSplitRefusesWhatItCannotTakeApart(t *testing.T) {
	for _, text := range []string{"", " ", "1", `"x"`, "null", "{", "[", `{"a"`, `{"a":`, `{"a":1`, `{"a":"x`, `{1:2}`, `{"a" 1}`, `["\"]`} {
		_, err := mcpwire.Split([]byte(text))
		require.ErrorIs(t, err, mcpwire.ErrGarbage, "%q", text)
	}
}

// FuzzSplit compares with the standard library on every text that is strict.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[{}]}`, `["x",{"y":"\\\""},null]`, `{}`, `[ ]`, `{"a":{"b":{"c":"}"}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		members, err := mcpwire.Split(text)
		if strictjson.Check(text, nil) != nil {
			return
		}
		var object map[string]json.RawMessage
		var array []json.RawMessage
		switch {
		case json.Unmarshal(text, &object) == nil && object != nil:
			require.NoError(t, err)
			require.Len(t, members, len(object))
			for _, m := range members {
				var key string
				require.NoError(t, json.Unmarshal([]byte(`"`+m.Key+`"`), &key))
				require.Equal(t, string(object[key]), string(m.Value))
			}
		case json.Unmarshal(text, &array) == nil && array != nil:
			require.NoError(t, err)
			require.Len(t, members, len(array))
			for i, m := range members {
				require.Equal(t, string(array[i]), string(m.Value))
				require.Empty(t, m.Key)
			}
		default:
			require.Error(t, err)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	line := []byte(`{"content":[{"type":"image","data":"` + strings.Repeat("QUJD", 300_000) + `"}],"isError":false}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if m, err := mcpwire.Split(line); err != nil || !bytes.Equal(mcpwire.Get(m, "isError"), []byte("false")) {
			b.Fatal(err)
		}
	}
}
