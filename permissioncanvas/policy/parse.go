package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/internal/strictjson"
)

// Parse reads a policy file. Its error is an *Error that says where and what
// to write instead.
func Parse(data []byte) (*Policy, error) {
	var d Document
	if err := strictjson.Decode(data, &d); err != nil {
		return nil, located(err)
	}
	where := locate(data)
	if where.blank != nil {
		return nil, where.blank
	}
	p, err := Compile(d)
	if e, ok := errors.AsType[*Error](err); ok {
		e.Line, e.Col = where.of(e.Key)
	}
	return p, err
}

// located is err as an Error. Decode blames data for nothing without a place.
func located(err error) *Error {
	e := &strictjson.Error{Reason: err.Error()}
	errors.As(err, &e)
	return &Error{Line: e.Line, Col: e.Col, Key: e.Key, Reason: e.Reason}
}

// places knows where each value of a JSON text begins.
type places struct {
	data    []byte
	offsets map[string]int
	blank   *Error // the first value that says nothing where something must be said
}

// locate reads a text that strictjson has passed.
func locate(data []byte) *places {
	p := &places{data: data, offsets: map[string]int{}}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	p.value(d, "")
	return p
}

// value notes the next value of d, which is at path. Token cannot fail on a
// text that was decoded before.
func (p *places) value(d *json.Decoder, path string) {
	start := int(d.InputOffset())
	start += len(p.data[start:]) - len(bytes.TrimLeft(p.data[start:], " \t\r\n:,"))
	p.offsets[path] = start
	token, _ := d.Token()
	switch t := token.(type) {
	case json.Delim:
		for i := 0; d.More(); i++ {
			if t == '[' {
				p.value(d, fmt.Sprintf("%s[%d]", path, i))
				continue
			}
			key, _ := d.Token()
			p.value(d, strings.TrimPrefix(fmt.Sprintf("%s.%v", path, key), "."))
		}
		_, _ = d.Token()
	case nil:
		p.refuse(path, "null says nothing: leave the key out")
	case string:
		if t == "" && mustSay(path) {
			p.refuse(path, "empty: leave the key out, or say what it is")
		}
	case json.Number:
		if t == "0" && inMatch(path) {
			p.refuse(path, "0 names nothing: leave the key out")
		}
	}
}

func (p *places) refuse(path, reason string) {
	if p.blank == nil {
		p.blank = wrong(path, "%s", reason)
		p.blank.Line, p.blank.Col = p.of(path)
	}
}

// of returns the place of the value at path, or of the nearest one around it.
func (p *places) of(path string) (line, col int) {
	off, ok := p.offsets[path]
	for !ok {
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
		off, ok = p.offsets[path]
	}
	before := p.data[:off]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[start:])
}

// inMatch reports whether path is inside a rule's match.
func inMatch(path string) bool {
	rest, ok := strings.CutPrefix(path, "rules[")
	return ok && strings.Contains(rest, "].match.")
}

// mustSay reports whether an empty text at path would be taken for a missing
// one, which is another thing: a key left out of a match makes it wider.
func mustSay(path string) bool {
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "default_level", "real_mouse", "discover", "expect":
		return true
	}
	return inMatch(path)
}
