package canvastest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// Patience is how long Approve and Deny wait for something to be asked.
const Patience = 10 * time.Second

// settled is how long no further step of a list has asked when it is whole.
const settled = time.Second

// A Card is one ask, as a person sees it.
type Card = control.Card

// A Person is the human side of a [Desk].
type Person struct {
	t    testing.TB
	side *control.Desk
	desk *Desk
}

// Control is all else that a person can do: rules, selection, preview, record.
func (p *Person) Control() *control.Desk { return p.side }

// Pending is what waits for an answer now.
func (p *Person) Pending() []Card {
	p.t.Helper()
	cards, err := p.side.Pending(context.Background())
	if err != nil {
		p.fail("pending", err)
	}
	return cards
}

// Approve waits for an ask, says yes to it once, and returns it. Of several it
// takes the oldest. A list of steps gets its yes as a whole, and its first card
// is returned.
func (p *Person) Approve() Card {
	p.t.Helper()
	return p.answer("approve", p.side.Approve)
}

// Deny waits for an ask as Approve does, and says no with the words of reply,
// which may be "". A no to one step of a list is a no to the list.
func (p *Person) Deny(reply string) Card {
	p.t.Helper()
	first := true
	return p.answer("deny", func(ctx context.Context, id string) error {
		if !first { // the first no has ended the others
			return nil
		}
		first = false
		return p.side.Deny(ctx, id, reply)
	})
}

// Pause takes the desktop from the agent: all of it is refused until Resume.
func (p *Person) Pause() {
	p.t.Helper()
	if _, err := p.side.Pause(context.Background(), "a test"); err != nil {
		p.fail("pause", err)
	}
}

// Resume gives the desktop back. Accept names hide rules, by id, that may find
// nothing in the window.
func (p *Person) Resume(accept ...string) {
	p.t.Helper()
	if _, err := p.side.Resume(context.Background(), accept); err != nil {
		p.fail("resume", err)
	}
}

// answer gives one answer to the ask that came first and to its whole list.
func (p *Person) answer(what string, say func(ctx context.Context, id string) error) Card {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cards, err := p.first(ctx)
	for _, c := range cards {
		if err == nil {
			err = say(ctx, c.ID)
		}
	}
	if err != nil {
		p.fail(what, err)
		return Card{}
	}
	return cards[0]
}

// first waits for an ask, and returns it with the others of its list. Those are
// asked one after the other, and a step that is allowed asks nothing: so it
// looks until all have come, or none more has for a while.
func (p *Person) first(ctx context.Context) ([]Card, error) {
	began, before := time.Now(), 0
	for {
		all, err := p.side.Pending(ctx)
		if err != nil {
			return nil, err
		}
		list := ofOneList(all)
		if len(list) != before {
			began, before = time.Now(), len(list)
		}
		if before > 0 && (list[0].Group == "" || before == list[0].Of || time.Since(began) > settled) {
			return list, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("nothing was asked in %s", Patience)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ofOneList returns the first card and those of its list.
func ofOneList(all []Card) []Card {
	if len(all) == 0 || all[0].Group == "" {
		return all[:min(1, len(all))]
	}
	var list []Card
	for _, c := range all {
		if c.Group == all[0].Group {
			list = append(list, c)
		}
	}
	return list
}

// fail fails the test, from whatever goroutine, and ends the session.
func (p *Person) fail(what string, err error) {
	p.t.Helper()
	p.t.Errorf("canvastest: the person could not %s: %v", what, explain(err))
	if p.desk.Canvas != nil {
		_ = p.desk.Close()
	}
}

// explain adds what an agent is not told.
func explain(err error) error {
	if e, ok := errors.AsType[*canvas.Error](err); ok && e.Detail() != "" {
		return fmt.Errorf("%w (%s)", err, e.Detail())
	}
	return err
}
