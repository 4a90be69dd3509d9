package policy

import (
	"fmt"
	"strings"
)

// Error says what is wrong with a document and where.
type Error struct {
	Line, Col int    // from 1; 0 where there is no text, as after Compile
	Rule      string // id of the rule it is in, if it is in one that has an id
	Key       string // path of the value, as in rules[2].match.site; "" for the whole
	Reason    string
}

// Error names the place first, then the rule, then what to change.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Col)
	}
	if e.Rule != "" {
		fmt.Fprintf(&b, "rule %s: ", e.Rule)
	}
	if e.Key != "" {
		fmt.Fprintf(&b, "%s: ", e.Key)
	}
	b.WriteString(e.Reason)
	return b.String()
}

func wrong(key, format string, args ...any) *Error {
	return &Error{Key: key, Reason: fmt.Sprintf(format, args...)}
}
