package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

func pending(c *call) error {
	cards, err := c.desk.Pending(c.ctx)
	if err != nil {
		return err
	}
	if c.json {
		list := []ask{}
		for _, card := range cards {
			list = append(list, askOf(card))
		}
		return c.emit(struct {
			Profile string `json:"profile"`
			Paused  bool   `json:"paused"`
			Pending []ask  `json:"pending"`
		}{c.desk.Dir(), c.desk.State().Paused, list})
	}
	if len(cards) == 0 {
		c.print("Nobody asks.")
		if p := c.desk.State(); p.Paused {
			c.print("%s", pausedLine(p))
		}
	}
	for i, card := range cards {
		if i > 0 {
			c.print("")
		}
		c.printCard(card)
		c.print("  answer     %s   or   %s", plain(c.desk.Command("approve "+card.ID)), plain(c.desk.Command("deny "+card.ID)))
	}
	return nil
}

// An ask is an ask in an answer. The letters that a person types for it are for
// her eyes when she answers, and not in it.
type ask struct {
	ID          string `json:"id"`
	Verb        string `json:"verb"`
	Agent       string `json:"agent"`
	Target      string `json:"target"`
	Window      string `json:"window"`
	Place       string `json:"place"`
	Arguments   string `json:"arguments"`
	Delivery    string `json:"delivery"`
	Again       int    `json:"again"`
	ExpiresAt   string `json:"expires_at"`
	SecondsLeft int    `json:"seconds_left"`
}

func askOf(card control.Card) ask {
	return ask{
		ID: card.ID, Verb: card.Verb, Agent: card.Agent, Target: card.Target, Window: card.Window, Place: card.Place,
		Arguments: card.Arguments, Delivery: card.Delivery, Again: card.Again,
		ExpiresAt:   card.Expires.UTC().Format(time.RFC3339),
		SecondsLeft: max(0, int(time.Until(card.Expires).Seconds())),
	}
}

// printCard shows one ask, whole.
func (c *call) printCard(card control.Card) {
	c.print("%s   %s left", plain(card.ID), left(card.Expires))
	for _, line := range cardLines(card) {
		c.print("  %s", line)
	}
}

func left(expires time.Time) string {
	d := max(0, time.Until(expires).Round(time.Second))
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

func approve(c *call) error {
	if len(c.words) == 0 {
		return pending(c)
	}
	id := c.words[0]
	if c.onTerminal() {
		if err := c.confirm(id); err != nil {
			return err
		}
	}
	if err := c.desk.Approve(c.ctx, id); err != nil {
		return answerError(id, err)
	}
	if c.json {
		return c.emit(object{"approved": object{"id": id}})
	}
	c.print("Approved once: %s", plain(id))
	return nil
}

// confirm shows the ask and waits for its two letters. Meanwhile no agent's
// input goes out, and what was typed before does not count.
func (c *call) confirm(id string) error {
	card, done, err := c.desk.Show(c.ctx, id)
	if err != nil {
		return answerError(id, err)
	}
	defer done()
	if card.Code == "" {
		return answerError(id, fmt.Errorf("it is %s", card.State))
	}
	c.printCard(card)
	// The title tells agents' sides that a person answers in this terminal.
	fmt.Fprint(c.err, "\x1b[22;0t\x1b]0;"+control.TerminalTitle+"\x07")
	defer fmt.Fprint(c.err, "\x1b[23;0t")
	forget(c.in)
	fmt.Fprintf(c.err, "Type %s and Enter to approve this once. Anything else leaves it open: ", card.Code)
	ctx, cancel := context.WithDeadline(c.ctx, card.Expires)
	defer cancel()
	if strings.EqualFold(c.line(ctx), card.Code) {
		return nil
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("the question is over; nothing was done")
	}
	return errors.New("not approved; the question stays open")
}

func deny(c *call) error {
	id := c.words[0]
	if err := c.desk.Deny(c.ctx, id, c.args.get("reply")); err != nil {
		return answerError(id, err)
	}
	if c.json {
		return c.emit(object{"denied": object{"id": id}})
	}
	c.print("Denied: %s", plain(id))
	return nil
}

// answerError says which ask an error is about.
func answerError(id string, err error) error {
	return fmt.Errorf("%s: %w", visible.Text(id, 64), err)
}
