package permissioncanvas

import (
	"fmt"
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
	action Action
	seen   *sighting
	target int             // index in the snapshot; -1 where no control is named
	who    policy.Identity // of target
	level  Level           // LevelAllow or LevelAsk
	list   *listed         // nil where it stands alone
}

// place is where the pointer goes, in screen pixels, for an action that uses
// one.
func place(s *driver.Snapshot, target int, a Action) (image.Point, bool) {
	switch a.(type) {
	case Click, TypeText, Scroll:
		b := s.Elements[target].Bounds
		return image.Pt((b.Min.X+b.Max.X)/2, (b.Min.Y+b.Max.Y)/2), true
	}
	return image.Point{}, false
}

// resolve finds what a names among the sightings and decides it. Focus is the
// session's inferred focus, nil where there is none.
func resolve(a Action, seen map[driver.WindowRef]*sighting, f *focus, rules *policy.Policy, cfg guard.Config, now time.Time) (*intent, error) {
	in := &intent{action: a, target: -1}
	proposed := false
	token, named := target(a)
	if t, ok := a.(TypeText); ok && t.Target == "" {
		if f == nil {
			return nil, refuse(FocusUnknown, nil)
		}
		t.Target, token = f.token, f.token
		in.action, proposed = t, f.proposed
	}
	row := -1
	if named {
		var err error
		if in.seen, row, err = lookUp(token, seen); err != nil {
			return nil, err
		}
	} else {
		w := window(a)
		if w.IsZero() {
			return nil, refuse(AmbiguousWindow, nil)
		}
		if in.seen = seen[w]; in.seen == nil {
			return nil, refuse(StaleSnapshot, nil)
		}
	}
	if in.seen.expired(now) || in.seen.rules != rules.Hash() {
		return nil, refuse(StaleSnapshot, nil)
	}
	if row >= len(in.seen.rows) {
		return nil, refuse(UnknownElement, nil)
	}
	if row >= 0 {
		in.target = in.seen.rows[row]
		in.who = policy.Identify(in.seen.look.Snapshot, in.target)
	}
	if _, keys := a.(PressKeys); in.seen.unchecked && (keys || fills(a)) {
		e := refuse(StaleSnapshot, nil)
		e.Message = "The last text or value could not be verified. Capture and check it before you enter more."
		return in, e
	}
	if _, ok := a.(PressKeys); ok && f != nil && !f.proposed && f.seen == in.seen {
		in.target, in.who = f.target, f.who
	}
	level, err := decide(in.action, in.seen.look, in.seen.levels, in.target, rules, cfg)
	if err == nil && proposed && level != driver.LevelAsk {
		err = refuse(FocusUnknown, nil) // only to a person is a field proposed again
	}
	in.level = level
	return in, err
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

// decide says whether a may be done to element target of look: LevelAllow,
// LevelAsk, or an error.
func decide(a Action, look *sight.Look, levels []Level, target int, rules *policy.Policy, cfg guard.Config) (Level, error) {
	level, err := decideTarget(a, look, levels, target, rules)
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
		return "", refuse(ReadOnly, nil, nameOf(look, target))
	}
	return "", refuse(Hidden, nil)
}

// decideTarget is decide without tiers and delivery.
func decideTarget(a Action, look *sight.Look, levels []Level, target int, rules *policy.Policy) (Level, error) {
	s := look.Snapshot
	if target >= 0 {
		if v := look.Plan.Verdicts[target]; v != redact.Show && v != redact.Veil {
			if _, wheel := a.(Scroll); !wheel || v != redact.Bare {
				return "", refuse(Hidden, nil)
			}
		}
		if !s.Elements[target].HasBounds() {
			if _, byValue := a.(SetValue); !byValue {
				return "", refuse(UnknownElement, nil)
			}
		}
	}
	switch a := a.(type) {
	case Click:
		if a.Button == driver.ButtonMiddle && s.Elements[target].Role.IsTextField() {
			return "", refuse(ClipboardRefused, nil)
		}
		return levels[target], nil
	case TypeText:
		if err := takesText(a, &s.Elements[target]); err != nil {
			return "", err
		}
		if levels[target] == driver.LevelAllow || levels[target] == driver.LevelAsk {
			if !s.FocusKnown {
				return "", refuse(FocusUnknown, nil)
			}
		}
		return levels[target], nil
	case SetValue:
		return levels[target], takesText(a, &s.Elements[target])
	case PressKeys:
		return decideKeys(a, look, levels, target, rules)
	case Scroll:
		return decideScroll(look, levels, target), nil
	case Drag:
		return decideDrag(a, look, levels, rules)
	case Raise:
		return rules.DefaultLevel(), nil
	}
	return "", refuse(BadRequest, nil, "That is no action.")
}

// takesText says whether a's text may go into e.
func takesText(a Action, e *driver.Element) error {
	_, typed := a.(TypeText)
	if typed && !e.Role.IsTextField() && e.Role != driver.RoleCombobox {
		return refuse(BadRequest, nil, "That control takes no text.")
	}
	if lines(a) && !e.Multiline {
		return refuse(BadRequest, nil, "That field takes one line; a line break would submit or leave it. Leave it out.")
	}
	return nil
}

// decideKeys judges keys by what they can reach (PC15, PC31).
func decideKeys(a PressKeys, look *sight.Look, levels []Level, target int, rules *policy.Policy) (Level, error) {
	switch classify(a.Keys) {
	case keyClipboard:
		return "", refuse(ClipboardRefused, nil)
	case keySystem:
		return "", refuse(ToolDenied, nil, "keys that work on the whole window or system")
	case keyEdit:
		if target < 0 {
			return "", refuse(FocusUnknown, nil)
		}
		if e := &look.Snapshot.Elements[target]; !look.Snapshot.FocusKnown || !e.Role.IsTextField() {
			return "", refuse(FocusUnknown, nil)
		}
		return levels[target], nil
	}
	level := rules.DefaultLevel()
	for i := range look.Snapshot.Elements {
		if shown(look, i) && operable(&look.Snapshot.Elements[i]) {
			level = driver.Stricter(level, levels[i])
		}
	}
	return level, nil
}

// decideScroll judges a wheel: over a value control it is a click on it, and
// elsewhere it changes only what is seen (PC16).
func decideScroll(look *sight.Look, levels []Level, target int) Level {
	s := look.Snapshot
	level := levels[target]
	if !s.Elements[target].Role.IsValueControl() && level == driver.LevelReadOnly {
		level = driver.LevelAllow
	}
	p, _ := place(s, target, Scroll{})
	for i := range s.Elements {
		if e := &s.Elements[i]; i != target && shown(look, i) && e.Role.IsValueControl() && p.In(e.Bounds) {
			level = driver.Stricter(level, levels[i])
		}
	}
	return level
}

// decideDrag judges a path by samples along it.
func decideDrag(a Drag, look *sight.Look, levels []Level, rules *policy.Policy) (Level, error) {
	if !rules.Coordinates(look.Window) {
		return "", refuse(DragRefused, nil)
	}
	s := look.Snapshot
	if !a.From.In(image.Rectangle{Max: s.Size}) || !a.To.In(image.Rectangle{Max: s.Size}) {
		return "", refuse(BadRequest, nil, "The path leaves the window's picture.")
	}
	level := rules.DefaultLevel()
	const samples = 64
	for n := 0; n <= samples; n++ {
		p := a.From.Add(a.To.Sub(a.From).Mul(n).Div(samples))
		p = image.Pt(s.Frame.Min.X+p.X*s.Frame.Dx()/s.Size.X, s.Frame.Min.Y+p.Y*s.Frame.Dy()/s.Size.Y)
		for i := range s.Elements {
			switch {
			case !p.In(s.Elements[i].Bounds):
			case look.Plan.Verdicts[i] == redact.Hide || look.Plan.Verdicts[i] == redact.Omit:
				return "", refuse(Hidden, nil)
			case operable(&s.Elements[i]):
				level = driver.Stricter(level, levels[i])
			}
		}
	}
	return level, nil
}

// levels is what an act on each element will meet, for the marks in the tree
// and for Act alike: the strictest of its own verdict, of every rule that
// names a node under the point where it is operated, and of the controls it
// contains there (PC35).
func levels(look *sight.Look, cfg guard.Config) []Level {
	s, v := look.Snapshot, look.Judgement.Verdicts
	out := make([]Level, len(s.Elements))
	var named []int // restricted by a rule of their own
	for i := range v {
		out[i] = v[i].Level
		if !v[i].Default && v[i].Level != driver.LevelAllow {
			named = append(named, i)
		}
	}
	tier := cfg.Decide("click").Tier
	for i := range out {
		p, _ := place(s, i, Click{})
		for _, n := range named {
			if n != i && p.In(s.Elements[n].Bounds) {
				out[i] = driver.Stricter(out[i], v[n].Level)
			}
		}
		switch tier {
		case guard.Ask:
			out[i] = driver.Stricter(out[i], driver.LevelAsk)
		case guard.Deny:
			out[i] = driver.Stricter(out[i], driver.LevelReadOnly)
		}
	}
	for i := range v {
		if !operable(&s.Elements[i]) {
			continue
		}
		for up := range s.Path(i) {
			if p, _ := place(s, up, Click{}); p.In(s.Elements[i].Bounds) {
				out[up] = driver.Stricter(out[up], v[i].Level)
			}
		}
	}
	return out
}

// shown says that the agent can see element i with its strings.
func shown(look *sight.Look, i int) bool {
	return look.Plan.Verdicts[i] == redact.Show || look.Plan.Verdicts[i] == redact.Veil
}

// operable says that input can change e, as far as its role tells: an unknown
// role can.
func operable(e *driver.Element) bool {
	switch e.Role {
	case driver.RoleWindow, driver.RoleDialog, driver.RoleDocument, driver.RoleGroup, driver.RoleForm, driver.RoleText,
		driver.RoleHeading, driver.RoleParagraph, driver.RoleImage, driver.RoleList, driver.RoleTable, driver.RoleRow,
		driver.RoleScroll, driver.RoleToolbar, driver.RoleStatus, driver.RoleProgress, driver.RoleTooltip,
		driver.RoleAlert, driver.RoleSeparator, driver.RoleMenubar, driver.RoleTabList, driver.RoleScrollbar,
		driver.RoleTree:
		return false
	}
	return true
}

// nameOf is how a refusal names an element that the agent can see.
func nameOf(look *sight.Look, target int) string {
	if target < 0 {
		return "this window's controls"
	}
	e := look.Snapshot.Elements[target]
	if e.Label == "" || !shown(look, target) {
		return "this " + roleWord(&e)
	}
	return fmt.Sprintf("%s %.60q", roleWord(&e), e.Label)
}

func roleWord(e *driver.Element) string {
	if e.Role != driver.RoleUnknown {
		return string(e.Role)
	}
	return "control"
}
