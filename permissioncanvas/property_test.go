package permissioncanvas_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// A control is one that the properties speak of: its role, label and window.
type control struct{ role, label, window string }

var controls = []control{
	{"button", "Save", console}, {"button", "Delete", console}, {"button", "Reveal key", console},
	{"textbox", "Name", console}, {"textbox", "Notes", console}, {"combobox", "Plan", console},
	{"button", "Sign in", login}, {"textbox", "Account", login}, {"checkbox", "Remember me", login},
	{"button", "Pay now", browser}, {"slider", "Discount", browser}, {"textbox", "Search orders", browser},
	{"button", "Cancel order 1001", browser}, {"link", "Help", browser},
}

// strictness of a level for acting, as the person understands it.
var strictness = map[driver.Level]int{driver.LevelAllow: 1, driver.LevelAsk: 2, driver.LevelReadOnly: 3, driver.LevelHide: 4}

// drawRules draws rules that name controls, and says, independently of the
// policy package, which is the strictest one on each.
func drawRules(t *rapid.T) (rules []policy.Rule, strictest map[string]driver.Level) {
	strictest = map[string]driver.Level{}
	levels := []driver.Level{driver.LevelAllow, driver.LevelAsk, driver.LevelReadOnly, driver.LevelHide}
	for n := range rapid.IntRange(0, 9).Draw(t, "rules") {
		c := rapid.SampledFrom(controls).Draw(t, "control")
		level := rapid.SampledFrom(levels).Draw(t, "level")
		m := policy.Match{Label: c.label}
		switch form := rapid.IntRange(0, 4).Draw(t, "form"); {
		case form == 0 && level != driver.LevelAllow:
			m.Label = strings.ToUpper(c.label)
		case form == 1 && level != driver.LevelAllow:
			m.Label, m.LabelRegex = "", "(?i)^"+c.label+"$"
		case form == 2:
			m.Role = c.role
		case form == 3 && level != driver.LevelAllow:
			m.Label = strings.ReplaceAll(c.label, " ", "\u00a0")
		}
		rules = append(rules, policy.Rule{ID: fmt.Sprintf("r%d", n), Level: level, Match: m, Expect: "anywhere"})
		if strictness[level] > strictness[strictest[c.label]] {
			strictest[c.label] = level
		}
	}
	return rules, strictest
}

// drawAct draws something to do with one of the tokens.
func drawAct(t *rapid.T, refs []canvas.WindowRef, tokens []canvas.Token) canvas.Action {
	token := rapid.SampledFrom(tokens).Draw(t, "token")
	front := rapid.SampledFrom([]canvas.Delivery{"", canvas.Background, canvas.Foreground}).Draw(t, "delivery")
	switch rapid.IntRange(0, 8).Draw(t, "act") {
	case 0:
		return canvas.Click{Target: token, Delivery: front}
	case 1:
		return canvas.Click{Target: token, Count: 2, Delivery: front}
	case 2:
		return canvas.Click{Target: token, Button: canvas.ButtonRight}
	case 3:
		return canvas.SetValue{Target: token, Value: rapid.SampledFrom([]string{"x", "", "Team", "7"}).Draw(t, "value")}
	case 4:
		return canvas.TypeText{Target: token, Text: rapid.SampledFrom([]string{"x", "a b", "a\tb", "a\nb"}).Draw(t, "text"), Delivery: front}
	case 5:
		return canvas.Scroll{Target: token, By: image.Pt(0, rapid.IntRange(-3, 3).Draw(t, "by")), Delivery: front}
	case 6:
		keys := rapid.SampledFrom([][]canvas.Key{{"enter"}, {"tab"}, {"end"}, {"x"}, {"alt", "s"}, {"alt", "d"}, {"ctrl", "v"}, {"space"}}).Draw(t, "keys")
		return canvas.PressKeys{Window: rapid.SampledFrom(refs).Draw(t, "window"), Keys: keys, Delivery: front}
	case 7:
		return canvas.TypeText{Text: "y"}
	}
	return canvas.Raise{Window: rapid.SampledFrom(refs).Draw(t, "window")}
}

// targetOf is the control that a names, and whether it uses the person's own
// pointer or keyboard.
func targetOf(a canvas.Action) (canvas.Token, bool) {
	switch a := a.(type) {
	case canvas.Click:
		return a.Target, a.Delivery == canvas.Foreground
	case canvas.SetValue:
		return a.Target, a.Delivery == canvas.Foreground
	case canvas.TypeText:
		return a.Target, a.Delivery == canvas.Foreground
	case canvas.Scroll:
		return a.Target, a.Delivery == canvas.Foreground
	case canvas.PressKeys:
		return "", a.Delivery == canvas.Foreground
	}
	return "", false
}

// eventLabel is the control that an event of the simulator names.
func eventLabel(event string) (verb, label string) {
	verb, rest, _ := strings.Cut(event, ` "`)
	label, _, _ = strings.Cut(rest, `" in `)
	return verb, label
}

// For any rules and any acts: nothing happens to a control whose strictest
// rule is read only or hides it (wheels over what they cannot change apart);
// nothing is dispatched without its intent on record; and what happens is what
// was allowed or granted, once (PC02, PC24, PC19).
func TestPC02NothingHappensToWhatIsReadOnlyOrHidden(t *testing.T) {
	quick(t)
	rapid.Check(t, func(rt *rapid.T) {
		rules, strictest := drawRules(rt)
		deflt := rapid.SampledFrom([]driver.Level{driver.LevelAsk, driver.LevelReadOnly, driver.LevelAllow}).Draw(rt, "default")
		mouse := rapid.SampledFrom([]policy.MouseUse{policy.MouseAsk, policy.MouseAllow}).Draw(rt, "mouse")
		d, liar := lying(t, func(doc *policy.Document, s *sim.Desktop) {
			titles := map[string]int{console: 0, login: 1, browser: 2}
			selected([]string{console, login, browser})(doc, s)
			doc.DefaultLevel, doc.RealMouse = deflt, mouse
			for _, r := range rules {
				if r.Level == driver.LevelAllow {
					r.Expect = ""
					for _, c := range controls {
						if c.label == r.Match.Label {
							w := doc.Windows[titles[c.window]]
							r.Match.App, r.Match.PID, r.Match.Start, r.Match.WindowID = w.App, w.PID, w.Start, w.WindowID
							if r.Match.Site = w.Site; w.Site == "" {
								r.Match.WindowTitle = w.Title
							}
						}
					}
				}
				doc.Rules = append(doc.Rules, r)
			}
		})
		defer d.Close()
		ctx := context.Background()
		labels := map[canvas.Token]string{}
		grants, asked := 0, 0
		// act does a and says whether it was dispatched. Without a grant it may
		// be only where no rule, no default and no pointer of the person's asks.
		act := func(a canvas.Action, granted bool) error {
			before := liar.Dispatched()
			_, err := d.Act(ctx, a)
			if err != nil {
				typed(t, err)
			}
			if liar.Dispatched() == before {
				return err
			}
			token, front := targetOf(a)
			level := deflt
			if l, named := strictest[labels[token]]; named && token != "" {
				level = l
			}
			asks := level == driver.LevelAsk || front && mouse == policy.MouseAsk
			if _, keys := a.(canvas.PressKeys); keys || token == "" && !front {
				asks = front && mouse == policy.MouseAsk // judged by what has the focus
			}
			if asks {
				asked++
			}
			if asks && !granted {
				rt.Fatalf("%#v on %q was done without a grant", a, labels[token])
			}
			return err
		}
		var refs []canvas.WindowRef
		for _, title := range []string{console, login, browser} {
			refs = append(refs, d.sim.Window(title))
		}
		tokens := []canvas.Token{"s00000000:0"}
		for range rapid.IntRange(1, 8).Draw(rt, "acts") {
			if len(tokens) == 1 || rapid.IntRange(0, 4).Draw(rt, "again") == 0 {
				ref := rapid.SampledFrom(refs).Draw(rt, "look at")
				if o, err := d.Capture(ctx, ref, &canvas.CaptureOptions{NoImage: true}); err == nil {
					for e := range o.Elements() {
						tokens = append(tokens, e.Token)
						labels[e.Token] = e.Label
						if strictest[e.Label] == driver.LevelHide {
							rt.Fatalf("hidden %q is shown", e.Label)
						}
					}
				} else {
					typed(t, err)
				}
			}
			a := drawAct(rt, refs, tokens)
			var e *canvas.Error
			if err := act(a, false); errors.As(err, &e) && e.Code == canvas.ApprovalRequired && rapid.Bool().Draw(rt, "yes") {
				if d.inbox().Approve(ctx, e.Approval.ID, "ada") == nil {
					grants++
					_ = act(a, true)
					before := liar.Dispatched()
					_ = act(a, false) // spent
					if liar.Dispatched() != before && asked > grants {
						rt.Fatalf("%d acts by %d grants", asked, grants)
					}
				}
			}
		}
		if n := len(d.entries("intent")); liar.Dispatched() > 2*n || asked > grants {
			rt.Fatalf("%d dispatched, %d intents, %d that ask, %d grants", liar.Dispatched(), n, asked, grants)
		}
		for _, event := range d.sim.Events() {
			verb, label := eventLabel(event)
			level := strictest[label]
			passive := verb == "scroll" && label != "Discount" && label != "Plan"
			// Keys that a person allowed may reach what is hidden: PC31 judges
			// them by what is not.
			passive = passive || verb == "press" && level == driver.LevelHide
			if !passive && (level == driver.LevelReadOnly || level == driver.LevelHide) {
				rt.Fatalf("%s although %s", event, level)
			}
		}
	})
}

// Every dispatch has its own intent before it, whatever the driver answers.
func TestPC24EveryDispatchHasItsIntentBeforeIt(t *testing.T) {
	quick(t)
	rapid.Check(t, func(rt *rapid.T) {
		d, liar := lying(t, fields())
		defer d.Close()
		moods := map[string]drivertest.Mood{"honest": nil, "fails": drivertest.Fail(errBroken), "fails after": drivertest.ThenFail(errBroken),
			"refuses": drivertest.Fail(driver.ErrRefused), "late": drivertest.Late(time.Millisecond)}
		acts, missing := 0, false
		for range rapid.IntRange(1, 5).Draw(rt, "acts") {
			o, err := d.Capture(context.Background(), d.sim.Window(console), &canvas.CaptureOptions{NoImage: true})
			require.NoError(t, err)
			mood := moods[rapid.SampledFrom([]string{"honest", "fails", "fails after", "refuses", "late"}).Draw(rt, "mood")]
			before := len(d.entries("intent"))
			liar.On(drivertest.Do, func(ctx context.Context, n int, truth func(context.Context) error) error {
				missing = missing || len(d.entries("intent")) != before+1
				if mood == nil {
					return truth(ctx)
				}
				return mood(ctx, n, truth)
			})
			a := rapid.SampledFrom([]canvas.Action{
				canvas.Click{Target: d.token(o, "button", "Save")}, canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "x"},
				canvas.TypeText{Target: d.token(o, "textbox", "Notes"), Text: "x"}, canvas.Click{Target: d.token(o, "button", "Delete")},
			}).Draw(rt, "act")
			at := liar.Dispatched()
			_, err = d.Act(context.Background(), a)
			if err != nil {
				typed(t, err)
			}
			if liar.Dispatched() > at {
				acts++
			}
		}
		if missing || len(d.entries("intent")) != acts || len(d.entries("outcome")) != acts {
			rt.Fatalf("%d acts, %d intents, %d outcomes", acts, len(d.entries("intent")), len(d.entries("outcome")))
		}
	})
}
