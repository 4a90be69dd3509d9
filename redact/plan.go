package redact

import (
	"errors"
	"fmt"
	"image"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
)

// ErrWithheld is wrapped by every error of this package: nothing may be shown.
// What stands around it says why, for a log; no text from the screen is in it.
var ErrWithheld = errors.New("redact: withheld")

func withheld(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrWithheld, fmt.Sprintf(format, args...))
}

// A Verdict says how much of an element may be seen. Each allows more than the
// one before it.
type Verdict uint8

const (
	Hide Verdict = iota // removed with its descendants, pixels masked, counted
	Omit                // removed
	Bare                // role and number only; cannot be operated
	Veil                // shown without its value, pixels masked
	Show                // shown
)

// A Plan says what to hide of one snapshot. The zero Plan fits an empty one.
type Plan struct {
	// Verdicts and Levels hold one entry for each element. An element that is
	// to be shown at a level which is none of allow, ask and read only is
	// hidden. What is bare can be read at most, whatever its level.
	Verdicts []Verdict
	Levels   []driver.Level
	// Default is the level that rows need not name. Where it is none, every
	// row names its own.
	Default driver.Level
	// HideTitle removes the window's title and treats it as a hidden text.
	HideTitle bool
	// Covers are places, in screen pixels, where the picture may show
	// something else than this window. They are masked and not counted.
	Covers []image.Rectangle
	// Pad is how far, in screen pixels, masks grow beyond the element; less
	// than 4 is 4. The snapshot's Slack is added.
	Pad int
}

// Options of one observation. The zero value gives the whole picture and 250
// elements.
type Options struct {
	Nonce       uint32 // goes into every token; must differ from snapshot to snapshot and be random
	MaxElements int    // rows; 0 is 250
	Query       string // only elements whose visible text contains it, in any case
	MaxSide     int    // longest side of the picture in pixels; 0 leaves it as it is
	NoImage     bool
	Expires     time.Time
}

// settled is a plan after what no plan can loosen was applied to it.
type settled struct {
	verdicts []Verdict
	levels   []driver.Level
	masked   []bool // pixels must go
	covered  int    // hidden elements without a hidden ancestor
}

// settle checks p against s and makes it strict: unknown is hidden, hiding
// goes down the tree, baring goes up, and passwords are veiled.
func settle(s *driver.Snapshot, p Plan) (settled, error) {
	n := len(s.Elements)
	if len(p.Verdicts) != n || len(p.Levels) != n {
		return settled{}, withheld("plan of %d verdicts and %d levels for %d elements", len(p.Verdicts), len(p.Levels), n)
	}
	t := settled{verdicts: make([]Verdict, n), levels: make([]driver.Level, n), masked: make([]bool, n)}
	for i := range s.Elements {
		t.verdicts[i], t.levels[i] = p.Verdicts[i], p.Levels[i]
		if t.verdicts[i] > Show || t.verdicts[i] > Bare && !shows(p.Levels[i]) {
			t.verdicts[i] = Hide
		}
	}
	hidden := beneath(s, func(i int) bool { return t.verdicts[i] == Hide })
	for i, under := range hidden {
		switch {
		case under:
			t.verdicts[i] = Hide
		case t.verdicts[i] == Hide:
			t.covered++
		}
	}
	t.secure(s)
	for i, v := range t.verdicts {
		t.masked[i] = t.masked[i] || v == Hide || v == Veil
	}
	for i, above := range above(s, func(i int) bool { return t.verdicts[i] == Hide }) {
		if above && t.verdicts[i] > Bare {
			t.verdicts[i] = Bare
		}
	}
	for i, v := range t.verdicts {
		if v == Bare {
			t.levels[i] = driver.LevelReadOnly
		}
	}
	return t, nil
}

// secure veils password fields and removes what is inside them: a toolkit may
// repeat the text there.
func (t *settled) secure(s *driver.Snapshot) {
	inside := beneath(s, func(i int) bool { return s.Elements[i].Role == driver.RolePassword })
	for i := range s.Elements {
		if s.Elements[i].Role == driver.RolePassword {
			t.verdicts[i], t.masked[i] = min(t.verdicts[i], Veil), true
		}
		if inside[i] {
			t.verdicts[i], t.masked[i] = min(t.verdicts[i], Omit), true
		}
	}
}

// shows reports whether a visible element can have the level.
func shows(l driver.Level) bool {
	return l == driver.LevelAllow || l == driver.LevelAsk || l == driver.LevelReadOnly
}

// beneath returns, for each element, whether is holds for an ancestor. It does
// not rely on parents standing before their children.
func beneath(s *driver.Snapshot, is func(int) bool) []bool {
	out := make([]bool, len(s.Elements))
	for i := range s.Elements {
		if p := s.Elements[i].Parent; p < i {
			out[i] = p >= 0 && (out[p] || is(p))
			continue
		}
		for p := range s.Path(i) {
			if is(p) {
				out[i] = true
				break
			}
		}
	}
	return out
}

// above returns, for each element, whether is holds for a descendant.
func above(s *driver.Snapshot, is func(int) bool) []bool {
	out := make([]bool, len(s.Elements))
	for i := range s.Elements {
		if !is(i) {
			continue
		}
		for p := range s.Path(i) {
			if out[p] {
				break
			}
			out[p] = true
		}
	}
	return out
}
