package mcpwire

import (
	"bytes"
	"fmt"
	"unicode"
)

// A Member is one member of a JSON object, or one item of an array (then
// without a Key). Both are pieces of the text they were found in.
type Member struct {
	Key   string // as written between the quotes; never one with escapes
	Value []byte
}

// Split takes an object or array apart, one level deep, without copying or
// decoding: a screenshot's base64 text is stepped over by a byte search. The
// text must be one that strictjson has passed. What is no object or array has
// no members.
func Split(text []byte) ([]Member, error) {
	s := splitter{text: text}
	s.space()
	if s.at >= len(text) || (text[s.at] != '{' && text[s.at] != '[') {
		return nil, fmt.Errorf("%w: neither object nor array", ErrGarbage)
	}
	object := text[s.at] == '{'
	s.at++
	var all []Member
	for {
		s.space()
		switch c := s.peek(); {
		case c == '}' || c == ']':
			return all, nil
		case c == ',':
			s.at++
			continue
		case c == 0:
			return nil, fmt.Errorf("%w: ends early", ErrGarbage)
		}
		var m Member
		if object {
			key, err := s.key()
			if err != nil {
				return nil, err
			}
			m.Key = key
		}
		start := s.at
		if err := s.value(); err != nil {
			return nil, err
		}
		m.Value = text[start:s.at]
		all = append(all, m)
	}
}

// Get returns the value of the member key, or nil.
func Get(members []Member, key string) []byte {
	for _, m := range members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

type splitter struct {
	text []byte
	at   int
}

func (s *splitter) peek() byte {
	if s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *splitter) space() {
	for s.at < len(s.text) && s.text[s.at] < unicode.MaxASCII && unicode.IsSpace(rune(s.text[s.at])) {
		s.at++
	}
}

// key reads a member's name and the colon behind it, up to the value.
func (s *splitter) key() (string, error) {
	start := s.at
	if s.peek() != '"' {
		return "", fmt.Errorf("%w: no key", ErrGarbage)
	}
	if err := s.str(); err != nil {
		return "", err
	}
	key := string(s.text[start+1 : s.at-1])
	s.space()
	if s.peek() != ':' {
		return "", fmt.Errorf("%w: no colon", ErrGarbage)
	}
	s.at++
	s.space()
	return key, nil
}

// str steps over a string; the first quote that is not behind an odd number of
// backslashes ends it.
func (s *splitter) str() error {
	for i := s.at + 1; i < len(s.text); {
		n := bytes.IndexByte(s.text[i:], '"')
		if n < 0 {
			break
		}
		i += n
		slashes := 0
		for s.text[i-1-slashes] == '\\' {
			slashes++
		}
		if i++; slashes%2 == 0 {
			s.at = i
			return nil
		}
	}
	return fmt.Errorf("%w: string without an end", ErrGarbage)
}

// value steps over any value.
func (s *splitter) value() error {
	depth := 0
	for {
		switch c := s.peek(); c {
		case 0:
			return fmt.Errorf("%w: ends early", ErrGarbage)
		case '"':
			if err := s.str(); err != nil {
				return err
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			s.at++
			continue
		default:
			for c := s.peek(); c != 0 && bytes.IndexByte([]byte(",:{}[]\" \t\r\n"), c) < 0; c = s.peek() {
				s.at++
			}
		}
		if depth <= 0 {
			return nil
		}
	}
}
