package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A codec visits the members of a JSON object in the order in which they stand
// in the journal. The encoder writes them and the decoder reads them, so one
// walk is both directions. It is here because a ledger is read whole at every
// step and encoding/json takes ten times as long.
//
// There is one spelling for each content, and the decoder takes no other.
type codec interface {
	text(name string, v *string, kind presence)
	moment(name string, v *time.Time)
	count(name string, v *int)
	flag(name string, v *bool)
	// enter opens an object where one is there, and leave closes it.
	enter(name string, there bool) bool
	leave()
}

// presence says whether an empty text is written or left out.
type presence bool

const (
	always   presence = true
	nonEmpty presence = false
)

func (r *Record) walk(c codec) {
	c.text("id", &r.ID, always)
	c.text("state", (*string)(&r.State), always)
	c.text("digest", &r.Digest, always)
	c.text("same", &r.Same, nonEmpty)
	c.text("control", &r.Control, always)
	c.text("session", &r.Session, always)
	c.text("agent", &r.Agent, nonEmpty)
	c.text("verb", &r.Verb, nonEmpty)
	c.moment("first", &r.First)
	c.moment("asked", &r.Asked)
	c.count("again", &r.Again)
	c.moment("changed", &r.Changed)
	c.text("by", &r.By, nonEmpty)
	c.text("reply", &r.Reply, nonEmpty)
	c.text("reason", &r.Reason, nonEmpty)
	c.flag("lifted", &r.Lifted)
	if c.enter("clear", r.Clear != nil) {
		if r.Clear == nil {
			r.Clear = &Clear{}
		}
		r.Clear.walk(c)
		c.leave()
	}
}

func (w *Clear) walk(c codec) {
	c.text("window", &w.Window, always)
	c.text("place", &w.Place, always)
	c.text("target", &w.Target, always)
	c.text("arguments", &w.Arguments, always)
	c.text("delivery", &w.Delivery, always)
	c.text("policy", &w.Policy, always)
	c.text("snapshot", &w.Snapshot, always)
	c.text("profile", &w.Profile, always)
	c.text("code", &w.Code, always)
	c.moment("until", &w.Until)
	c.text("group", &w.Group, nonEmpty)
	c.count("step", &w.Step)
	c.count("of", &w.Of)
}

func (m *mark) walk(c codec) {
	c.text("id", &m.ID, always)
	c.text("state", (*string)(&m.State), always)
	c.moment("at", &m.At)
	c.text("by", &m.By, nonEmpty)
}

// timeForm is RFC 3339 in UTC with whole milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

// plain reports whether s stands in JSON as it is.
func plain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// quote is s in JSON.
func quote(s string) string {
	if plain(s) {
		return `"` + s + `"`
	}
	b, _ := json.Marshal(s) // a string always has a form
	return string(b)
}

type encoder struct{ b []byte }

// name writes a member's name, after a comma unless an object just began.
func (e *encoder) name(name string) {
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = append(e.b, '"')
	e.b = append(e.b, name...)
	e.b = append(e.b, `":`...)
}

func (e *encoder) text(name string, v *string, kind presence) {
	if *v == "" && kind == nonEmpty {
		return
	}
	e.name(name)
	e.b = append(e.b, quote(*v)...)
}

func (e *encoder) moment(name string, v *time.Time) {
	e.name(name)
	e.b = append(e.b, '"')
	e.b = v.UTC().AppendFormat(e.b, timeForm)
	e.b = append(e.b, '"')
}

func (e *encoder) count(name string, v *int) {
	if *v != 0 {
		e.name(name)
		e.b = strconv.AppendInt(e.b, int64(*v), 10)
	}
}

func (e *encoder) flag(name string, v *bool) {
	if *v {
		e.name(name)
		e.b = append(e.b, "true"...)
	}
}

func (e *encoder) enter(name string, there bool) bool {
	if there {
		e.name(name)
		e.b = append(e.b, '{')
	}
	return there
}

func (e *encoder) leave() { e.b = append(e.b, '}') }

// A decoder keeps its first error and reads nothing after it.
type decoder struct {
	rest  string
	inner bool // a member was read since an object began
	err   error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
	d.rest = ""
}

// take skips s if it comes next.
func (d *decoder) take(s string) bool {
	rest, ok := strings.CutPrefix(d.rest, s)
	d.rest = rest
	return ok
}

// name skips a member's name if it comes next.
func (d *decoder) name(name string) bool {
	sep := `"`
	if d.inner {
		sep = `,"`
	}
	head := len(sep) + len(name)
	if len(d.rest) < head+2 || d.rest[:len(sep)] != sep || d.rest[len(sep):head] != name || d.rest[head:head+2] != `":` {
		return false
	}
	d.rest, d.inner = d.rest[head+2:], true
	return true
}

// quoted takes a string's JSON form, with its quotes.
func (d *decoder) quoted() string {
	for i := 1; i < len(d.rest) && d.rest[0] == '"'; i++ {
		switch d.rest[i] {
		case '\\':
			i++
		case '"':
			s := d.rest[:i+1]
			d.rest = d.rest[i+1:]
			return s
		}
	}
	d.fail("not a string")
	return ""
}

func (d *decoder) text(name string, v *string, kind presence) {
	if !d.name(name) {
		if kind == always {
			d.fail("no %q where it belongs", name)
		}
		return
	}
	q := d.quoted()
	if q == "" {
		return
	}
	if *v = q[1 : len(q)-1]; !plain(*v) {
		if err := json.Unmarshal([]byte(q), v); err != nil || quote(*v) != q {
			d.fail("%q is not in the ledger's own form", name)
		}
	}
	if *v == "" && kind == nonEmpty {
		d.fail("%q is empty", name)
	}
}

func (d *decoder) moment(name string, v *time.Time) {
	var s string
	if d.text(name, &s, always); d.err != nil {
		return
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || len(s) != len(timeForm) || s[19] != '.' || s[23] != 'Z' {
		d.fail("%q is not a time in UTC with milliseconds", name)
	}
	*v = t
}

func (d *decoder) count(name string, v *int) {
	if !d.name(name) {
		return
	}
	end := strings.IndexAny(d.rest, ",}")
	if end < 0 {
		end = 0
	}
	n, err := strconv.Atoi(d.rest[:end])
	if err != nil || n < 1 || strconv.Itoa(n) != d.rest[:end] {
		d.fail("%q is not a count", name)
		return
	}
	*v, d.rest = n, d.rest[end:]
}

func (d *decoder) flag(name string, v *bool) {
	if !d.name(name) {
		return
	}
	if *v = d.take("true"); !*v {
		d.fail("%q is not true", name)
	}
}

func (d *decoder) enter(name string, _ bool) bool {
	if !d.name(name) {
		return false
	}
	if !d.take("{") {
		d.fail("%q is not an object", name)
		return false
	}
	d.inner = false
	return true
}

func (d *decoder) leave() {
	if !d.take("}") {
		d.fail("an object does not end where it should")
	}
	d.inner = true
}

// end is the error of the whole, which is also that something is left.
func (d *decoder) end() error {
	if d.err == nil && d.rest != "" {
		return errors.New("something stands behind the end")
	}
	return d.err
}
