package strictjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
)

// few is up to how many keys of one object are compared one by one; beyond
// that a map keeps a hostile object from costing the square of its size.
const few = 16

// A scanner walks data once, by bytes, without building anything.
type scanner struct {
	data     []byte
	pos      int
	depth    int
	maxDepth int

	folded []byte // folded keys of the open objects, end to end
	keys   []key  // one for each of them

	shapes shapes // keys of struct types, for Decode; nil for Check
	try    bool   // decode each leaf by itself, to find the one that fails
}

// A key remembers where its folded form stands in folded, and where it was
// read.
type key struct{ start, end, pos int }

func (s *scanner) run(t reflect.Type) error {
	s.space()
	if s.pos == len(s.data) {
		return s.fail(s.pos, "empty")
	}
	if err := s.value(t); err != nil {
		return err
	}
	s.space()
	if s.pos != len(s.data) {
		return s.fail(s.pos, "something follows the value")
	}
	return nil
}

func (s *scanner) fail(off int, reason string) *Error { return at(s.data, off, reason) }

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end: no value and no separator starts so.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// value scans the value at pos, which t, where it is not nil, will receive.
func (s *scanner) value(t reflect.Type) *Error {
	start := s.pos
	t, opaque := target(t)
	inner := t
	if opaque {
		inner = nil
	}
	var err *Error
	switch c := s.peek(); {
	case c == '{':
		err = s.object(inner)
	case c == '[':
		err = s.array(inner)
	case c == '"':
		err = s.text()
	case c == '-' || c >= '0' && c <= '9':
		err = s.number()
	case c == 't':
		err = s.word("true")
	case c == 'f':
		err = s.word("false")
	case c == 'n':
		err = s.word("null")
	case s.pos == len(s.data):
		err = s.fail(s.pos, "ends too early")
	default:
		err = s.fail(s.pos, "not a JSON value")
	}
	if err == nil && s.try && t != nil {
		err = s.leaf(start, t, opaque)
	}
	return err
}

// leaf decodes the value at start alone. A container that was already looked
// into is left out: its parts have passed.
func (s *scanner) leaf(start int, t reflect.Type, opaque bool) *Error {
	if !opaque && holds(t, s.data[start]) {
		return nil
	}
	err := json.Unmarshal(s.data[start:s.pos], reflect.New(t).Interface())
	if err == nil {
		return nil
	}
	reason := err.Error()
	if wrong, ok := err.(*json.UnmarshalTypeError); ok {
		reason = "found " + wrong.Value + ", expected " + describe(t)
	}
	return s.fail(start, reason)
}

func (s *scanner) word(w string) *Error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
		return s.fail(s.pos, "not a JSON value")
	}
	s.pos += len(w)
	return nil
}

func (s *scanner) enter() *Error {
	if s.depth++; s.depth > s.maxDepth {
		return s.fail(s.pos, "nested deeper than "+strconv.Itoa(s.maxDepth))
	}
	s.pos++
	s.space()
	return nil
}

func (s *scanner) array(t reflect.Type) *Error {
	if err := s.enter(); err != nil {
		return err
	}
	defer func() { s.depth-- }()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	elem := element(t)
	for i := 0; ; i++ {
		if err := s.value(elem); err != nil {
			return err.within("[" + strconv.Itoa(i) + "]")
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case ']':
			s.pos++
			return nil
		default:
			return s.fail(s.pos, "a comma or ] belongs here")
		}
	}
}

func (s *scanner) object(t reflect.Type) *Error {
	if err := s.enter(); err != nil {
		return err
	}
	open := members{first: len(s.keys), folded: len(s.folded)}
	defer func() {
		s.depth--
		s.keys, s.folded = s.keys[:open.first], s.folded[:open.folded]
	}()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		if err := s.member(t, &open); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case '}':
			s.pos++
			return nil
		default:
			return s.fail(s.pos, "a comma or } belongs here")
		}
	}
}

func (s *scanner) member(t reflect.Type, open *members) *Error {
	start := s.pos
	if s.peek() != '"' {
		return s.fail(s.pos, "a key in double quotes belongs here")
	}
	if err := s.text(); err != nil {
		return err
	}
	raw := s.data[start+1 : s.pos-1]
	if err := s.unique(raw, start, open); err != nil {
		return err
	}
	var field reflect.Type
	if t != nil {
		name := string(unescape(raw))
		var known bool
		var near string
		if field, near, known = s.shapes.field(t, name); !known {
			reason := "unknown key"
			if near != "" {
				reason += `, write "` + near + `"`
			}
			return s.fail(start, reason).within(name)
		}
	}
	s.space()
	if s.peek() != ':' {
		return s.fail(s.pos, "a colon belongs here")
	}
	s.pos++
	s.space()
	if err := s.value(field); err != nil {
		return err.within(string(unescape(raw)))
	}
	return nil
}

// within puts the error one level deeper: part is a key or an index.
func (e *Error) within(part string) *Error {
	switch {
	case e.Key == "":
		e.Key = part
	case e.Key[0] == '[':
		e.Key = part + e.Key
	default:
		e.Key = part + "." + e.Key
	}
	return e
}

// members are the keys of one open object.
type members struct {
	first, folded int            // where they start in the scanner's keys and folded
	many          map[string]int // folded key → where it was read; nil up to few
}

// unique refuses a key that stands in this object already, in any case.
func (s *scanner) unique(raw []byte, pos int, open *members) *Error {
	start := len(s.folded)
	s.folded = appendFolded(s.folded, raw)
	form := s.folded[start:]
	first := -1
	if open.many != nil {
		if p, ok := open.many[string(form)]; ok {
			first = p
		} else {
			open.many[string(form)] = pos
		}
	} else {
		for _, k := range s.keys[open.first:] {
			if bytes.Equal(s.folded[k.start:k.end], form) {
				first = k.pos
				break
			}
		}
	}
	if first >= 0 {
		return s.twice(first, pos, raw)
	}
	s.keys = append(s.keys, key{start: start, end: len(s.folded), pos: pos})
	if open.many == nil && len(s.keys)-open.first > few {
		open.many = make(map[string]int, 4*few)
		for _, k := range s.keys[open.first:] {
			open.many[string(s.folded[k.start:k.end])] = k.pos
		}
	}
	return nil
}

func (s *scanner) twice(first, second int, raw []byte) *Error {
	again := scanner{data: s.data, pos: first}
	reason := "key stands twice"
	if again.text() == nil && !bytes.Equal(unescape(s.data[first+1:again.pos-1]), unescape(raw)) {
		reason = "key differs only by case from another one"
	}
	return s.fail(second, reason).within(string(unescape(raw)))
}
