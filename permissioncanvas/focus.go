package permissioncanvas

import (
	"slices"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// focus is the text field that a permitted click gave the keyboard to, as far
// as that can be inferred. Typing still needs proof (PC32); the inference only
// says which field is meant.
type focus struct {
	// proposed: a capture came since, so where the keyboard is is not known any
	// more. The same field can still be meant by text that names none, since
	// typing clicks it again (PC18).
	proposed bool

	seen   *sighting
	target int // in seen's snapshot
	token  Token
	who    policy.Identity
	epoch  uint64        // of the input lock when it was made; any other input ends it
	handed handoff.Pause // as it was when it was made; any pause or resume ends it
}

// holds says that no input of any session came since f; before is the number
// of the turn before this one.
func (f *focus) holds(before uint64) bool {
	return f != nil && !f.proposed && before != 0 && f.epoch == before
}

// propose returns f as what is meant in the capture s that followed it: the
// same field, found once, under the same rules, in the same conversation. It
// is nil where any of that is otherwise.
func (f *focus) propose(s *sighting) *focus {
	if f == nil || f.seen.look.Window.Ref != s.look.Window.Ref || f.seen.rules != s.rules || f.seen.label != s.label {
		return nil
	}
	i, n := policy.Find(s.look.Snapshot, f.who)
	if n != 1 || i < 0 || s.look.Snapshot.Elements[i].Bounds != f.who.Bounds {
		return nil
	}
	row := slices.Index(s.rows, i)
	if row < 0 {
		return nil
	}
	return &focus{proposed: true, seen: s, target: i, who: f.who, token: s.token(row), handed: f.handed}
}
