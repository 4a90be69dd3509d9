package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
)

// What one person can be asked at a time, and what a no means.
const (
	maxSession  = 8
	maxProfile  = 64
	denialBlock = 120 * time.Second
	// denials on one control within denialSpan block it for denialSpan.
	denials    = 3
	denialSpan = 10 * time.Minute
	// askedAgain is how long an unanswered ask counts when it comes again.
	askedAgain = 10 * time.Minute
)

// An Ask is one question: this act, exactly, once.
type Ask struct {
	// Digest is the SHA-256, in lower-case hex, of all that the answer binds.
	Digest string
	// Session is who asks; required. Agent is its name as a person reads it.
	Session, Agent string
	// Window, Place, Verb, Target, Arguments (JSON) and Delivery are what the
	// person is shown.
	Window, Place, Verb, Target, Arguments, Delivery string
	// PolicyHash and Snapshot are what the act was decided on.
	PolicyHash, Snapshot string
	// Same is equal for asks of one session that differ by nothing but their
	// snapshot: a new one replaces the old one, and a no to one is a no to all.
	// "": no other ask is the same. It is kept as a digest.
	Same string
	// Control is equal for all asks about one control or tool, for counting
	// denials. "": place (or else window) and target. It is kept as a digest.
	Control string
	// Profile is which profile the act belongs to, as a person reads it.
	Profile string
	// Group is equal for the asks of one list, of which this is the Step-th of
	// Of, from 1. They are put to the person as one and answered each by
	// itself. "": it stands alone.
	Group    string
	Step, Of int
	// NotAfter ends question and yes, where that is before their own time is
	// over: what was seen is then too old to act on. Zero: they end by
	// themselves.
	NotAfter time.Time
}

// Pending is what the asker may know of its open question.
type Pending struct {
	ID      string
	State   State // StateGranted where a joined ask was answered already
	Expires time.Time
	Again   int // how often the same was asked before without being done
}

// Request puts a question. An identical one (digest and session) that is
// still open is joined: the same id, no second card, no new time. One that is
// the same but for its snapshot is withdrawn and its card replaced.
//
// It returns a *[DeniedError] while a denial blocks it, and ErrTooMany.
func (s *Store) Request(ctx context.Context, a Ask) (Pending, error) {
	var out Pending
	err := s.update(ctx, func(b *ledger.Book) error {
		all := b.Records()
		if r, ok := joinable(all, a); ok {
			if !shows(r, a) {
				return ErrMismatch
			}
			out = pending(r)
			s.lapsed(r, b.Now) // marks it
			return nil
		}
		if !a.NotAfter.IsZero() && !b.Now.Before(a.NotAfter) {
			return ErrExpired
		}
		n := a.record()
		if err := denied(all, n, b.Now); err != nil {
			return err
		}
		old := replaced(all, n)
		if err := crowded(all, n.Session, a.Group, old); err != nil {
			return err
		}
		n.First, n.Again = history(all, n, b.Now)
		r, err := b.Add(n, a.clear())
		if err != nil {
			return err
		}
		for _, o := range old {
			err = errors.Join(err, b.Move(o.ID, ledger.Withdrawn, ledger.Change{Reason: "asked again"}))
		}
		s.lapsed(r, b.Now)
		out = pending(r)
		return err
	})
	if err != nil {
		return Pending{}, err
	}
	return out, nil
}

func pending(r ledger.Record) Pending {
	return Pending{ID: r.ID, State: r.State, Expires: r.Expires(), Again: r.Again}
}

// record is what of a stays after the answer.
func (a Ask) record() ledger.Record {
	r := ledger.Record{Digest: a.Digest, Session: a.Session, Agent: a.Agent, Verb: a.Verb}
	if a.Same != "" {
		r.Same = key("same", a.Same)
	}
	switch where := a.Place; {
	case a.Control != "":
		r.Control = key("control", a.Control)
	case a.Target == "":
		r.Control = key("verb", a.Window, where, a.Verb)
	case where == "":
		r.Control = key("target", a.Window, a.Target)
	default:
		r.Control = key("place", where, a.Target)
	}
	return r
}

// clear is what of a goes with the answer.
func (a Ask) clear() ledger.Clear {
	return ledger.Clear{Window: a.Window, Place: a.Place, Target: a.Target, Arguments: a.Arguments,
		Delivery: a.Delivery, Policy: a.PolicyHash, Snapshot: a.Snapshot, Profile: a.Profile, Until: a.NotAfter,
		Group: a.Group, Step: a.Step, Of: a.Of}
}

// key hides words behind a digest; each is quoted, so that two lists of words
// never run together into one.
func key(words ...string) string {
	h := sha256.New()
	for _, w := range words {
		h.Write(strconv.AppendQuote(nil, w))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// joinable finds the open request that a repeats.
func joinable(all []ledger.Record, a Ask) (ledger.Record, bool) {
	for _, r := range all {
		if r.State.Open() && r.Digest == a.Digest && r.Session == a.Session {
			return r, true
		}
	}
	return ledger.Record{}, false
}

// shows reports whether the person sees with r what a is about to do. It can
// only fail where a caller's digest does not cover what it must.
func shows(r ledger.Record, a Ask) bool {
	c := a.clear()
	return r.Verb == a.Verb && r.Clear.Target == c.Target && r.Clear.Arguments == c.Arguments &&
		r.Clear.Delivery == c.Delivery && r.Clear.Policy == c.Policy
}

// denied says whether a person's no still stands against n. A denial in the
// future, which a clock that was set back makes, stands.
func denied(all []ledger.Record, n ledger.Record, now time.Time) error {
	var control []ledger.Record
	for _, r := range all {
		if r.State != ledger.Denied || r.Lifted {
			continue
		}
		same := r.Digest == n.Digest || n.Same != "" && r.Same == n.Same
		if until := r.Changed.Add(denialBlock); same && now.Before(until) {
			return &DeniedError{ID: r.ID, Reply: r.Reply, Until: until}
		}
		if r.Control == n.Control {
			control = append(control, r)
		}
	}
	slices.SortFunc(control, func(a, b ledger.Record) int { return a.Changed.Compare(b.Changed) })
	for i, last := range slices.Backward(control) {
		until := last.Changed.Add(denialSpan)
		if i < denials-1 || !now.Before(until) {
			break
		}
		if last.Changed.Sub(control[i-denials+1].Changed) <= denialSpan {
			return &DeniedError{ID: last.ID, Reply: last.Reply, Until: until, Blocked: true}
		}
	}
	return nil
}

// replaced finds the open requests whose card n takes over.
func replaced(all []ledger.Record, n ledger.Record) (old []ledger.Record) {
	for _, r := range all {
		if n.Same != "" && r.State.Open() && r.Same == n.Same && r.Session == n.Session {
			old = append(old, r)
		}
	}
	return old
}

// crowded says whether one more would be too many, not counting those that it
// replaces.
func crowded(all []ledger.Record, session, group string, old []ledger.Record) error {
	mine, every := 0, 0
	counted := map[string]bool{}
	for _, r := range all {
		if r.State != ledger.Pending || slices.ContainsFunc(old, func(o ledger.Record) bool { return o.ID == r.ID }) {
			continue
		}
		if g := r.Clear.Group; g != "" { // a person looks at a list as one
			if g == group && r.Session == session {
				return nil
			}
			if counted[g] {
				continue
			}
			counted[g] = true
		}
		every++
		if r.Session == session {
			mine++
		}
	}
	switch {
	case mine >= maxSession:
		return fmt.Errorf("%w: %d of this session are unanswered", ErrTooMany, mine)
	case every >= maxProfile:
		return fmt.Errorf("%w: %d of this profile are unanswered", ErrTooMany, every)
	}
	return nil
}

// history says since when and how often the same was asked without being done.
func history(all []ledger.Record, n ledger.Record, now time.Time) (first time.Time, again int) {
	for _, r := range all {
		if n.Same == "" || r.Same != n.Same || r.Session != n.Session {
			continue
		}
		switch r.State {
		case ledger.Executing, ledger.Consumed:
			first, again = time.Time{}, 0
		default:
			if r.State.Open() || now.Sub(r.Changed) < askedAgain {
				first, again = r.First, r.Again+1
			}
		}
	}
	return first, again
}
