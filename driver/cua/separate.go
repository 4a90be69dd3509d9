package cua

import (
	"image"

	"github.com/permission-canvas/permission-canvas/driver"
)

// nearby is how alike the places of two windows may be for the driver to take
// one for the other, with room to spare. Measured: it finds a window's tree by
// its place, to about ten pixels on each side, so the reading of one of two
// windows of a process that lie over each other, as two maximised browser
// windows do, has the elements of both.
const nearby = 64

// separate keeps what belongs to window w. others are all windows listed,
// before and after the reading. Where the elements of two windows cannot be
// told apart, the reading is refused.
func separate(all []element, w driver.Window, others []driver.Window) ([]element, error) {
	siblings, close, namesake := false, false, false
	for _, o := range others {
		if o.Ref.PID != w.Ref.PID || o.Ref.ID == w.Ref.ID {
			continue
		}
		siblings = true
		if alike(o.Bounds, w.Bounds) {
			close = true
			namesake = namesake || o.Title == w.Title
		}
	}
	if !siblings {
		return all, nil
	}
	named, count := -1, 0
	for i := range all {
		if all[i].Parent < 0 && isTop(all[i].Role) && all[i].Label == w.Title {
			named = i
			count++
		}
	}
	switch {
	case count == 1 && !namesake:
		return subtree(all, named), nil
	case close:
		return nil, incomplete("the elements of two windows cannot be told apart")
	}
	return all, nil // the driver has told them apart by their places
}

// alike reports whether the driver may take one place for the other. A window
// without a place may be anywhere.
func alike(a, b image.Rectangle) bool {
	if a.Empty() || b.Empty() {
		return true
	}
	near := func(a, b int) bool { return a-b < nearby && b-a < nearby }
	return near(a.Min.X, b.Min.X) && near(a.Min.Y, b.Min.Y) && near(a.Dx(), b.Dx()) && near(a.Dy(), b.Dy())
}

func isTop(r driver.Role) bool {
	return r == driver.RoleWindow || r == driver.RoleDialog || r == driver.RoleAlert
}

// subtree keeps root and what is below it, in order.
func subtree(all []element, root int) []element {
	kept := make([]element, 0, len(all))
	at := make(map[int]int, len(all)) // old position → new one
	for i := range all {
		e := all[i]
		parent, below := at[e.Parent]
		switch {
		case i == root:
			e.Parent = -1
		case below:
			e.Parent = parent
		default:
			continue
		}
		at[i] = len(kept)
		kept = append(kept, e)
	}
	return kept
}
