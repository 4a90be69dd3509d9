package permissioncanvas

import "github.com/permission-canvas/permission-canvas/permissioncanvas/policy"

// focus is the text field that a permitted click gave the keyboard to, as far
// as that can be inferred. Typing still needs proof (PC32); the inference only
// says which field is meant.
type focus struct {
	seen   *sighting
	target int // in seen's snapshot
	token  Token
	who    policy.Identity
	epoch  uint64 // of the input lock when it was made; any other input ends it
}

// holds says that no input of any session came since f; before is the number
// of the turn before this one.
func (f *focus) holds(before uint64) bool { return f != nil && before != 0 && f.epoch == before }
