package permissioncanvas

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// Act performs a at most once and never repeats it.
//
// The order is fixed: resolve and decide; ask, holding no lock; take the input
// lock; check the pause, the rules, the window, the control's identity and
// what lies over it again; spend the grant; put the intent on record; dispatch
// once; put the outcome on record.
func (c *Canvas) Act(ctx context.Context, a Action) (Result, error) { return c.act(ctx, a, "") }

// act is Act for one of the conversations that share this session.
func (c *Canvas) act(ctx context.Context, a Action, label string) (Result, error) {
	if list, ok := a.(Steps); ok {
		return c.steps(ctx, list, label)
	}
	a, err := normal(a)
	if err != nil {
		return Result{}, c.refused(ctx, err, nil)
	}
	in, err := c.decide(a, label)
	grant := ""
	if err == nil && in.level == driver.LevelAsk {
		grant, err = c.ask(ctx, in)
	}
	var res driver.Result
	if err == nil {
		res, err = c.perform(ctx, in, grant)
	}
	if err != nil {
		c.unfocus(in, err)
		return Result{}, c.refused(ctx, err, in.fields(c))
	}
	return Result{Effect: res.Effect}, nil
}

// decide resolves a under the rules of now. The intent is not nil.
func (c *Canvas) decide(a Action, label string) (*intent, error) {
	leave, rules, err := c.enter()
	if err != nil {
		return &intent{action: a, target: -1}, err
	}
	defer leave()
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := make(map[driver.WindowRef]*sighting, len(c.seen))
	for w, s := range c.seen {
		if s.label == label {
			seen[w] = s
		}
	}
	in, err := resolve(a, seen, c.known(label), rules, c.guard(rules), time.Now())
	if err == nil && c.front[in.route()] {
		err = refuse(BackgroundUnavailable, nil) // known before a question is spent on it
	}
	return in, err
}

// known is the focus that may still be relied on: this conversation's, with
// no pause and no input of anybody since. The caller holds mu.
func (c *Canvas) known(label string) *focus {
	f := c.focus
	if f == nil || f.seen.label != label || f.handed != c.gate.State() {
		return nil
	}
	if !f.proposed && !f.holds(c.gate.Epoch()) {
		return nil
	}
	return f
}

// unfocus ends the inferred focus after a refusal (PC17). Text that waits for
// its own answer keeps it, since the identical call must mean the same field.
func (c *Canvas) unfocus(in *intent, err error) {
	if _, text := in.action.(TypeText); errors.Is(err, Busy) || text && errors.Is(err, ApprovalRequired) {
		return
	}
	c.setFocus(nil)
}

// A step is an intent proven against the desktop as it is now.
type step struct {
	*intent
	look   *sight.Look // read after every lock was taken
	target int         // in look's snapshot
	rules  *policy.Policy
	turn   *handoff.Input
}

// perform does in once. Grant is the answer that allows it, "" where none was
// needed.
func (c *Canvas) perform(ctx context.Context, in *intent, grant string) (driver.Result, error) {
	input, err := c.gate.Input(ctx)
	if err != nil {
		return driver.Result{}, refuse(Busy, err)
	}
	defer input.Release()
	release, err := c.hold(ctx)
	if err != nil {
		return driver.Result{}, err
	}
	defer release()
	leave, rules, err := c.enter()
	if err != nil {
		return driver.Result{}, err
	}
	defer leave()
	st, err := c.prove(ctx, in, rules, input)
	if err == nil {
		err = c.still(rules, true)
	}
	if err != nil {
		return driver.Result{}, err
	}
	if grant != "" {
		if err := c.spend(ctx, in, grant); err != nil {
			return driver.Result{}, err
		}
	}
	if err := c.note(ctx, "intent", in.fields(c)); err != nil {
		return driver.Result{}, err
	}
	res, err := c.dispatch(context.WithoutCancel(ctx), st)
	err = c.outcome(ctx, in, &res, err)
	if grant != "" {
		if done := c.asks.Finish(context.WithoutCancel(ctx), grant); done != nil {
			c.log.Warn("a spent ask was not closed", "cause", done) // it stays spent
		}
	}
	return res, err
}

// prove reads the desktop again and says whether in still means what was
// decided: same rules, same window, same control, same level, and the same
// over it.
func (c *Canvas) prove(ctx context.Context, in *intent, rules *policy.Policy, input *handoff.Input) (*step, error) {
	w := in.seen.look.Window.Ref
	c.mu.Lock()
	current, err := c.seen[w] == in.seen && !in.seen.expired(time.Now()), in.checked()
	f := c.focus
	c.mu.Unlock()
	if !current || rules.Hash() != in.seen.rules {
		return nil, refuse(StaleSnapshot, nil)
	}
	if err != nil {
		return nil, err
	}
	if in.focused && !f.holds(input.Before()) {
		return nil, refuse(FocusUnknown, nil)
	}
	_, drag := in.action.(Drag)
	look, err := c.look(ctx, rules, w, !drag) // a drag's points are the picture's
	if err != nil {
		return nil, err
	}
	if look.Snapshot.Run != in.seen.look.Snapshot.Run {
		return nil, refuse(StaleSnapshot, errors.New("another run of the driver"))
	}
	st := &step{intent: in, rules: rules, look: look, target: -1, turn: input}
	g := newGround(look)
	if in.target >= 0 {
		if st.target, err = find(in, g); err != nil {
			return nil, err
		}
	}
	if _, keys := in.action.(PressKeys); keys && st.target >= 0 && !holdsFocus(look.Snapshot, st.target) {
		return nil, refuse(FocusUnknown, nil)
	}
	cfg := c.guard(rules)
	level, err := decide(in, g, levels(g, cfg), st.target, rules, cfg)
	if err != nil {
		return nil, err
	}
	if driver.Stricter(level, in.level) != in.level {
		return nil, refuse(ElementChanged, nil)
	}
	return st, c.uncovered(ctx, st)
}

// find returns the one element of a look that is what was decided on, provided
// that what lies over it is the same too.
func find(in *intent, g *ground) (int, error) {
	i, n := policy.Find(g.look.Snapshot, in.who)
	if n == 0 || i < 0 {
		return 0, refuse(ElementChanged, nil)
	}
	if !slices.Equal(lying(g, i), lying(in.seen.ground, in.target)) {
		return 0, refuse(ElementChanged, nil)
	}
	return i, nil
}

// holdsFocus says that element i, and no other, has the keyboard.
func holdsFocus(s *driver.Snapshot, i int) bool {
	if !s.FocusKnown || !s.Elements[i].Focused {
		return false
	}
	for n := range s.Elements {
		if n != i && s.Elements[n].Focused {
			return false
		}
	}
	return true
}

// uncovered refuses a pointer that would land on another window (PC14): in
// front wherever it is not the target's own, and in the background where a
// window that stays above all others lies there, which the person sees and
// the agent does not.
func (c *Canvas) uncovered(ctx context.Context, st *step) error {
	front := deliveryOf(st.action) == driver.Foreground
	w := st.look.Window
	where := points(st.look.Snapshot, st.target, st.action)
	if tester, ok := c.desktop.(driver.HitTester); ok {
		tested := 0
		for _, p := range where {
			hit, err := tester.WindowAt(ctx, p)
			switch {
			case errors.Is(err, driver.ErrUnsupported):
			case err != nil:
				return driverError(err)
			case hit.Window != w.Ref && (front || hit.Above):
				return refuse(Covered, nil)
			default:
				tested++
			}
		}
		if tested == len(where) {
			return nil
		}
	}
	if !front {
		return nil
	}
	all, err := c.desktop.Windows(ctx)
	if err != nil {
		return driverError(err)
	}
	for _, o := range all {
		for _, p := range where {
			if o.Ref != w.Ref && !o.Hidden && o.Z >= w.Z && p.In(o.Bounds) {
				return refuse(Covered, nil)
			}
		}
	}
	return nil
}
