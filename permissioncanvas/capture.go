package permissioncanvas

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"time"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
	"github.com/permission-canvas/permission-canvas/redact"
)

// ListWindows returns the windows a person selected, front first.
func (c *Canvas) ListWindows(ctx context.Context) ([]Window, error) {
	ws, _, err := c.windows(ctx)
	if err != nil {
		return nil, c.refused(ctx, err, map[string]string{"act": "list_windows"})
	}
	return ws, nil
}

// windows returns the selected windows and how many others there are.
func (c *Canvas) windows(ctx context.Context) (selected []Window, others int, err error) {
	leave, rules, err := c.enter()
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	all, err := c.desktop.Windows(ctx)
	if err != nil {
		return nil, 0, driverError(err)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Z > all[j].Z })
	for _, w := range all {
		if _, never := sight.NeverSelectable(w); never || rules.Selected(w).State != policy.Exact {
			others++
			continue
		}
		selected = append(selected, redact.WindowOf(w, rules.HideTitle(w)))
	}
	if len(selected) == 0 {
		return nil, others, refuse(NoWindowSelected, nil)
	}
	return selected, others, nil
}

// A sighting is what one Capture showed: the newest of its window.
type sighting struct {
	look   *sight.Look
	label  string // of the conversation that saw it; two share no tokens
	nonce  uint32
	rows   []int // by row of the Observation: the index in the snapshot
	levels []driver.Level
	rules  string // hash of the policy it was made under
	taken  time.Time

	// unchecked: text went in and nobody could say that it arrived. No more
	// does before a capture (PC21).
	unchecked bool
}

// expires is when the sighting may no longer be acted on. The wall clock
// counts too, so that a suspended machine does not stretch it.
func (s *sighting) expires() time.Time { return s.taken.Add(lifetime) }

func (s *sighting) expired(now time.Time) bool {
	wall, then := now.Round(0), s.taken.Round(0)
	return now.After(s.expires()) || wall.After(then.Add(lifetime)) || wall.Before(then.Add(-time.Second))
}

// id names the sighting in digests and replies.
func (s *sighting) id() string { return fmt.Sprintf("s%08x", s.nonce) }

// token is that of a row.
func (s *sighting) token(row int) Token { return Token(s.id() + ":" + strconv.Itoa(row)) }

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
	s.levels = levels(look, c.guard(rules))
	look.Plan.Levels = s.levels
	obs, rows, err := redact.Redact(look.Snapshot, look.Plan, redact.Options{
		Nonce: s.nonce, MaxElements: o.MaxElements, Query: o.Query, MaxSide: o.MaxSide, NoImage: o.NoImage,
		Expires: s.expires(),
	})
	if err != nil {
		return nil, nil, refuse(Withheld, err)
	}
	s.rows = rows
	err = c.note(ctx, "capture", map[string]string{
		"window": windowField(w), "app": look.Window.AppName(), "snapshot": s.id(),
		"elements": strconv.Itoa(len(rows)), "covered": strconv.Itoa(obs.Covered()), "policy": s.rules,
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

func newNonce() uint32 {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint32(b[:])
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
	}
	return refuse(DriverFailed, err)
}
