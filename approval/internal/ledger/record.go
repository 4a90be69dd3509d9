package ledger

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// Lifetime is how long a question stays open, and how long a yes to it may be
// spent after it was given.
const Lifetime = 120 * time.Second

// MaxRecord bounds one question on the disk, in bytes. A person cannot judge
// more than that anyway.
const MaxRecord = 256 << 10

// A State is where a request stands. It is written out as it reads.
type State string

// A request moves along these and never back. Pending and Granted are open.
const (
	Pending   State = "pending"
	Granted   State = "granted"
	Denied    State = "denied"
	Executing State = "executing"
	Consumed  State = "consumed"
	Expired   State = "expired"
	Withdrawn State = "withdrawn"
)

// next lists every move there is. Executing has one way out: what may have
// acted is never asked for, granted or spent again.
var next = map[State][]State{
	Pending:   {Granted, Denied, Expired, Withdrawn},
	Granted:   {Executing, Denied, Expired, Withdrawn},
	Executing: {Consumed},
	Denied:    {}, Consumed: {}, Expired: {}, Withdrawn: {},
}

// Open reports whether a request in this state may still lead to an act.
func (s State) Open() bool { return s == Pending || s == Granted }

// Clear is what a person must read in order to answer. It is on the disk only
// while the request is open.
type Clear struct {
	Window    string
	Place     string
	Target    string
	Arguments string
	Delivery  string
	Policy    string
	Snapshot  string
	Profile   string
	Code      string
	Until     time.Time // what the answer rests on is worth nothing after this

	// Group is equal for the requests of one list, of which this is Step of Of;
	// "" and 0 where it stands alone.
	Group    string
	Step, Of int
}

// A Record is one request. Clear is nil once it is no longer open.
type Record struct {
	ID      string
	State   State
	Digest  string
	Same    string // hashed key of asks that replace each other
	Control string // hashed key of what is asked about
	Session string
	Agent   string
	Verb    string
	First   time.Time // when the same was first asked: its place in the list
	Asked   time.Time
	Again   int
	Changed time.Time // when State was reached
	By      string
	Reply   string
	Reason  string
	Lifted  bool // a denial that blocks nothing any more
	Clear   *Clear
}

// Expires is when an open record ends by itself.
func (r Record) Expires() time.Time {
	end := r.Asked.Add(Lifetime)
	if r.State == Granted {
		end = r.Changed.Add(Lifetime)
	}
	if r.Clear != nil && r.Clear.Until.Before(end) {
		return r.Clear.Until
	}
	return end
}

// lapsed reports whether the wall's time ends an open record: too late, or
// earlier than what has already happened, which means that the clock was set.
func (r Record) lapsed(now time.Time) bool {
	return r.State.Open() && (now.Before(r.Changed) || !now.Before(r.Expires()))
}

// check says what about r this package would never have written.
func (r Record) check() error {
	_, known := next[r.State]
	switch {
	case !IsID(r.ID):
		return errors.New("the id is not 16 lower-case hex digits")
	case !known:
		return fmt.Errorf("unknown state %q", r.State)
	case !isHex(r.Digest, 64):
		return errors.New("the digest is not 64 lower-case hex digits")
	case r.Session == "":
		return errors.New("the session is missing")
	case r.Asked.IsZero() || r.First.IsZero() || r.Changed.IsZero() || r.Again < 0:
		return errors.New("a time is missing or the count is negative")
	case r.Clear != nil && (r.Clear.Group == "") != (r.Clear.Of == 0),
		r.Clear != nil && (r.Clear.Step < 0 || r.Clear.Step > r.Clear.Of || r.Clear.Step == 0 && r.Clear.Of != 0):
		return errors.New("the place in a list is none")
	case r.Clear != nil && r.Clear.Until.IsZero():
		return errors.New("the end of the request is missing")
	case r.State.Open() != (r.Clear != nil):
		return errors.New("what is asked stands beside the wrong state")
	case r.State == Granted && (r.Changed.Before(r.Asked) || !r.Changed.Before(r.Asked.Add(Lifetime))):
		return errors.New("granted outside its time")
	case r.Lifted && r.State != Denied:
		return errors.New("lifted without a denial")
	}
	return nil
}

// texts are all strings of r that come from outside.
func (r Record) texts() []string {
	t := []string{r.Session, r.Agent, r.Verb, r.By, r.Reply, r.Reason}
	if c := r.Clear; c != nil {
		t = append(t, c.Window, c.Place, c.Target, c.Arguments, c.Delivery, c.Policy, c.Snapshot, c.Profile, c.Group)
	}
	return t
}

// readable reports whether JSON gives all texts back exactly.
func (r Record) readable() bool {
	for _, s := range r.texts() {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return true
}

// IsID reports whether s has the form of a request's id. Nothing shorter or
// longer is ever matched.
func IsID(s string) bool { return isHex(s, 16) }

func isHex(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range n {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
