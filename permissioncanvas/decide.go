package permissioncanvas

import (
	"image"
	"strconv"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
	"github.com/permission-canvas/permission-canvas/redact"
)

// This file decides and does nothing: no clock, no disk, no desktop.

// An intent is one action, resolved against what the agent saw.
type intent struct {
	action  Action
	seen    *sighting
	target  int             // index in the snapshot; -1 where no control is named
	who     policy.Identity // of target
	element Element         // target as the agent sees it: the only words to use for it
	focused bool            // target is the one that has the keyboard, as far as was inferred
	level   Level           // LevelAllow or LevelAsk
	list    *listed         // nil where it stands alone
}

// name is how a sentence names the target.
func (in *intent) name() string {
	switch {
	case in.target < 0:
		return "this window's controls"
	case in.element.Label == "":
		return "this " + in.element.Role
	}
	return in.element.Role + " " + strconv.Quote(clip(in.element.Label, 60))
}

// clip shortens what is put in a sentence or on record.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// resolve finds what a names among the sightings and decides it. Focus is the
// session's inferred focus, nil where there is none. The intent is not nil.
func resolve(a Action, seen map[driver.WindowRef]*sighting, f *focus, rules *policy.Policy, cfg guard.Config, now time.Time) (*intent, error) {
	in := &intent{action: a, target: -1}
	token, named := target(a)
	if t, ok := a.(TypeText); ok && t.Target == "" {
		if f == nil {
			return in, refuse(FocusUnknown, nil)
		}
		t.Target, token = f.token, f.token
		in.action, in.focused = t, !f.proposed
	}
	row := -1
	if named {
		s, r, err := lookUp(token, seen)
		if err != nil {
			return in, err
		}
		in.seen, row = s, r
	} else {
		w := window(a)
		if w.IsZero() {
			return in, refuse(AmbiguousWindow, nil)
		}
		if in.seen = seen[w]; in.seen == nil {
			return in, refuse(StaleSnapshot, nil)
		}
	}
	if in.seen.expired(now) || in.seen.rules != rules.Hash() {
		return in, refuse(StaleSnapshot, nil)
	}
	if row >= len(in.seen.rows) {
		return in, refuse(UnknownElement, nil)
	}
	if row >= 0 {
		in.aim(in.seen.rows[row])
	}
	if _, ok := a.(PressKeys); ok && f != nil && !f.proposed && f.seen == in.seen {
		in.aim(f.target)
		in.focused = true
	}
	if d, ok := a.(Drag); ok {
		var err error
		if in.action, err = in.seen.onScreen(d); err != nil {
			return in, err
		}
	}
	err := in.checked()
	if err == nil {
		in.level, err = decide(in, in.seen.ground, in.seen.levels, in.target, rules, cfg)
	}
	if err == nil && f != nil && f.proposed && token == f.token && in.level != driver.LevelAsk {
		if t, ok := a.(TypeText); ok && t.Target == "" {
			err = refuse(FocusUnknown, nil) // only to a person is a field proposed again
		}
	}
	return in, err
}

// aim makes i the target.
func (in *intent) aim(i int) {
	in.target, in.who = i, policy.Identify(in.seen.look.Snapshot, i)
	in.element = in.seen.element(i)
}

// checked refuses more text where the last could not be verified (PC21).
func (in *intent) checked() error {
	if _, keys := in.action.(PressKeys); !in.seen.unchecked || !keys && !fills(in.action) {
		return nil
	}
	e := refuse(StaleSnapshot, nil)
	e.Message = "The last text or value could not be verified. Capture and check it before you enter more."
	return e
}

// lookUp reads a token of ours. Anything else, a driver's handle included, is
// stale.
func lookUp(t Token, seen map[driver.WindowRef]*sighting) (*sighting, int, error) {
	id, tail, ok := strings.Cut(string(t), ":")
	row, err := strconv.Atoi(tail)
	if !ok || err != nil || row < 0 || strconv.Itoa(row) != tail {
		return nil, 0, refuse(StaleToken, nil)
	}
	for _, s := range seen {
		if s.id() == id {
			return s, row, nil
		}
	}
	return nil, 0, refuse(StaleToken, nil)
}

// decide says whether in may be done to element target of the look of g: LevelAllow,
// LevelAsk, or an error.
func decide(in *intent, g *ground, levels []Level, target int, rules *policy.Policy, cfg guard.Config) (Level, error) {
	a := in.action
	level, err := decideTarget(a, g, levels, target, rules)
	if err != nil {
		return "", err
	}
	d := cfg.Decide(tool(a))
	switch {
	case d.Tier == guard.Deny:
		return "", refuse(ToolDenied, nil, tool(a))
	case d.Tier == guard.Ask:
		level = driver.Stricter(level, driver.LevelAsk)
	}
	if _, raises := a.(Raise); !raises && deliveryOf(a) == driver.Foreground {
		switch rules.RealMouse() {
		case policy.MouseAllow:
		case policy.MouseAsk:
			level = driver.Stricter(level, driver.LevelAsk)
		default:
			return "", refuse(ToolDenied, nil, "the real mouse and keyboard")
		}
	}
	switch level {
	case driver.LevelAllow, driver.LevelAsk:
		return level, nil
	case driver.LevelReadOnly:
		return "", refuse(ReadOnly, nil, in.name())
	}
	return "", refuse(Hidden, nil)
}

// decideTarget is decide without tiers and delivery.
func decideTarget(a Action, g *ground, levels []Level, target int, rules *policy.Policy) (Level, error) {
	look := g.look
	s := look.Snapshot
	if target >= 0 {
		_, wheel := a.(Scroll)
		if !shown(look, target) && !(wheel && look.Plan.Verdicts[target] == redact.Bare) {
			return "", refuse(Hidden, nil)
		}
		if _, byValue := a.(SetValue); !byValue && !s.Elements[target].HasBounds() {
			return "", refuse(UnknownElement, nil)
		}
	}
	switch a := a.(type) {
	case Click:
		return decideClick(a, g, levels, target)
	case TypeText:
		if err := takesText(a, &s.Elements[target]); err != nil {
			return "", err
		}
		if acts := levels[target] == driver.LevelAllow || levels[target] == driver.LevelAsk; acts && !s.FocusKnown {
			return "", refuse(FocusUnknown, nil)
		}
		return levels[target], nil
	case SetValue:
		return levels[target], takesText(a, &s.Elements[target])
	case PressKeys:
		return decideKeys(a, look, levels, target, rules)
	case Scroll:
		return decideScroll(g, levels, target)
	case Drag:
		return decideDrag(a, look, levels, rules)
	case Raise:
		return rules.DefaultLevel(), nil
	}
	return "", refuse(BadRequest, nil, "That is no action.")
}

// decideClick judges what a click does beyond pressing its target: buttons and
// modifiers that paste, or open windows nobody chose (PC15, PC36).
func decideClick(a Click, g *ground, levels []Level, target int) (Level, error) {
	s := g.look.Snapshot
	if err := menuItem(&s.Elements[target]); err != nil {
		return "", err
	}
	level := levels[target]
	if a.Button == driver.ButtonMiddle {
		if r := s.Elements[target].Role; r != driver.RoleLink && r != driver.RoleTab {
			return "", refuse(ClipboardRefused, nil)
		}
		for up := range s.Path(target) {
			if editable(&s.Elements[up]) {
				return "", refuse(ClipboardRefused, nil)
			}
		}
		for i := range g.over(target) {
			if editable(&s.Elements[i]) {
				return "", refuse(ClipboardRefused, nil)
			}
		}
	}
	if a.Button == driver.ButtonMiddle || len(a.Modifiers) > 0 {
		level = driver.Stricter(level, driver.LevelAsk)
	}
	return level, nil
}

// takesText says whether a's text may go into e.
func takesText(a Action, e *driver.Element) error {
	if _, typed := a.(TypeText); typed && !editable(e) {
		return refuse(BadRequest, nil, "That control takes no text.")
	}
	if lines(a) && !e.Multiline {
		return refuse(BadRequest, nil, "That field takes one line; a line break would submit or leave it. Leave it out.")
	}
	return nil
}

// decideKeys judges keys by what they can reach (PC15, PC31). A hidden control
// is not named by any refusal, yet keys can reach it: where there is one, they
// ask, and where it has the focus they are refused.
func decideKeys(a PressKeys, look *sight.Look, levels []Level, target int, rules *policy.Policy) (Level, error) {
	s := look.Snapshot
	switch classify(a.Keys) {
	case keyClipboard:
		return "", refuse(ClipboardRefused, nil)
	case keySystem:
		return "", refuse(ToolDenied, nil, "keys that work on the whole window or system")
	case keyEdit:
		if target < 0 || !s.FocusKnown || !s.Elements[target].Role.IsTextField() {
			return "", refuse(FocusUnknown, nil)
		}
		return levels[target], nil
	}
	level := rules.DefaultLevel()
	for i := range s.Elements {
		e := &s.Elements[i]
		switch {
		case !operable(e):
		case !gone(look, i):
			level = driver.Stricter(level, levels[i])
		case e.Focused:
			return "", refuse(Hidden, nil)
		default:
			level = driver.Stricter(level, driver.LevelAsk)
		}
	}
	return level, nil
}

// decideScroll judges a wheel: over a value control it is a click on it, over
// something hidden it is refused, and elsewhere it changes only what is seen
// (PC16).
func decideScroll(g *ground, levels []Level, target int) (Level, error) {
	look := g.look
	s := look.Snapshot
	level := levels[target]
	if look.Plan.Verdicts[target] == redact.Bare {
		level = look.Judgement.Verdicts[target].Level
	}
	if !s.Elements[target].Role.IsValueControl() && level == driver.LevelReadOnly {
		level = driver.LevelAllow
	}
	p := center(&s.Elements[target])
	for i := range g.at(p) {
		switch {
		case gone(look, i):
			return "", refuse(Hidden, nil)
		case i != target && s.Elements[i].Role.IsValueControl():
			level = driver.Stricter(level, levels[i])
		}
	}
	return level, nil
}

// decideDrag judges everything that the way touches. Its points are on the
// screen.
func decideDrag(a Drag, look *sight.Look, levels []Level, rules *policy.Policy) (Level, error) {
	if !rules.Coordinates(look.Window) {
		return "", refuse(DragRefused, nil)
	}
	s := look.Snapshot
	if !a.From.In(look.Window.Bounds) || !a.To.In(look.Window.Bounds) {
		return "", refuse(BadRequest, nil, "The path leaves the window's picture.")
	}
	level := rules.DefaultLevel()
	for i := range s.Elements {
		e := &s.Elements[i]
		switch {
		case !crosses(a.From, a.To, e.Bounds):
		case gone(look, i):
			return "", refuse(Hidden, nil)
		case editable(e) && a.From.In(e.Bounds):
			return "", refuse(ClipboardRefused, nil)
		case operable(e):
			level = driver.Stricter(level, levels[i])
		}
	}
	return level, nil
}

// points is where the pointer goes, in screen pixels, for an action that uses
// one.
func points(s *driver.Snapshot, target int, a Action) []image.Point {
	switch a := a.(type) {
	case Click, TypeText, Scroll:
		return []image.Point{center(&s.Elements[target])}
	case Drag:
		const steps = 16
		var out []image.Point
		for n := 0; n <= steps; n++ {
			out = append(out, a.From.Add(a.To.Sub(a.From).Mul(n).Div(steps)))
		}
		return out
	}
	return nil
}
