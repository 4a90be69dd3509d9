package approval

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
)

// pace is how often Wait looks, and stale how long it trusts that nothing
// changed because the file looks as before.
const (
	pace  = 50 * time.Millisecond
	stale = time.Second
)

// Wait returns the request's state as soon as it is not StatePending. While it
// waits it holds no lock. When ctx ends first it returns StatePending and
// ctx's error and leaves the question open: Withdraw it if nobody will come
// back.
func (s *Store) Wait(ctx context.Context, id string) (State, error) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for seen, looked, first := (ledger.Version{}), time.Duration(0), true; ; first = false {
		now := s.ledger.Clock.Mono()
		if v := s.ledger.Version(); first || v != seen || now-looked >= stale {
			seen, looked = v, now
			state, err := s.state(ctx, id)
			if err != nil || state != StatePending {
				return state, err
			}
		}
		select {
		case <-ctx.Done():
			return StatePending, ctx.Err()
		case <-tick.C:
		}
	}
}

// state looks once. What a clock has ended is ended on the disk too.
func (s *Store) state(ctx context.Context, id string) (State, error) {
	b, due, err := s.ledger.View(ctx)
	if err != nil {
		return "", err
	}
	r, ok := b.Find(id)
	if !ok {
		return "", ErrUnknown
	}
	if !due && !s.lapsed(r, b.Now) {
		return r.State, nil
	}
	err = s.update(ctx, func(b *ledger.Book) error {
		r, _ = b.Find(id)
		return nil
	})
	return r.State, err
}

// Consume spends a grant: of all callers in all processes exactly one gets
// nil, and only for the digest and the session that were asked. Whoever gets
// nil may act once. The other errors are ErrPending, ErrExpired, ErrWithdrawn,
// ErrSpent, ErrMismatch, ErrUnknown and *[DeniedError].
func (s *Store) Consume(ctx context.Context, id, digest, session string) error {
	return s.update(ctx, func(b *ledger.Book) error {
		r, ok := b.Find(id)
		switch {
		case !ok || r.Session != session:
			return ErrUnknown
		case r.Digest != digest:
			return ErrMismatch
		case r.State != ledger.Granted:
			return failure(r)
		}
		return b.Move(id, ledger.Executing, ledger.Change{})
	})
}

// Finish says that the outcome of a spent grant is known.
func (s *Store) Finish(ctx context.Context, id string) error {
	return s.update(ctx, func(b *ledger.Book) error {
		r, ok := b.Find(id)
		switch {
		case !ok:
			return ErrUnknown
		case r.State != ledger.Executing:
			return failure(r)
		}
		return b.Move(id, ledger.Consumed, ledger.Change{})
	})
}

// A Filter names open requests. All fields that are set must be equal.
type Filter struct {
	Session, Snapshot, ID string
}

func (f Filter) matches(r ledger.Record) bool {
	return r.State.Open() &&
		(f.Session == "" || f.Session == r.Session) &&
		(f.Snapshot == "" || f.Snapshot == r.Clear.Snapshot) &&
		(f.ID == "" || f.ID == r.ID)
}

// Withdraw takes back the open requests, answered or not, that f names, and
// returns how many. A filter that names nothing is an error; ClearAll takes
// back all.
func (s *Store) Withdraw(ctx context.Context, f Filter) (int, error) {
	if f == (Filter{}) {
		return 0, errors.New("approval: withdraw what? the filter is empty")
	}
	return s.withdraw(ctx, f, "")
}

// ClearAll takes back every open request of the profile, as a policy edit
// must. The reason is kept with them. Denials go on blocking.
func (s *Store) ClearAll(ctx context.Context, reason string) error {
	_, err := s.withdraw(ctx, Filter{}, reason)
	return err
}

func (s *Store) withdraw(ctx context.Context, f Filter, reason string) (n int, err error) {
	b, due, err := s.ledger.View(ctx)
	if err != nil {
		return 0, err
	}
	if !due && !slices.ContainsFunc(b.Records(), f.matches) {
		return 0, nil
	}
	err = s.update(ctx, func(b *ledger.Book) error {
		for _, r := range b.Records() {
			if f.matches(r) {
				err = errors.Join(err, b.Move(r.ID, ledger.Withdrawn, ledger.Change{Reason: reason}))
				n++
			}
		}
		return err
	})
	return n, err
}
