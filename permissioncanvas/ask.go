package permissioncanvas

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strconv"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/driver"
)

// binding is everything an approval is tied to (PC19). A change to any of it
// is another question.
func (c *Canvas) binding(in *intent) string {
	m := map[string]any{
		"session": c.session, "policy": in.seen.rules, "snapshot": in.seen.id(),
		"arguments": arguments(in.action), "element": string(in.who.Encode()),
		"window": in.seen.look.Window.Ref, "start": in.seen.look.Window.Start,
	}
	if in.list != nil {
		m["list"] = in.list
	}
	return digest(m)
}

// ask puts in before the person and waits for the answer while ctx lives. It
// returns the id of the grant.
func (c *Canvas) ask(ctx context.Context, in *intent) (string, error) {
	p, err := c.request(ctx, in)
	if err != nil {
		return "", err
	}
	waiting, stop := c.holding(ctx)
	defer stop()
	if err := c.await(waiting, in, p); err != nil {
		if withdrawn(waiting, err) {
			c.withdraw(ctx, p.ID)
		}
		return "", err
	}
	return p.ID, nil
}

// request opens the question, or joins it where it is open already.
func (c *Canvas) request(ctx context.Context, in *intent) (approval.Pending, error) {
	if !c.gate.EverAnswered() {
		return approval.Pending{}, refuse(NoApprover, nil)
	}
	p, err := c.asks.Request(ctx, c.question(in))
	if err != nil {
		return p, c.askError(err)
	}
	if p.State != approval.StatePending {
		return p, nil
	}
	if err := c.note(ctx, "asked", merge(in.fields(c), "approval", p.ID)); err != nil {
		c.withdraw(ctx, p.ID) // it is not on record, or the caller is gone: nobody is to answer it
		return p, err
	}
	return p, nil
}

// await returns nil once the person said yes.
func (c *Canvas) await(ctx context.Context, in *intent, p approval.Pending) error {
	state := p.State
	if state == approval.StatePending && !c.noWait {
		var err error
		if state, err = c.asks.Wait(ctx, p.ID); err != nil {
			return c.unanswered(ctx, p, in, err)
		}
	}
	switch state {
	case approval.StateGranted:
		return nil
	case approval.StatePending:
		return c.required(p, in)
	case approval.StateDenied:
		return c.deniedError(ctx, p, c.binding(in))
	}
	e := refuse(ApprovalExpired, nil)
	e.Approval = &Approval{ID: p.ID, Expires: p.Expires}
	return e
}

// withdrawn says that err ends a wait because the caller is gone: a deadline
// leaves the question open, a cancel takes it back.
func withdrawn(ctx context.Context, err error) bool {
	return errors.Is(err, ApprovalExpired) && errors.Is(ctx.Err(), context.Canceled)
}

// holdKey is the key of a Hold in a context.
type holdKey struct{}

// Hold returns a context in which Act waits for a person for at most limit,
// as a deadline would have it, while what comes after the answer is not cut
// short by it.
func Hold(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, holdKey{}, limit)
}

// holding is ctx for as long as an answer is waited for: until the hold is
// over, or this session is.
func (c *Canvas) holding(ctx context.Context) (context.Context, context.CancelFunc) {
	limit, ok := ctx.Value(holdKey{}).(time.Duration)
	if !ok {
		limit = 2 * approval.Lifetime // no question lives longer
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	unhook := context.AfterFunc(c.life, stop)
	return ctx, func() { unhook(); stop() }
}

// question is in as the person reads it. The page's words come last and are
// quoted where they are shown.
func (c *Canvas) question(in *intent) approval.Ask {
	look := in.seen.look
	place := look.Window.Site
	if place == "" {
		place = in.seen.title
	}
	same := map[string]any{
		"session": c.session, "policy": in.seen.rules, "act": verb(in.action), "arguments": values(in.action),
		"delivery": deliveryOf(in.action),
		"element":  string(in.who.Encode()),
	}
	control := map[string]any{"app": look.Window.AppName(), "site": look.Window.Site, "element": in.who.Label,
		"role": in.who.Role, "path": in.who.Path}
	if in.target < 0 {
		control["tool"] = tool(in.action)
	}
	q := approval.Ask{
		Digest: c.binding(in), Session: c.session, Agent: c.agent, Window: look.Window.AppName(), Place: place,
		Verb: verb(in.action), Target: in.targetWords(), Arguments: string(canonical(values(in.action))),
		Delivery: string(deliveryOf(in.action)), PolicyHash: in.seen.rules, Snapshot: in.seen.id(),
		Same: digest(same), Control: digest(control), Profile: c.profile.Dir(), NotAfter: in.seen.expires(),
	}
	if in.list != nil {
		q.Group, q.Step, q.Of = in.list.Group, in.list.Step, in.list.Of
		q.Same = digest([]string{q.Same, strconv.Itoa(q.Step), strconv.Itoa(q.Of)})
	}
	return q
}

// values are the arguments a person needs to see beside the verb, the control
// and the delivery, which have lines of their own: all that is not as in the
// plainest act of its kind. The token would say nothing.
func values(a Action) map[string]any {
	m := arguments(a)
	for _, k := range []string{"element_token", "action", "delivery_mode", "window"} {
		delete(m, k)
	}
	if c, ok := a.(Click); ok {
		delete(m, "count") // in the verb, as the button is
		delete(m, "button")
		if len(c.Modifiers) == 0 {
			delete(m, "modifiers")
		}
	}
	return m
}

// targetWords names the control by what the agent sees of it: what a rule
// hides is not put in the ledger either.
func (in *intent) targetWords() string {
	if in.target < 0 {
		return ""
	}
	return strings.TrimSpace(in.element.Role + " " + clip(in.element.Label, 200))
}

// verb is the act's own word, first on every card.
func verb(a Action) string {
	switch a := a.(type) {
	case Click:
		word := map[int]string{2: "DOUBLE-CLICK", 3: "TRIPLE-CLICK"}[a.Count]
		if word == "" {
			word = "CLICK"
		}
		if a.Button != driver.ButtonLeft {
			word = strings.ToUpper(string(a.Button)) + "-" + word
		}
		return word
	case TypeText:
		return "CLICK AND TYPE"
	case SetValue:
		return "SET VALUE"
	case PressKeys:
		return "PRESS KEYS"
	case Scroll:
		return "SCROLL"
	case Drag:
		return "DRAG " + describe(a.From) + " TO " + describe(a.To)
	case Raise:
		return "BRING TO FRONT"
	}
	return "ACT"
}

func describe(p image.Point) string { return fmt.Sprintf("%d,%d", p.X, p.Y) }

// required is the answer while nobody has answered.
func (c *Canvas) required(p approval.Pending, in *intent) *Error {
	e := refuse(ApprovalRequired, nil, fmt.Sprintf(" (ask %s, open until %s): %s", p.ID,
		p.Expires.Local().Format("15:04:05"), c.summary(in)))
	e.Approval = &Approval{ID: p.ID, Expires: p.Expires, Command: c.command(p.ID)}
	return e
}

func (c *Canvas) summary(in *intent) string {
	return strings.ToLower(verb(in.action)) + " " + in.name()
}

// command is what the person types to answer.
func (c *Canvas) command(id string) string { return c.profile.Command("approve " + id) }

// unanswered is the error of a wait that ctx ended.
func (c *Canvas) unanswered(ctx context.Context, p approval.Pending, in *intent, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return c.required(p, in)
	}
	if ctx.Err() == nil {
		return c.askError(err)
	}
	e := refuse(ApprovalExpired, err)
	e.Message = "The call was cancelled, so its question was withdrawn. Nothing was done."
	return e
}

func (c *Canvas) withdraw(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := c.asks.Withdraw(ctx, approval.Filter{Session: c.session, ID: id}); err != nil {
		c.log.Warn("an ask could not be withdrawn", "cause", err)
	}
}

// deniedError is a person's no, with their words: a grant that was denied
// cannot be spent, and says why.
func (c *Canvas) deniedError(ctx context.Context, p approval.Pending, digest string) error {
	err := c.asks.Consume(context.WithoutCancel(ctx), p.ID, digest, c.session)
	var d *approval.DeniedError
	if errors.As(err, &d) {
		return c.askError(err)
	}
	e := refuse(ApprovalDenied, err, "")
	e.Approval = &Approval{ID: p.ID, Expires: p.Expires}
	return e
}

// askError gives the ledger's errors their codes.
func (c *Canvas) askError(err error) *Error {
	var d *approval.DeniedError
	switch {
	case errors.As(err, &d):
		words := ""
		if d.Reply != "" {
			words = fmt.Sprintf(" and wrote %q", d.Reply)
		}
		e := refuse(ApprovalDenied, err, words)
		e.Approval = &Approval{ID: d.ID, Reply: d.Reply}
		return e
	case errors.Is(err, approval.ErrTooMany):
		return refuse(TooManyPending, err)
	case errors.Is(err, approval.ErrBusy), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return refuse(Busy, err)
	case errors.Is(err, approval.ErrTooLarge), errors.Is(err, approval.ErrInvalid):
		return refuse(BadRequest, err, "That is too much to put before a person. Do less at once.")
	case errors.Is(err, approval.ErrExpired):
		return refuse(StaleSnapshot, err)
	}
	return refuse(PolicyInvalid, err)
}

// spend consumes the grant: exactly one caller in any process gets nil.
func (c *Canvas) spend(ctx context.Context, in *intent, id string) error {
	switch err := c.asks.Consume(ctx, id, c.binding(in), c.session); {
	case err == nil:
		return nil
	case errors.Is(err, approval.ErrExpired), errors.Is(err, approval.ErrUnknown), errors.Is(err, approval.ErrPending),
		errors.Is(err, approval.ErrWithdrawn), errors.Is(err, approval.ErrSpent), errors.Is(err, approval.ErrMismatch):
		return refuse(ApprovalExpired, err)
	default:
		return c.askError(err)
	}
}

func merge(m map[string]string, key, value string) map[string]string {
	m[key] = value
	return m
}
