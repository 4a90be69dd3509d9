package permissioncanvas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// Capture returns what the agent may see of w.
func (c *Canvas) Capture(ctx context.Context, w WindowRef, opts *CaptureOptions) (*Observation, error) {
	obs, _, err := c.capture(ctx, w, opts, "")
	return obs, err
}

// capture is Capture for one of the conversations that share this session.
func (c *Canvas) capture(ctx context.Context, w WindowRef, opts *CaptureOptions, label string) (*Observation, *sighting, error) {
	obs, s, err := c.see(ctx, w, opts, label)
	if err != nil {
		c.drop(ctx, w)
		return nil, nil, c.refused(ctx, err, map[string]string{"act": "capture", "window": windowField(w)})
	}
	return obs, s, nil
}

func (c *Canvas) see(ctx context.Context, w WindowRef, opts *CaptureOptions, label string) (*Observation, *sighting, error) {
	var o CaptureOptions
	if opts != nil {
		o = *opts
	}
	if w.IsZero() {
		return nil, nil, refuse(AmbiguousWindow, nil)
	}
	if o.MaxSide < 0 || o.MaxElements < 0 {
		return nil, nil, refuse(BadRequest, nil, "A size or count cannot be negative.")
	}
	leave, rules, err := c.enter()
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	release, err := c.hold(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	c.mu.Lock()
	last := c.focus
	c.mu.Unlock()
	c.drop(ctx, w)
	look, err := c.look(ctx, rules, w, o.NoImage)
	if err != nil {
		return nil, nil, err
	}
	s := &sighting{look: look, label: label, nonce: newNonce(), rules: rules.Hash(), taken: time.Now()}
	obs, err := s.show(&o, c.guard(rules))
	if err != nil {
		return nil, nil, err
	}
	if err := c.still(rules, false); err != nil {
		return nil, nil, err
	}
	if err := c.profile.DropReviews(rules, w, matched(look)...); err != nil {
		return nil, nil, refuse(PolicyInvalid, err)
	}
	err = c.note(ctx, "capture", map[string]string{
		"window": windowField(w), "app": look.Window.AppName(), "snapshot": s.id(),
		"elements": strconv.Itoa(len(s.rows)), "covered": strconv.Itoa(obs.Covered()), "policy": s.rules,
	})
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, refuse(DriverFailed, errors.New("closed"))
	}
	c.seen[w], c.focus = s, last.propose(s)
	c.storeView(obs, s)
	return obs, s, nil
}

// matched are the rules that found something: what a person accepted as
// missing is missing no more.
func matched(look *sight.Look) []string {
	var out []string
	for i := range look.Judgement.Verdicts {
		for _, id := range look.Judgement.Verdicts[i].Rules {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// still says whether the person has left everything as it was when rules were
// read: a pause, an edit, or for input an open card, that is there now counts
// although a call is under way (D16).
func (c *Canvas) still(rules *policy.Policy, input bool) error {
	if p := c.gate.State(); p.Paused {
		return pausedError(&handoff.PausedError{Pause: p})
	}
	if input && c.gate.CardOpen() {
		return refuse(Busy, nil)
	}
	now, err := c.rules()
	if err != nil {
		return err
	}
	if now.Hash() != rules.Hash() {
		return refuse(StaleSnapshot, nil)
	}
	return nil
}

// look takes one honest look, one reader of the profile at a time.
func (c *Canvas) look(ctx context.Context, rules *policy.Policy, w WindowRef, noImage bool) (*sight.Look, error) {
	done, err := c.gate.Reading(ctx)
	if err != nil {
		return nil, refuse(Busy, err)
	}
	defer done()
	look, err := sight.Take(ctx, c.desktop, rules, w, sight.Options{
		NoImage: noImage, Digest: c.profile.Digest, Accepted: c.profile.Accepted(rules, w),
	})
	if err != nil {
		return nil, sightError(err)
	}
	return look, nil
}

// drop ends the tokens of w, its asks and the focus.
func (c *Canvas) drop(ctx context.Context, w WindowRef) {
	c.mu.Lock()
	s := c.seen[w]
	delete(c.seen, w)
	c.focus = nil
	c.mu.Unlock()
	if s == nil {
		return
	}
	_, err := c.asks.Withdraw(context.WithoutCancel(ctx), approval.Filter{Session: c.session, Snapshot: s.id()})
	if err != nil {
		c.log.Warn("asks of an old capture could not be withdrawn", "cause", err)
	}
}

// storeView keeps what the agent got, for the person to look at. It is not
// waited for: a person's picture may be late, an agent's reply may not.
func (c *Canvas) storeView(obs *Observation, s *sighting) {
	png := obs.PNG()
	if png == nil {
		return
	}
	v := profile.View{Window: s.look.Window.Ref, Policy: s.rules, Session: c.session, Taken: s.taken}
	c.views.Go(func() {
		if err := c.profile.StoreView(v, png); err != nil {
			c.log.Warn("the agent's view was not kept", "cause", err)
		}
	})
}

func windowField(w WindowRef) string { return fmt.Sprintf("%d:%d", w.PID, w.ID) }

// sightError gives what a look failed for its code.
func sightError(err error) *Error {
	var unmatched *sight.UnmatchedError
	switch {
	case errors.As(err, &unmatched):
		return refuse(RuleUnmatched, err)
	case errors.Is(err, sight.ErrNotSelected):
		return refuse(NoWindowSelected, err)
	case errors.Is(err, sight.ErrWindowChanged):
		return refuse(WindowChanged, err)
	case errors.Is(err, sight.ErrAmbiguous):
		return refuse(AmbiguousWindow, err)
	case errors.Is(err, sight.ErrPageUnavailable):
		return refuse(BrowserPageUnavailable, err)
	case errors.Is(err, sight.ErrWithheld):
		return refuse(Withheld, err)
	}
	return driverError(err)
}

// driverError gives a driver's error its code, where nothing was done.
func driverError(err error) *Error {
	switch {
	case errors.Is(err, driver.ErrWindowGone):
		return refuse(WindowChanged, err)
	case errors.Is(err, driver.ErrIncomplete):
		return refuse(CaptureIncomplete, err)
	case errors.Is(err, driver.ErrStaleToken):
		return refuse(StaleSnapshot, err)
	case errors.Is(err, driver.ErrBackgroundUnavailable):
		return refuse(BackgroundUnavailable, err)
	case errors.Is(err, driver.ErrRefused), errors.Is(err, driver.ErrUnsupported):
		e := refuse(DriverFailed, err)
		e.Message, e.Next = "The desktop does not take that for this control, and nothing was done. Choose another way.", CaptureAgain
		return e
	}
	return refuse(DriverFailed, err)
}
