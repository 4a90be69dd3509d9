// Package review is the person's half of approval: see what is asked, and
// answer. Nothing that faces a model may import it.
//
//	inbox, err := review.Open(dir)
//	cards, err := inbox.Pending(ctx)
//	err = inbox.Approve(ctx, cards[0].ID, "terminal")
//	err = inbox.Deny(ctx, cards[0].ID, "terminal", "wrong control")
//
// # Guarantees
//
//   - An answer goes to the one request whose whole id is given, while it is
//     open, and to no other: not to the next in the list, not to the one that
//     replaced it.
//   - When Approve or Deny returns nil the answer is on the disk.
//   - Looking takes no lock and writes nothing, except that what the clock has
//     ended is taken off the disk.
//
// # Limits
//
//   - Who may answer is the caller's to decide; the responder is kept as given.
//   - A card's strings are what the page and the agent say, as they are. Show
//     them with package visible.
//
// # Concurrency
//
// An Inbox may be used from any goroutine, and any number of them may share a
// directory. Of two answers to one request the first one counts; a no to a yes
// that is not spent yet counts too.
package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
)

const (
	maxResponder = 64  // bytes
	maxReply     = 200 // characters
)

// An Inbox is a person's view of one profile's requests.
type Inbox struct {
	ledger *ledger.Ledger
}

// Open names the requests in dir. It reads and makes nothing; a directory that
// is not there yet holds no request.
func Open(dir string) (*Inbox, error) {
	l, err := ledger.New(dir, ledger.System())
	if err != nil {
		return nil, err
	}
	return &Inbox{ledger: l}, nil
}

// Pending returns what waits for an answer. A card keeps its place when it is
// asked again, and cards never change places.
func (i *Inbox) Pending(ctx context.Context) ([]Card, error) {
	return i.cards(ctx, approval.StatePending)
}

// Granted returns what was approved and is not spent yet. Deny takes the
// approval back.
func (i *Inbox) Granted(ctx context.Context) ([]Card, error) {
	return i.cards(ctx, approval.StateGranted)
}

// Missed returns what expired unanswered after since, and was not asked again,
// oldest first. The cards are bare.
func (i *Inbox) Missed(ctx context.Context, since time.Time) ([]Card, error) {
	b, err := i.look(ctx)
	if err != nil {
		return nil, err
	}
	var missed []Card
	records := b.Records()
	for n, r := range records {
		again := slices.ContainsFunc(records[n+1:], func(later ledger.Record) bool {
			return r.Same != "" && later.Same == r.Same && later.Session == r.Session
		})
		if r.State == ledger.Expired && r.By == "" && r.Changed.After(since) && !again {
			missed = append(missed, card(r))
		}
	}
	return missed, nil
}

// Get returns the request with exactly this id, in whatever state it is.
func (i *Inbox) Get(ctx context.Context, id string) (Card, error) {
	b, err := i.look(ctx)
	if err != nil {
		return Card{}, err
	}
	r, ok := find(b, id)
	if !ok {
		return Card{}, approval.ErrUnknown
	}
	return card(r), nil
}

// Approve says yes, once, to the request with exactly this id. The yes lives
// for [approval.Lifetime].
func (i *Inbox) Approve(ctx context.Context, id, responder string) error {
	return i.answer(ctx, id, ledger.Granted, ledger.Change{By: responder})
}

// Deny says no. The reply, at most 200 characters on one line, is told to the
// agent as the person's words.
func (i *Inbox) Deny(ctx context.Context, id, responder, reply string) error {
	if !utf8.ValidString(reply) || utf8.RuneCountInString(reply) > maxReply ||
		slices.ContainsFunc([]rune(reply), unicode.IsControl) {
		return fmt.Errorf("approval: a reply is one line of at most %d characters", maxReply)
	}
	return i.answer(ctx, id, ledger.Denied, ledger.Change{By: responder, Reply: reply})
}

// ClearAll withdraws every open request, as an edit of the policy must, and
// lifts what earlier denials block.
func (i *Inbox) ClearAll(ctx context.Context, reason string) error {
	if !i.ledger.Exists() {
		return nil
	}
	return i.ledger.Update(ctx, func(b *ledger.Book) error {
		b.Lift()
		var err error
		for _, r := range b.Records() {
			if r.State.Open() {
				err = errors.Join(err, b.Move(r.ID, ledger.Withdrawn, ledger.Change{Reason: reason}))
			}
		}
		return err
	})
}

// look reads all requests and takes off the disk what is over.
func (i *Inbox) look(ctx context.Context) (*ledger.Book, error) {
	b, due, err := i.ledger.View(ctx)
	if err == nil && due {
		err = i.ledger.Update(ctx, func(*ledger.Book) error { return nil })
	}
	return b, err
}

func find(b *ledger.Book, id string) (ledger.Record, bool) {
	if !ledger.IsID(id) {
		return ledger.Record{}, false
	}
	return b.Find(id)
}

func (i *Inbox) cards(ctx context.Context, state approval.State) ([]Card, error) {
	b, err := i.look(ctx)
	if err != nil {
		return nil, err
	}
	var all []Card
	for _, r := range b.Records() {
		if r.State == state {
			all = append(all, card(r))
		}
	}
	slices.SortStableFunc(all, func(a, b Card) int { return a.First.Compare(b.First) })
	return all, nil
}

func (i *Inbox) answer(ctx context.Context, id string, to ledger.State, c ledger.Change) error {
	if c.By == "" || len(c.By) > maxResponder || !utf8.ValidString(c.By) {
		return fmt.Errorf("approval: a responder is 1 to %d bytes of UTF-8", maxResponder)
	}
	if !i.ledger.Exists() {
		return approval.ErrUnknown
	}
	return i.ledger.Update(ctx, func(b *ledger.Book) error {
		r, ok := find(b, id)
		if !ok {
			return approval.ErrUnknown
		}
		if r.State == ledger.Pending || r.State == ledger.Granted && to == ledger.Denied {
			return b.Move(id, to, c)
		}
		return &AnsweredError{ID: id, State: r.State, By: r.By}
	})
}
