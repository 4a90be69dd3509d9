package control

import (
	"context"
	"fmt"

	"github.com/permission-canvas/permission-canvas/audit"
)

// Pending returns what waits for an answer. Cards keep their places.
func (d *Desk) Pending(ctx context.Context) ([]Card, error) {
	defer d.attend()()
	return d.inbox.Pending(ctx)
}

// Show returns the ask with exactly this id and keeps all input back until
// close is called: nothing types into the answer while the person reads.
func (d *Desk) Show(ctx context.Context, id string) (card Card, close func(), err error) {
	defer d.attend()()
	if card, err = d.inbox.Get(ctx, id); err != nil {
		return Card{}, nil, err
	}
	close, err = d.gate.HoldInput()
	return card, close, err
}

// Approve says yes, once, to the ask with exactly this id. The yes is on record
// before it counts.
func (d *Desk) Approve(ctx context.Context, id string) error {
	defer d.attend()()
	card, err := d.inbox.Get(ctx, id)
	if err != nil {
		return err
	}
	fields := map[string]string{"approval": card.ID, "session": card.Session, "digest": card.Digest, "answer": "approve"}
	if err := d.note(ctx, audit.Answered, fields); err != nil {
		return fmt.Errorf("nothing was approved: %w", err)
	}
	if err := d.inbox.Approve(ctx, id, d.by); err != nil {
		fields = map[string]string{"approval": card.ID, "session": card.Session, "answer": "void"}
		if err := d.note(ctx, audit.Answered, fields); err != nil {
			d.log.Warn("an approval that did not count stands on record as one", "cause", err)
		}
		return err
	}
	return nil
}

// Deny says no to the ask with exactly this id, or takes a yes back that is not
// spent. The reply, one line of at most 200 characters, goes to the agent.
func (d *Desk) Deny(ctx context.Context, id, reply string) error {
	defer d.attend()()
	card, err := d.inbox.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := d.inbox.Deny(ctx, id, d.by, reply); err != nil {
		return err
	}
	return d.after(ctx, "it is denied", audit.Answered, map[string]string{
		"approval": card.ID, "session": card.Session, "digest": card.Digest, "answer": "deny",
	})
}
