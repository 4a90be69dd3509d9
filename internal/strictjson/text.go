package strictjson

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// text scans the string at pos, of which the first byte is a quote.
func (s *scanner) text() *Error {
	start := s.pos
	s.pos++
	for {
		s.plain()
		if s.pos >= len(s.data) {
			return s.fail(start, "string without an end")
		}
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < ' ':
			return s.fail(s.pos, "control character in a string")
		default: // not ASCII: plain has taken the rest
			r, n := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && n == 1 {
				return s.fail(s.pos, "invalid UTF-8")
			}
			s.pos += n
		}
	}
}

// plain skips printable ASCII but quote and backslash, eight bytes at a time:
// a frame is mostly one long base64 picture. For each byte b of w, the high bit
// of the mask is set where b < 0x20, b == '"', b == '\\' or b >= 0x80; a byte
// above a set one may be set wrongly, which only ends the quick way early.
func (s *scanner) plain() {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	d, p := s.data, s.pos
	for ; p+8 <= len(d); p += 8 {
		w := binary.LittleEndian.Uint64(d[p:])
		quote := w ^ ones*'"'
		slash := w ^ ones*'\\'
		if (w|(w-ones*' ')|(quote-ones)|(slash-ones))&highs != 0 {
			break
		}
	}
	for ; p < len(d); p++ {
		if c := d[p]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	s.pos = p
}

func (s *scanner) escape() *Error {
	start := s.pos
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
	default:
		return s.fail(start, "unknown escape in a string")
	}
	r, ok := hex4(s.data[s.pos+1:])
	if !ok {
		return s.fail(start, `\u needs four hexadecimal digits`)
	}
	s.pos += 5
	if !utf16.IsSurrogate(r) {
		return nil
	}
	if !bytes.HasPrefix(s.data[s.pos:], []byte(`\u`)) {
		return s.fail(start, "half of a surrogate pair")
	}
	low, ok := hex4(s.data[s.pos+2:])
	if !ok || utf16.DecodeRune(r, low) == unicode.ReplacementChar {
		return s.fail(start, "half of a surrogate pair")
	}
	s.pos += 6
	return nil
}

func hex4(d []byte) (rune, bool) {
	if len(d) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range d[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// unescape returns what the inside of a string that text has passed stands for.
func unescape(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'u':
			r, _ := hex4(raw[i+2:])
			i += 6
			if utf16.IsSurrogate(r) {
				low, _ := hex4(raw[i+2:])
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			out = utf8.AppendRune(out, r)
			continue
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		default:
			out = append(out, c)
		}
		i += 2
	}
	return out
}

// appendFolded appends the one form of all keys that some parser, Go's among
// them, would take for raw.
func appendFolded(dst, raw []byte) []byte {
	raw = unescape(raw)
	for i := 0; i < len(raw); {
		c := raw[i]
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(raw[i:])
		dst = utf8.AppendRune(dst, foldRune(r))
		i += n
	}
	return dst
}

// foldRune is the same for all runes that are equal but for case; an ASCII
// letter among them is lower case, as in appendFolded ('K', the Kelvin sign).
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least >= 'A' && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
