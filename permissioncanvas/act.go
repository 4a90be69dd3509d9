package permissioncanvas

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// dispatchLimit is how long one dispatched action may take. What is later
// counts as uncertain.
const dispatchLimit = 40 * time.Second

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
	if err != nil {
		c.endFocusUnless(err)
		return Result{}, c.refused(ctx, err, in.fields(c))
	}
	grant := ""
	if in.level == driver.LevelAsk {
		if grant, err = c.ask(ctx, in); err != nil {
			return Result{}, c.refused(ctx, err, in.fields(c))
		}
	}
	res, err := c.perform(ctx, in, grant)
	if err != nil {
		return Result{}, c.refused(ctx, err, in.fields(c))
	}
	return Result{Effect: res.Effect}, nil
}

// decide resolves a under the rules of now.
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
	f := c.focus
	if f != nil && f.seen.label != label {
		f = nil
	}
	in, err := resolve(a, seen, f, rules, c.guard(rules), time.Now())
	if in == nil {
		in = &intent{action: a, target: -1}
	}
	if err == nil && c.front[in.route()] {
		err = refuse(BackgroundUnavailable, nil) // known before a question is spent on it
	}
	return in, err
}

// endFocusUnless ends the inferred focus after a refusal (PC17).
func (c *Canvas) endFocusUnless(err error) {
	if errors.Is(err, Busy) {
		return
	}
	c.mu.Lock()
	c.focus = nil
	c.mu.Unlock()
}

// A step is an intent proven against the desktop as it is now.
type step struct {
	*intent
	rules  *policy.Policy
	look   *sight.Look // read after every lock was taken
	target int         // in look's snapshot
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
	if c.gate.CardOpen() {
		return driver.Result{}, refuse(Busy, nil)
	}
	st, err := c.prove(ctx, in, rules, input)
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
	err = c.outcome(ctx, in, res, err)
	if grant != "" {
		if done := c.asks.Finish(context.WithoutCancel(ctx), grant); done != nil {
			c.log.Warn("a spent ask was not closed", "cause", done) // it stays spent
		}
	}
	return res, err
}

// prove reads the desktop again and says whether in still means what was
// decided: same rules, same window, same control, same level, nothing over it.
func (c *Canvas) prove(ctx context.Context, in *intent, rules *policy.Policy, input *handoff.Input) (*step, error) {
	w := in.seen.look.Window.Ref
	c.mu.Lock()
	current, f := c.seen[w] == in.seen && !in.seen.expired(time.Now()), c.focus
	c.mu.Unlock()
	if !current || rules.Hash() != in.seen.rules {
		return nil, refuse(StaleSnapshot, nil)
	}
	look, err := c.look(ctx, rules, w, true)
	if err != nil {
		return nil, err
	}
	if look.Snapshot.Run != in.seen.look.Snapshot.Run {
		return nil, refuse(StaleSnapshot, errors.New("another run of the driver"))
	}
	st := &step{intent: in, rules: rules, look: look, target: -1, turn: input}
	if in.target >= 0 {
		if st.target, err = find(in, look); err != nil {
			return nil, err
		}
	}
	if _, keys := in.action.(PressKeys); keys && st.target >= 0 {
		if !f.holds(input.Before()) || !look.Snapshot.Elements[st.target].Focused {
			return nil, refuse(FocusUnknown, nil)
		}
	}
	cfg := c.guard(rules)
	level, err := decide(in.action, look, levels(look, cfg), st.target, rules, cfg)
	if err != nil {
		return nil, err
	}
	if driver.Stricter(level, in.level) != in.level {
		return nil, refuse(ElementChanged, nil)
	}
	return st, c.uncovered(ctx, st)
}

// find returns the one element of look that is what was decided on.
func find(in *intent, look *sight.Look) (int, error) {
	i, n := policy.Find(look.Snapshot, in.who)
	if n == 0 || i < 0 {
		return 0, refuse(ElementChanged, nil)
	}
	return i, nil
}

// uncovered refuses a pointer that would land on another window (PC14): in
// front wherever it is not the target's own, and in the background where a
// window that stays above all others lies there, which the person sees and
// the agent does not.
func (c *Canvas) uncovered(ctx context.Context, st *step) error {
	p, pointed := place(st.look.Snapshot, max(st.target, 0), st.action)
	if !pointed {
		return nil
	}
	front := deliveryOf(st.action) == driver.Foreground
	w := st.look.Window
	tester, ok := c.desktop.(driver.HitTester)
	if ok {
		hit, err := tester.WindowAt(ctx, p)
		switch {
		case err == nil && hit.Window == w.Ref:
			return nil
		case err == nil && (front || hit.Above):
			return refuse(Covered, nil)
		case err == nil:
			return nil
		case !errors.Is(err, driver.ErrUnsupported):
			return driverError(err)
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
		if o.Ref != w.Ref && !o.Hidden && o.Z >= w.Z && p.In(o.Bounds) {
			return refuse(Covered, nil)
		}
	}
	return nil
}

// dispatch does a proven step once.
func (c *Canvas) dispatch(ctx context.Context, st *step) (driver.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, dispatchLimit)
	defer cancel()
	w := st.look.Window.Ref
	handle := ""
	if st.target >= 0 {
		handle = st.look.Snapshot.Elements[st.target].Token
	}
	switch a := st.action.(type) {
	case TypeText:
		return c.typeText(ctx, st, a, handle)
	case Drag:
		return c.desktop.Do(ctx, w, toFrame(a, st.look.Snapshot))
	case Click:
		res, err := c.desktop.Do(ctx, w, bind(a, handle))
		if err == nil && a.Button == driver.ButtonLeft && a.Count == 1 && len(a.Modifiers) == 0 {
			c.infer(st, res)
		} else {
			c.setFocus(nil)
		}
		return res, err
	}
	res, err := c.desktop.Do(ctx, w, bind(st.action, handle))
	c.keepFocus(st, err)
	if set, ok := st.action.(SetValue); ok && err == nil {
		res = c.readBack(ctx, st, res, set.Value)
	}
	return res, err
}

// typeText clicks the field, proves that it has the keyboard, types, and
// proves that the keyboard is still there. After the click everything that
// fails is uncertain.
func (c *Canvas) typeText(ctx context.Context, st *step, a TypeText, handle string) (driver.Result, error) {
	w := st.look.Window.Ref
	defer c.setFocus(nil)
	res, err := c.desktop.Do(ctx, w, Click{
		Target: Token(handle), Button: driver.ButtonLeft, Count: 1, Delivery: a.Delivery,
	})
	if err != nil || res.Retargeted {
		return res, err
	}
	token, err := c.focused(ctx, st)
	if err != nil {
		return res, err
	}
	a.Target = Token(token)
	res, err = c.desktop.Do(ctx, w, a)
	if err != nil {
		return res, uncertain(err)
	}
	if _, err := c.focused(ctx, st); err != nil {
		return res, err
	}
	return c.readBack(ctx, st, res, a.Text), nil
}

// readBack looks whether text stands in st's target, where the driver could
// not say that it arrived.
func (c *Canvas) readBack(ctx context.Context, st *step, res driver.Result, text string) driver.Result {
	if res.Effect == driver.EffectConfirmed || res.Effect == driver.EffectRefused {
		return res
	}
	s, err := c.desktop.Snapshot(ctx, st.look.Window.Ref, driver.SnapshotOptions{NoImage: true})
	if err != nil {
		return res
	}
	s.Window.Site = st.look.Window.Site
	if i, n := policy.Find(s, st.who); n > 0 && i >= 0 && text != "" && strings.Contains(s.Elements[i].Value, text) {
		res.Effect = driver.EffectConfirmed
	}
	return res
}

// focused reads the window again and returns the driver's handle of st's
// target, provided it alone has the keyboard.
func (c *Canvas) focused(ctx context.Context, st *step) (string, error) {
	s, err := c.desktop.Snapshot(ctx, st.look.Window.Ref, driver.SnapshotOptions{NoImage: true})
	if err != nil {
		return "", uncertain(err)
	}
	s.Window.Site = st.look.Window.Site // of the window just looked at; the driver may not know
	i, n := policy.Find(s, st.who)
	if n == 0 || i < 0 || !s.FocusKnown || !s.Elements[i].Focused {
		return "", uncertain(errors.New("the field does not have the focus"))
	}
	return s.Elements[i].Token, nil
}

// errUncertain marks what may have happened.
var errUncertain = errors.New("the effect is uncertain")

// uncertain hides from err whatever it proves: a step before it has acted.
func uncertain(err error) error { return fmt.Errorf("%w: %v", errUncertain, err) }

// toFrame turns a path on the window's picture into one in its own pixels.
func toFrame(a Drag, s *driver.Snapshot) Drag {
	if s.Size.X == 0 || s.Size.Y == 0 {
		return a
	}
	scale := func(p image.Point) image.Point {
		return image.Pt(p.X*s.Frame.Dx()/s.Size.X, p.Y*s.Frame.Dy()/s.Size.Y)
	}
	a.From, a.To = scale(a.From), scale(a.To)
	return a
}

// infer remembers the text field that a click went to, where nothing speaks
// against it (PC17).
func (c *Canvas) infer(st *step, res driver.Result) {
	e := &st.look.Snapshot.Elements[st.target]
	if !e.Role.IsTextField() || res.Retargeted || res.Effect == driver.EffectRefused || res.Effect == driver.EffectSuspectedNoop {
		c.setFocus(nil)
		return
	}
	t, _ := target(st.action)
	c.setFocus(&focus{seen: st.seen, target: st.intent.target, token: t, who: st.who, epoch: st.turn.Epoch()})
}

// keepFocus carries the focus over keys that edit within its field; every
// other input ends it.
func (c *Canvas) keepFocus(st *step, err error) {
	keys, ok := st.action.(PressKeys)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok && err == nil && c.focus.holds(st.turn.Before()) && classify(keys.Keys) == keyEdit {
		c.focus.epoch = st.turn.Epoch()
		return
	}
	c.focus = nil
}

func (c *Canvas) setFocus(f *focus) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.focus = f
}

// outcome puts on record what came of a dispatch and turns it into the answer.
func (c *Canvas) outcome(ctx context.Context, in *intent, res driver.Result, err error) error {
	fields := in.fields(c)
	fields["effect"] = string(res.Effect)
	var answer error
	switch {
	case err != nil && errors.Is(err, driver.ErrNoEffect):
		fields["effect"] = "none"
		answer = driverError(err)
		if errors.Is(answer, BackgroundUnavailable) {
			c.mu.Lock()
			c.front[in.route()] = true
			c.mu.Unlock()
		}
	case err != nil || res.Retargeted:
		fields["effect"] = "uncertain"
		answer = refuse(EffectUncertain, err)
	case res.Effect == driver.EffectRefused:
		answer = refuse(DriverFailed, errors.New("the driver refused the action"))
	case fills(in.action) && res.Effect != driver.EffectConfirmed:
		c.mu.Lock()
		in.seen.unchecked = true
		c.mu.Unlock()
	}
	if noted := c.note(context.WithoutCancel(ctx), "outcome", fields); noted != nil && !errors.Is(answer, EffectUncertain) {
		answer = refuse(EffectUncertain, noted)
	}
	if errors.Is(answer, EffectUncertain) {
		c.drop(ctx, in.seen.look.Window.Ref)
	}
	return answer
}

// A route is one way of input into one window.
type route struct {
	window   WindowRef
	start    uint64
	tool     string
	delivery Delivery
}

func (in *intent) route() route {
	w := in.seen.look.Window
	return route{w.Ref, w.Start, tool(in.action), deliveryOf(in.action)}
}

// fields is what the record says of an intent: never text that was typed.
func (in *intent) fields(c *Canvas) map[string]string {
	m := map[string]string{"act": tool(in.action), "delivery": string(deliveryOf(in.action))}
	if in.seen == nil {
		return m
	}
	m["window"], m["app"] = windowField(in.seen.look.Window.Ref), in.seen.look.Window.AppName()
	m["snapshot"], m["policy"] = in.seen.id(), in.seen.rules
	if in.target >= 0 && shown(in.seen.look, in.target) {
		e := &in.seen.look.Snapshot.Elements[in.target]
		m["role"], m["label"] = roleWord(e), e.Label
	}
	switch a := in.action.(type) {
	case TypeText:
		m["text"] = c.measure(a.Text)
	case SetValue:
		m["text"] = c.measure(a.Value)
	case PressKeys:
		m["keys"] = fmt.Sprint(len(a.Keys))
	}
	return m
}

// measure is how text stands on record: its length and a keyed digest.
func (c *Canvas) measure(text string) string {
	return fmt.Sprintf("%d characters, digest %s", utf8.RuneCountInString(text), c.profile.Digest(text))
}
