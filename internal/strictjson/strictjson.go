// Package strictjson gives a JSON text one reading or refuses it. What a
// person's file grants, or what a peer's frame asks for, must not depend on
// which parser looks at it.
//
// Use [Check] on a frame that somebody else will decode, [Decode] for a
// document of ours.
//
// # Guarantees
//
// A text that passes is exactly one JSON value (RFC 8259) in which
//
//   - no object has the same key twice, nor two keys that differ only by case,
//     however they are escaped;
//   - all text is valid UTF-8 and every \u escape of a surrogate has its pair;
//   - no number is beyond ±2⁵³ in any spelling, so that every integer is the
//     same in a float64;
//   - nothing is nested deeper than the limit, and nothing follows the value.
//
// Decode refuses beyond that every key that the target does not have, spelled
// exactly so: encoding/json alone would take "Level" for "level".
//
// # Limits
//
// Fractions may have more digits than a float64 keeps; parsers round them
// alike. null leaves the target as it is, like a missing key. Decode does not
// look into a value whose type decodes itself (json.Unmarshaler).
//
// # Concurrency
//
// Functions keep no state.
package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// DefaultMaxDepth is how deep objects and arrays may nest where Options do not
// say otherwise.
const DefaultMaxDepth = 64

// Options changes what Check takes. Nil is the zero value.
type Options struct {
	// MaxDepth is how deep objects and arrays may nest; 0 is DefaultMaxDepth.
	MaxDepth int
}

// Error says why a text was refused and where.
type Error struct {
	Line, Col int    // from 1; Col counts characters
	Key       string // path to the value, as in rules[2].level; "" at the top
	Reason    string // fixed words, or those of the type that refused the value
}

// Error is one line, with the untrusted key quoted and cut.
func (e *Error) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Reason)
	}
	return fmt.Sprintf("line %d, column %d, at %s: %s", e.Line, e.Col, shown(e.Key), e.Reason)
}

// Check returns nil if data has one reading, else an *Error.
func Check(data []byte, opts *Options) error {
	s := scanner{data: data, maxDepth: DefaultMaxDepth}
	if opts != nil && opts.MaxDepth > 0 {
		s.maxDepth = opts.MaxDepth
	}
	return s.run(nil)
}

// Decode checks data and decodes it into v, a pointer. Every failure that data
// is to blame for is an *Error.
func Decode(data []byte, v any) error {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer || reflect.ValueOf(v).IsNil() {
		return fmt.Errorf("decode into %T: not a pointer", v)
	}
	s := scanner{data: data, maxDepth: DefaultMaxDepth, shapes: shapes{}}
	if err := s.run(t); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return nil
	}
	// encoding/json says where only for some errors: find the place ourselves.
	s = scanner{data: data, maxDepth: DefaultMaxDepth, shapes: shapes{}, try: true}
	if found := s.run(t); found != nil {
		return found
	}
	return &Error{Line: 1, Col: 1, Reason: err.Error()}
}

// at makes the error for offset off of data.
func at(data []byte, off int, reason string) *Error {
	before := data[:min(off, len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return &Error{
		Line:   1 + bytes.Count(before, []byte{'\n'}),
		Col:    1 + utf8.RuneCount(before[start:]),
		Reason: reason,
	}
}

// shown makes an untrusted key fit for an error: printable and short.
func shown(key string) string {
	const most = 80
	if utf8.RuneCountInString(key) > most {
		key = string([]rune(key)[:most]) + "…"
	}
	for i := range len(key) {
		if c := key[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.QuoteToASCII(key)
		}
	}
	return key
}
