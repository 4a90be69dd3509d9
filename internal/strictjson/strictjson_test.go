package strictjson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/strictjson"
	"github.com/stretchr/testify/require"
)

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestPC45(t *testing.T) {
	many := func(last string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, `"k%d":0,`, i)
		}
		return "{" + b.String() + last + ":1}"
	}
	tests := []struct{ name, in, want string }{
		{"an object", `{"a":1,"b":[true,false,null,"x"],"c":{"a":1}}`, ""},
		{"same key in different objects", `[{"a":1},{"a":1},{"b":{"a":1},"a":2}]`, ""},
		{"white space", " \t\r\n[ 1 , 2 ] \n", ""},
		{"escapes", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, ""},
		{"text of any script", `"é漢😀` + "\u202e\u007f" + `"`, ""},
		{"forty keys", many(`"k40"`), ""},
		{"largest integer", `[9007199254740992,-9007199254740992]`, ""},
		{"largest integer otherwise spelled", `[9007199254740992.000,9.007199254740992e15,900719925474099200E-2,0e999999999999]`, ""},
		{"fractions", `[0.1,1e-300,-0,0.30000000000000000004,3.141592653589793238,123456.5e3]`, ""},
		{"deepest", nested(64), ""},

		{"nothing", "", "line 1, column 1: empty"},
		{"only space", " \n ", "line 2, column 2: empty"},
		{"byte order mark", "\ufeff{}", "line 1, column 1: not a JSON value"},
		{"twice", `{"a":1,"a":2}`, `line 1, column 8, at a: key stands twice`},
		{"twice, escaped", `{"a":1,"\u0061":2}`, `line 1, column 8, at a: key stands twice`},
		{"twice within", "{\"x\":[0,\n {\"é\":1,\"b\":1,\"é\":2}]}", `line 2, column 15, at "x[1].\u00e9": key stands twice`},
		{"twice among many", many(`"k7"`), "at k7: key stands twice"},
		{"case", `{"level":1,"Level":2}`, `line 1, column 12, at Level: key differs only by case`},
		{"case, not ASCII", `{"é":1,"É":2}`, "key differs only by case"},
		{"case, Kelvin sign", "{\"kind\":1,\"\u212aind\":2}", "key differs only by case"},
		{"case, long s", "{\"\\u017fite\":1,\"SITE\":2}", "key differs only by case"},
		{"case among many", many(`"K39"`), "at K39: key differs only by case"},
		{"case, all escapes", `{"\b\f\n\r\t\/\\\"\ud83d\ude00é":1,"\u0008\u000C\u000a\u000d\u0009/\\\u0022😀É":2}`, "key differs only by case"},
		{"empty key twice", `{"":1,"":2}`, "key stands twice"},
		{"lone high surrogate", `"\ud800"`, "half of a surrogate pair"},
		{"lone low surrogate", `"\udc00"`, "half of a surrogate pair"},
		{"two high surrogates", `"\ud800\ud800"`, "half of a surrogate pair"},
		{"high surrogate before text", `"\ud800x"`, "half of a surrogate pair"},
		{"high surrogate at the end", `"\ud800\u"`, "half of a surrogate pair"},
		{"lone surrogate in a key", `{"\ud800":1}`, "half of a surrogate pair"},
		{"bytes of a surrogate", "\"\xed\xa0\x80\"", "invalid UTF-8"},
		{"invalid UTF-8", "\"12345678\xff\"", "line 1, column 10: invalid UTF-8"},
		{"overlong", "\"\xc0\xaf\"", "invalid UTF-8"},
		{"invalid UTF-8 in a key", "{\"\xff\":1}", "invalid UTF-8"},
		{"2^53+1", `[9007199254740993]`, "line 1, column 2, at [0]: number beyond 2^53"},
		{"-2^53-1", `-9007199254740993`, "number beyond 2^53"},
		{"2^53+1 with a point", `9007199254740993.0`, "number beyond 2^53"},
		{"a bit more than 2^53", `9007199254740992.00000000000000000000001`, "number beyond 2^53"},
		{"2^53+1 with an exponent", `9007199254740.993e3`, "number beyond 2^53"},
		{"17 digits", `10000000000000000`, "number beyond 2^53"},
		{"huge", `1e300`, "number beyond 2^53"},
		{"beyond float64", `1e400`, "number beyond 2^53"},
		{"an exponent without end", `0.1e+` + strings.Repeat("9", 100), "number beyond 2^53"},
		{"small by a long way round", `0.` + strings.Repeat("0", 50) + `1e60`, ""},
		{"large by a long way round", `0.` + strings.Repeat("0", 50) + `1e80`, "number beyond 2^53"},
		{"too deep", nested(65), "nested deeper than 64"},
		{"too deep, objects", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "nested deeper than 64"},
		{"trailing value", `{} {}`, "line 1, column 4: something follows the value"},
		{"trailing NUL", "{}\x00", "something follows the value"},
		{"NUL", "\x00", "not a JSON value"},
		{"comment", `{/**/}`, "a key in double quotes belongs here"},
		{"trailing comma", `[1,]`, "not a JSON value"},
		{"trailing comma in an object", `{"a":1,}`, "a key in double quotes belongs here"},
		{"no comma", `[1 2]`, "a comma or ] belongs here"},
		{"no comma in an object", `{"a":1 "b":2}`, "a comma or } belongs here"},
		{"no colon", `{"a" 1}`, "a colon belongs here"},
		{"no value", `{"a":`, "ends too early"},
		{"open array", `[1`, "a comma or ] belongs here"},
		{"open object", `{"a":1`, "a comma or } belongs here"},
		{"open string", `{"a":"b`, "line 1, column 6, at a: string without an end"},
		{"open escape", `"\`, "unknown escape in a string"},
		{"unknown escape", `"\x41"`, "unknown escape in a string"},
		{"short escape", `"\u12"`, `\u needs four hexadecimal digits`},
		{"escape that is no number", `"\u12g4"`, `\u needs four hexadecimal digits`},
		{"control character", "\"a\nb\"", "control character in a string"},
		{"single quotes", `'a'`, "not a JSON value"},
		{"NaN", `NaN`, "not a JSON value"},
		{"Infinity", `-Infinity`, "not a number"},
		{"leading zero", `01`, "something follows the value"},
		{"leading plus", `+1`, "not a JSON value"},
		{"bare point", `1.`, "not a number"},
		{"leading point", `.5`, "not a JSON value"},
		{"bare exponent", `1e`, "not a number"},
		{"half a word", `tru`, "not a JSON value"},
		{"word in capitals", `True`, "not a JSON value"},
		{"word run on", `nullx`, "something follows the value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := strictjson.Check([]byte(tt.in), nil)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
			var at *strictjson.Error
			require.ErrorAs(t, err, &at)
		})
	}
}

// Every special byte is found at each place of the words that are read at once.
func TestPC45EveryPosition(t *testing.T) {
	for n := range 40 {
		text := strings.Repeat("a", n)
		for _, bad := range []string{"\x00", "\x1f", "\n", "\x80", "\xff"} {
			require.Error(t, strictjson.Check([]byte(`"`+text+bad+strings.Repeat("a", 20)+`"`), nil), "%q after %d", bad, n)
		}
		for _, good := range []string{" ", "!", "#", "[", "]", "~", "\x7f", "é", "漢", "😀", `\"`, `\\`, "\u0080"} {
			require.NoError(t, strictjson.Check([]byte(`"`+text+good+strings.Repeat("a", 20)+`"`), nil), "%q after %d", good, n)
		}
		require.ErrorContains(t, strictjson.Check([]byte(`"`+text+`"`+strings.Repeat("a", 20)+`"`), nil), "something follows")
	}
}

func TestPC45Depth(t *testing.T) {
	require.NoError(t, strictjson.Check([]byte(nested(3)), &strictjson.Options{MaxDepth: 3}))
	require.ErrorContains(t, strictjson.Check([]byte(nested(4)), &strictjson.Options{MaxDepth: 3}), "deeper than 3")
	require.Error(t, strictjson.Check([]byte(strings.Repeat("[", 1<<20)), nil))
}

// A hostile frame costs time in proportion to its length.
func TestPC45Linear(t *testing.T) {
	var b strings.Builder
	b.WriteString("{")
	for i := range 200_000 {
		fmt.Fprintf(&b, `"%d":0,`, i)
	}
	b.WriteString(`"end":0}`)
	start := time.Now()
	require.NoError(t, strictjson.Check([]byte(b.String()), nil))
	require.NoError(t, strictjson.Check([]byte(strings.Repeat("9", 1<<20)+"e-2000000"), nil))
	require.Less(t, time.Since(start), 5*time.Second)
}

func TestPC45ErrorIsShort(t *testing.T) {
	long := strings.Repeat("\x7f\u202e", 500)
	err := strictjson.Check([]byte(`{"`+long+`":1,"`+long+`":2}`), nil)
	require.ErrorContains(t, err, "key stands twice")
	require.Less(t, len(err.Error()), 700)
	require.NotContains(t, err.Error(), "\u202e")
	var at *strictjson.Error
	require.True(t, errors.As(err, &at))
	require.Equal(t, long, at.Key)
}
