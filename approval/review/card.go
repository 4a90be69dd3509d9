package review

import (
	"fmt"
	"time"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
)

// A Card is one request as a person may see it. When the request is no longer
// open, everything from Window to Code is empty: it is off the disk.
type Card struct {
	ID     string
	State  approval.State
	Digest string
	// Session is who asks, Agent its name, Verb what it wants to do.
	Session, Agent, Verb string
	// First is when the same was first asked, Asked when this request was, and
	// Changed when State was reached.
	First, Asked, Changed time.Time
	Expires               time.Time // of an open request
	Again                 int       // how often it was asked before
	// By and Reply are who answered, and the words with a no. Reason is why it
	// was withdrawn.
	By, Reply, Reason string

	// Window, Place, Target, Arguments and Delivery are the act, exactly as it
	// would be done.
	Window, Place, Target, Arguments, Delivery string
	PolicyHash, Snapshot, Profile              string
	// Code is two letters, fresh for each request, which a person types to
	// show that it is this one that they answer.
	Code string
	// Group is equal for the cards of one list, of which this is Step of Of.
	Group    string
	Step, Of int
}

// An AnsweredError is an answer to a request that is no longer open.
type AnsweredError struct {
	ID    string
	State approval.State
	By    string // who answered it, if anybody did
}

func (e *AnsweredError) Error() string {
	if e.By != "" {
		return fmt.Sprintf("approval: request %s is %s, answered by %s", e.ID, e.State, e.By)
	}
	return fmt.Sprintf("approval: request %s is %s", e.ID, e.State)
}

// Unwrap is approval.ErrExpired or approval.ErrWithdrawn where that is why.
func (e *AnsweredError) Unwrap() error {
	switch e.State {
	case approval.StateExpired:
		return approval.ErrExpired
	case approval.StateWithdrawn:
		return approval.ErrWithdrawn
	}
	return nil
}

func card(r ledger.Record) Card {
	c := Card{ID: r.ID, State: r.State, Digest: r.Digest, Session: r.Session, Agent: r.Agent, Verb: r.Verb,
		First: r.First, Asked: r.Asked, Changed: r.Changed, Again: r.Again, By: r.By, Reply: r.Reply, Reason: r.Reason}
	if t := r.Clear; t != nil {
		c.Expires = r.Expires()
		c.Window, c.Place, c.Target, c.Arguments, c.Delivery = t.Window, t.Place, t.Target, t.Arguments, t.Delivery
		c.PolicyHash, c.Snapshot, c.Profile, c.Code = t.Policy, t.Snapshot, t.Profile, t.Code
		c.Group, c.Step, c.Of = t.Group, t.Step, t.Of
	}
	return c
}
