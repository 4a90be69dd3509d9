package sight

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/redact"
)

// Errors of Take. What stands around them is for a log and holds no text from
// the screen. Errors of the driver are wrapped as they are.
var (
	// ErrAmbiguous: the reference names no window, or more than one.
	ErrAmbiguous = errors.New("sight: the window is not named exactly")
	// ErrNotSelected: the person did not choose this window, or nobody can.
	ErrNotSelected = errors.New("sight: the window is not selected")
	// ErrWindowChanged: the selected window is gone, or is another one now.
	ErrWindowChanged = errors.New("sight: the window is not the one that was selected")
	// ErrWithheld: what is hidden cannot be hidden for certain.
	ErrWithheld = errors.New("sight: withheld")
	// ErrPageUnavailable: a browser shows no page that can be read.
	ErrPageUnavailable = errors.New("sight: the page cannot be read")
)

// errMoved is wrapped by errors that another reading may not meet.
var errMoved = fmt.Errorf("%w: it changed while it was read", ErrWithheld)

// UnmatchedError: a hide rule found nothing on the place that it was made for,
// and no person accepted that.
type UnmatchedError struct{ Rule string }

func (e *UnmatchedError) Error() string { return "sight: rule " + e.Rule + " matches nothing here" }

// A Look is one reading of one window, judged. It is raw.
type Look struct {
	Snapshot  *driver.Snapshot
	Window    driver.Window // as Snapshot.Window, with what only the list of windows knows
	Judgement policy.Judgement
	Plan      redact.Plan
}

// Options of a look. The zero value is an agent's.
type Options struct {
	NoImage  bool
	Digest   func(string) string      // the profile's fingerprint of a text; nil: any text may be meant
	Accepted func(ruleID string) bool // the person accepted that the rule matches nothing; nil: never
	// Unselected is the person's own look: no selection is needed and no rule
	// withholds. What comes of it must not reach an agent.
	Unselected bool
}

// tries is how often a window is read that changes meanwhile, and pause what
// is waited for it to come to rest, longer each time.
const (
	tries = 3
	pause = 40 * time.Millisecond
)

// Take looks at the window that ref names.
func Take(ctx context.Context, d driver.Driver, p *policy.Policy, ref driver.WindowRef, o Options) (*Look, error) {
	if ref.IsZero() {
		return nil, ErrAmbiguous
	}
	for n := 1; ; n++ {
		look, err := take(ctx, d, p, ref, o)
		if err == nil || n == tries || !errors.Is(err, errMoved) && !errors.Is(err, ErrPageUnavailable) {
			return look, err
		}
		if err := sleep(ctx, time.Duration(n)*pause); err != nil {
			return nil, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sight: %w", context.Cause(ctx))
	}
}

func take(ctx context.Context, d driver.Driver, p *policy.Policy, ref driver.WindowRef, o Options) (*Look, error) {
	before, err := windows(ctx, d)
	if err != nil {
		return nil, err
	}
	w, err := find(before, p, ref)
	if err != nil {
		return nil, err
	}
	if err := admit(p, w, o); err != nil {
		return nil, err
	}
	first, err := read(ctx, d, w, driver.SnapshotOptions{NoImage: o.NoImage})
	if err != nil {
		return nil, err
	}
	if !paged(first) {
		return nil, ErrPageUnavailable
	}
	look := judge(p, first, o)
	if !o.NoImage {
		if look, err = again(ctx, d, p, look, o); err != nil {
			return nil, err
		}
		after, err := windows(ctx, d)
		if err != nil {
			return nil, err
		}
		if err := unmoved(after, w); err != nil {
			return nil, err
		}
		look.Plan.Covers = covers(w, before, after)
	}
	// The site may be known of the page alone.
	if err := selected(p, look.Window, o); err != nil {
		return nil, err
	}
	if err := located(look.Snapshot, !o.NoImage); err != nil {
		return nil, err
	}
	if err := hides(p, look, o); err != nil {
		return nil, err
	}
	return look, nil
}

// again reads the tree of first once more and proves that first's picture
// shows it, where that matters.
func again(ctx context.Context, d driver.Driver, p *policy.Policy, first *Look, o Options) (*Look, error) {
	if o.Unselected || !Relevant(p, first.Window) && !hasPassword(first.Snapshot) {
		return first, nil
	}
	s, err := read(ctx, d, first.Window, driver.SnapshotOptions{NoImage: true})
	if err != nil {
		return nil, err
	}
	a := first.Snapshot
	s.Image, s.Size, s.Frame, s.Taken = a.Image, a.Size, a.Frame, a.Taken
	s.Slack, s.AllText = max(s.Slack, a.Slack), s.AllText && a.AllText
	second := judge(p, s, o)
	if !steady(first, second) {
		return nil, fmt.Errorf("%w: near to what is hidden", errMoved)
	}
	return second, nil
}

func hasPassword(s *driver.Snapshot) bool {
	for i := range s.Elements {
		if s.Elements[i].Role == driver.RolePassword {
			return true
		}
	}
	return false
}

func judge(p *policy.Policy, s *driver.Snapshot, o Options) *Look {
	j := p.Judge(s, o.Digest)
	look := &Look{Snapshot: s, Window: s.Window, Judgement: j, Plan: Plan(s, j)}
	look.Plan.Default = p.DefaultLevel()
	look.Plan.HideTitle = p.HideTitle(s.Window)
	return look
}

// hides says whether everything that the policy hides was found.
func hides(p *policy.Policy, look *Look, o Options) error {
	switch {
	case !paged(look.Snapshot):
		return ErrPageUnavailable
	case o.Unselected:
		return nil
	case p.Strict():
		return fmt.Errorf("%w: strict, and not every pixel can be explained", ErrWithheld)
	case len(look.Snapshot.Elements) == 0 && Relevant(p, look.Window):
		return fmt.Errorf("%w: a tree without elements", ErrWithheld)
	}
	if len(look.Judgement.NeedsText) > 0 {
		return fmt.Errorf("%w: rule %s needs all text, which this driver does not read", ErrWithheld, look.Judgement.NeedsText[0])
	}
	for _, rule := range look.Judgement.Unmatched {
		if o.Accepted == nil || !o.Accepted(rule) {
			return &UnmatchedError{Rule: rule}
		}
	}
	return nil
}

// Relevant reports whether a rule can hide anything in w.
func Relevant(p *policy.Policy, w driver.Window) bool { return p.MayHide(w) }
