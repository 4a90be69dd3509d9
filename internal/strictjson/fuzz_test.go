package strictjson_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/internal/strictjson"
	"github.com/stretchr/testify/require"
)

// FuzzCheck holds Check to encoding/json: what passes is one value that every
// reading agrees on, and what plain JSON cannot read never passes.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"A":2}`, `{"a":[1,2.5e3,-0],"b":{"é":"\ud83d\ude00"}}`, `9007199254740993`, `"\ud800"`, `1e300`,
		`[[[[]]]]`, "\"\xff\"", `{"k":1,"\u212a":2}`, ` true `, `nullx`, "{\"a\":\"12345678\\n\"}", `0.1e-5`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := strictjson.Check(data, nil)
		if err != nil {
			require.NotEmpty(t, err.Error())
			require.True(t, utf8.ValidString(err.Error()) && !strings.Contains(err.Error(), "\n"), "%q", err)
			return
		}
		require.True(t, json.Valid(data), "%q", data)
		require.True(t, utf8.Valid(data), "%q", data)
		var v any
		require.NoError(t, strictjson.Decode(data, &v))
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		var exact any
		require.NoError(t, d.Decode(&exact))
		agree(t, v, exact)
		again, err := json.Marshal(exact)
		require.NoError(t, err)
		require.NoError(t, strictjson.Check(again, nil), "%q", again)
	})
}

// agree fails where a float64 is not the integer that was written, or where
// one object has keys that fold together.
func agree(t *testing.T, v, exact any) {
	switch e := exact.(type) {
	case json.Number:
		if len(e) > 100 {
			return // big.Rat would take its time over a long exponent
		}
		if _, exp, ok := strings.Cut(strings.ToLower(string(e)), "e"); ok && len(exp) > 4 {
			return
		}
		want, ok := new(big.Rat).SetString(string(e))
		require.True(t, ok)
		if want.IsInt() {
			require.Zero(t, want.Cmp(new(big.Rat).SetFloat64(v.(float64))), "%s", e)
		}
	case map[string]any:
		m := v.(map[string]any)
		require.Equal(t, len(e), len(m))
		names := make([]string, 0, len(e))
		for k := range e {
			for _, n := range names {
				require.False(t, strings.EqualFold(n, k), "%q %q", n, k)
			}
			names = append(names, k)
			agree(t, m[k], e[k])
		}
	case []any:
		for i := range e {
			agree(t, v.([]any)[i], e[i])
		}
	default:
		require.True(t, reflect.DeepEqual(v, exact))
	}
}

// FuzzDecode holds that a document which passes is read as encoding/json does.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version":1,"rules":[{"id":"r1","level":"black","match":{"role":"x","within":{"role":"y"}}}]}`))
	f.Add([]byte(`{"Version":1,"tiers":{"a":"red"},"quoted":"x","pair":[1,2,3]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var strict, plain document
		if strictjson.Decode(data, &strict) != nil {
			return
		}
		require.NoError(t, strictjson.Check(data, nil))
		require.NoError(t, json.Unmarshal(data, &plain))
		require.Equal(t, plain, strict)
	})
}

func frame(n int) []byte {
	return []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"image","mimeType":"image/png","data":"` +
		strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", n/24) + `"}],"isError":false}}`)
}

func BenchmarkCheckFrame(b *testing.B) {
	data := frame(900_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := strictjson.Check(data, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckTree(b *testing.B) {
	row := `{"element_index":12,"element_token":"s00000001:12","role":"push button","label":"Save the é file","frame":{"x":1,"y":2.5,"w":30,"h":40},"parent_index":3},`
	data := []byte(`{"elements":[` + strings.Repeat(row, 2000) + `{}]}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := strictjson.Check(data, nil); err != nil {
			b.Fatal(err)
		}
	}
}
