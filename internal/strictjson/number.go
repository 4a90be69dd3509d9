package strictjson

import "strings"

// largest is 2⁵³, up to which every integer has a float64 of its own.
const largest = "9007199254740992"

// number scans the number at pos: -? int frac? exp?
func (s *scanner) number() *Error {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	whole := s.pos
	switch c := s.peek(); {
	case c == '0':
		s.pos++
	case c >= '1' && c <= '9':
		s.digits()
	default:
		return s.fail(start, "not a number")
	}
	point, fraction := s.pos, s.pos
	if s.peek() == '.' {
		s.pos++
		fraction = s.pos
		if s.digits() == 0 {
			return s.fail(start, "not a number")
		}
	}
	end, exponent := s.pos, 0
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		negative := s.peek() == '-'
		if negative || s.peek() == '+' {
			s.pos++
		}
		first := s.pos
		if s.digits() == 0 {
			return s.fail(start, "not a number")
		}
		exponent = power(s.data[first:s.pos])
		if negative {
			exponent = -exponent
		}
	}
	if beyond(s.data[whole:point], s.data[fraction:end], exponent) {
		return s.fail(start, "number beyond 2^53")
	}
	return nil
}

func (s *scanner) digits() int {
	start := s.pos
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos - start
}

// power reads an exponent and stops where it makes no difference any more: no
// text is long enough to bring such a number back.
func power(digits []byte) int {
	const enough = 1 << 30
	n := 0
	for _, c := range digits {
		if n = n*10 + int(c-'0'); n > enough {
			return enough
		}
	}
	return n
}

// beyond reports whether whole.fraction × 10^exponent is more than 2⁵³,
// exactly, without the rounding that it is about.
func beyond(whole, fraction []byte, exponent int) bool {
	if exponent == 0 && len(whole) < len(largest) {
		return false
	}
	all := strings.TrimLeft(string(whole)+string(fraction), "0")
	if all == "" {
		return false
	}
	// How many digits stand before the point once the exponent is applied.
	before := len(all) - len(fraction) + exponent
	if before != len(largest) {
		return before > len(largest)
	}
	head, rest := all, ""
	if len(all) > len(largest) {
		head, rest = all[:len(largest)], all[len(largest):]
	}
	head += strings.Repeat("0", len(largest)-len(head))
	return head > largest || head == largest && strings.Trim(rest, "0") != ""
}
