package permissioncanvas

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// dispatchLimit is how long one dispatched action may take. What is later
// counts as uncertain.
const dispatchLimit = 40 * time.Second

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
		return c.desktop.Do(ctx, w, onPicture(a, st.look.Snapshot))
	case Click:
		res, err := c.desktop.Do(ctx, w, bind(a, handle))
		if err == nil && a.Button == driver.ButtonLeft && a.Count == 1 && len(a.Modifiers) == 0 {
			c.infer(st, res)
		} else {
			c.setFocus(nil)
		}
		return res, err
	case SetValue:
		res, err := c.desktop.Do(ctx, w, bind(a, handle))
		c.setFocus(nil)
		if err == nil && unsure(st, res) {
			if s, i, err := c.again(ctx, st); err == nil && s.Elements[i].Value == a.Value {
				res.Effect = driver.EffectConfirmed
			}
		}
		return res, err
	}
	res, err := c.desktop.Do(ctx, w, bind(st.action, handle))
	c.keepFocus(st, err)
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
	s, i, err := c.again(ctx, st)
	if err == nil && !holdsFocus(s, i) {
		err = errors.New("the field does not have the focus")
	}
	if err == nil {
		err = c.still(st.rules, true)
	}
	if err != nil {
		return res, uncertain(err)
	}
	a.Target = Token(s.Elements[i].Token)
	res, err = c.desktop.Do(ctx, w, a)
	if err == nil && res.Effect == driver.EffectRefused {
		err = errors.New("the driver refused the text")
	}
	if err != nil {
		return res, uncertain(err)
	}
	if s, i, err = c.again(ctx, st); err != nil || !holdsFocus(s, i) {
		return res, uncertain(errors.New("the focus moved"))
	}
	before, now := st.look.Snapshot.Elements[st.target].Value, s.Elements[i].Value
	if unsure(st, res) && strings.Count(now, a.Text) > strings.Count(before, a.Text) {
		res.Effect = driver.EffectConfirmed
	}
	return res, nil
}

// again reads the window's tree and finds st's target in it.
func (c *Canvas) again(ctx context.Context, st *step) (*driver.Snapshot, int, error) {
	s, err := c.desktop.Snapshot(ctx, st.look.Window.Ref, driver.SnapshotOptions{NoImage: true})
	if err != nil {
		return nil, 0, err
	}
	if s == nil {
		return nil, 0, driver.ErrIncomplete
	}
	s.Window.Site = st.look.Window.Site // of the window just looked at; the driver may not know
	i, n := policy.Find(s, st.who)
	if n == 0 || i < 0 {
		return nil, 0, errors.New("the field is not there any more")
	}
	return s, i, nil
}

// unsure says that the driver could not say whether a text arrived and that the
// field may be read back. What the agent may not see is not: the answer would
// tell.
func unsure(st *step, res driver.Result) bool {
	return res.Effect != driver.EffectConfirmed && res.Effect != driver.EffectRefused &&
		st.look.Snapshot.Elements[st.target].Role != driver.RolePassword
}

// errUncertain marks what may have happened.
var errUncertain = errors.New("the effect is uncertain")

// uncertain hides from err whatever it proves: a step before it has acted.
func uncertain(err error) error { return fmt.Errorf("%w: %v", errUncertain, err) }

// onPicture turns a way on the screen into one on the driver's own picture.
func onPicture(a Drag, s *driver.Snapshot) Drag {
	scale := func(p image.Point) image.Point {
		p = p.Sub(s.Frame.Min)
		if s.Size.X == 0 || s.Size.Y == 0 || s.Frame.Empty() {
			return p
		}
		return image.Pt(p.X*s.Size.X/s.Frame.Dx(), p.Y*s.Size.Y/s.Frame.Dy())
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
	c.setFocus(&focus{
		seen: st.seen, target: st.intent.target, token: t, who: st.who, epoch: st.turn.Epoch(), handed: c.gate.State(),
	})
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
func (c *Canvas) outcome(ctx context.Context, in *intent, res *driver.Result, err error) error {
	switch res.Effect {
	case driver.EffectConfirmed, driver.EffectPartial, driver.EffectUnverifiable, driver.EffectSuspectedNoop, driver.EffectRefused:
	default:
		res.Effect = driver.EffectUnverifiable // no word of ours
	}
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
		answer = driverError(driver.ErrRefused)
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
	form     string // of a click: what else than a plain one it is
	delivery Delivery
}

func (in *intent) route() route {
	w := in.seen.look.Window
	r := route{window: w.Ref, start: w.Start, tool: tool(in.action), delivery: deliveryOf(in.action)}
	if click, ok := in.action.(Click); ok {
		r.form = fmt.Sprint(click.Button, click.Count, click.Modifiers)
	}
	return r
}

// fields is what the record says of an intent: never text that was typed, and
// of the control what the agent sees.
func (in *intent) fields(c *Canvas) map[string]string {
	m := map[string]string{"act": tool(in.action), "delivery": string(deliveryOf(in.action))}
	if in.seen == nil {
		return m
	}
	m["window"], m["app"] = windowField(in.seen.look.Window.Ref), in.seen.look.Window.AppName()
	m["snapshot"], m["policy"] = in.seen.id(), in.seen.rules
	if in.target >= 0 {
		m["role"], m["label"] = in.element.Role, clip(in.element.Label, 200)
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

// measure is how text stands on record: its length and a digest under a key of
// the record's own, so that no rule's fingerprint can be compared with it.
func (c *Canvas) measure(text string) string {
	key, err := c.profile.Key()
	if err == nil {
		var d *audit.Digester
		if d, err = audit.NewDigest(key); err == nil {
			return d.Sum(text)
		}
	}
	c.log.Warn("no digest of a text", "cause", err)
	return fmt.Sprintf("%d:", utf8.RuneCountInString(text))
}
