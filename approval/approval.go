// Package approval is the agent's half of asking a person: put a question,
// wait, and spend the answer once. The person's half, which answers, is
// approval/review; this package cannot reach it.
//
//	store, err := approval.Open(dir, nil)
//	p, err := store.Request(ctx, ask)           // joins an open identical ask
//	state, err := store.Wait(ctx, p.ID)         // holds no lock
//	err = store.Consume(ctx, p.ID, digest, session) // granted → executing, once
//	… act …
//	err = store.Finish(ctx, p.ID)               // executing → consumed
//
// # Guarantees
//
//   - Only an exact grant is ever spent: the digest that was asked, by the
//     session that asked, once, by one process of all, within its time.
//   - A question lives for 120 seconds and so does the yes to it. Nothing
//     extends either. The wall clock and this process's own clock are both
//     asked; a wall clock that went back ends the request.
//   - A request that began to execute is never spent again, whatever dies.
//   - What a question holds in clear is on the disk only while it is pending
//     or granted.
//   - A denial blocks that request for 120 seconds; three within ten minutes
//     on one control or tool block it for ten.
//
// # Limits
//
//   - Ask.Digest must cover everything that may not differ between question
//     and act. This package compares it and does not know what is in it.
//   - The ledger is a file of the user's. A program that may write the user's
//     files can write a grant there.
//
// # Concurrency
//
// A Store may be used from any goroutine; any number of Stores, in any
// processes, may share a directory. No method holds the ledger's lock for
// longer than one write takes, and Wait holds none.
package approval

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
)

// Lifetime is how long a question stays open, and how long a yes may be spent.
const Lifetime = ledger.Lifetime

// MaxAsk bounds what one ask takes on the disk, in bytes.
const MaxAsk = ledger.MaxRecord

// State is where a request stands. It never moves back.
type State = ledger.State

const (
	StatePending   = ledger.Pending   // nobody has answered
	StateGranted   = ledger.Granted   // a person said yes; may be spent once
	StateDenied    = ledger.Denied    // a person said no
	StateExecuting = ledger.Executing // spent: the act may have happened
	StateConsumed  = ledger.Consumed  // spent, and the act's outcome is known
	StateExpired   = ledger.Expired   // nobody answered, or nobody spent the yes, in time
	StateWithdrawn = ledger.Withdrawn // the asker, a new capture or a policy edit took it back
)

// Options is for what may be added; nil is the zero value.
type Options struct {
	clock *ledger.Clock
}

// A Store is one process's way to ask.
type Store struct {
	ledger *ledger.Ledger

	mu    sync.Mutex
	marks map[string]*mark
}

// Open makes the directory where it is missing and refuses one that others may
// write, or a ledger that is not whole. What the clock has ended meanwhile is
// taken off the disk.
func Open(dir string, opts *Options) (*Store, error) {
	clock := ledger.System()
	if opts != nil && opts.clock != nil {
		clock = *opts.clock
	}
	l, err := ledger.New(dir, clock)
	if err != nil {
		return nil, err
	}
	if err := l.Update(context.Background(), func(*ledger.Book) error { return nil }); err != nil {
		return nil, err
	}
	return &Store{ledger: l, marks: map[string]*mark{}}, nil
}

// A mark remembers, by this process's own clock, when a request was asked and
// when it was first seen granted.
type mark struct {
	asked, granted time.Duration
	seen           bool // granted is set
}

// backwards is how much less time than our own clock the wall may show to have
// passed before it counts as set back: more than any slewing, less than a
// person would notice.
const backwards = time.Second

// lapsed reports whether our own clock ends an open record which the wall
// still lets live.
func (s *Store) lapsed(r ledger.Record, now time.Time) bool {
	if !r.State.Open() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	mono, wall := s.ledger.Clock.Mono(), now.Sub(r.Asked)
	m := s.marks[r.ID]
	if m == nil {
		m = &mark{asked: mono - wall}
		s.marks[r.ID] = m
	}
	if r.State == ledger.Granted && !m.seen {
		m.granted, m.seen = mono, true
	}
	age := mono - m.asked
	switch {
	case wall+backwards < age:
		return true
	case r.State == ledger.Granted:
		return mono-m.granted >= Lifetime
	}
	return age >= Lifetime
}

// update is Ledger.Update with what our own clock says, and drops the marks
// of requests that are over.
func (s *Store) update(ctx context.Context, f func(*ledger.Book) error) error {
	return s.ledger.Update(ctx, func(b *ledger.Book) error {
		var late error
		open := map[string]bool{}
		for _, r := range b.Records() {
			open[r.ID] = r.State.Open()
			if s.known(r.ID) && s.lapsed(r, b.Now) {
				open[r.ID] = false
				late = errors.Join(late, b.Move(r.ID, ledger.Expired, ledger.Change{}))
			}
		}
		s.keep(open)
		return errors.Join(late, f(b))
	})
}

// known reports whether this process has asked or joined the request.
func (s *Store) known(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.marks[id] != nil
}

// keep drops all marks but those of these requests.
func (s *Store) keep(open map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.marks, func(id string, _ *mark) bool { return !open[id] })
}
