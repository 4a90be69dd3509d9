package permissioncanvas

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
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
		selected = append(selected, redact.WindowOf(w, c.hidesTitle(rules, w)))
	}
	if len(selected) == 0 {
		return nil, others, refuse(NoWindowSelected, nil)
	}
	return selected, others, nil
}

// hidesTitle says whether w's title is nothing for an agent: by the person's
// pattern for titles, by a rule that hides such a text, or because the newest
// capture of the window had to leave it out.
func (c *Canvas) hidesTitle(rules *policy.Policy, w driver.Window) bool {
	if rules.HideTitle(w) {
		return true
	}
	c.mu.Lock()
	s := c.seen[w.Ref]
	c.mu.Unlock()
	if s != nil && s.title == "" && s.look.Window.Title == w.Title {
		return true
	}
	title := driver.Element{Parent: -1, Role: driver.RoleWindow, Label: w.Title, Bounds: w.Bounds}
	j := rules.Judge(&driver.Snapshot{Window: w, AllText: true, Elements: []driver.Element{title}}, c.profile.Digest)
	return j.Verdicts[0].Hidden
}

// A sighting is what one Capture showed: the newest of its window.
type sighting struct {
	look   *sight.Look
	label  string // of the conversation that saw it; two share no tokens
	nonce  uint32
	rows   []int       // by row of the Observation: the index in the snapshot
	shown  []Element   // by row: all that may be said of an element in words
	title  string      // as the agent may know it
	size   image.Point // of the picture the agent got
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

// element is element i of the snapshot as the agent sees it.
func (s *sighting) element(i int) Element {
	if row := slices.Index(s.rows, i); row >= 0 {
		return s.shown[row]
	}
	return Element{Role: "control"}
}

// onScreen turns a way on the agent's picture into one on the screen.
func (s *sighting) onScreen(d Drag) (Drag, error) {
	if s.size.X <= 0 || s.size.Y <= 0 || !d.From.In(image.Rectangle{Max: s.size}) || !d.To.In(image.Rectangle{Max: s.size}) {
		return d, refuse(BadRequest, nil, "The path leaves the window's picture.")
	}
	f := s.look.Snapshot.Frame
	scale := func(p image.Point) image.Point {
		return f.Min.Add(image.Pt(p.X*f.Dx()/s.size.X, p.Y*f.Dy()/s.size.Y))
	}
	d.From, d.To = scale(d.From), scale(d.To)
	return d, nil
}

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
	s.rows, s.shown, s.size, s.title = rows, slices.Collect(obs.Elements()), obs.Size(), obs.Window().Title
	look.Snapshot.Image = nil // nobody needs it any more, and it is not masked
	if err := c.still(rules, false); err != nil {
		return nil, nil, err
	}
	if err := c.profile.DropReviews(rules, w, matched(look)...); err != nil {
		return nil, nil, refuse(PolicyInvalid, err)
	}
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
	now, err := c.profile.Policy()
	if err != nil {
		return refuse(PolicyInvalid, err)
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
	case errors.Is(err, driver.ErrRefused), errors.Is(err, driver.ErrUnsupported):
		e := refuse(DriverFailed, err)
		e.Message, e.Next = "The desktop does not take that for this control, and nothing was done. Choose another way.", CaptureAgain
		return e
	}
	return refuse(DriverFailed, err)
}
