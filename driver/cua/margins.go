package cua

import "image"

// blindSlack is how far off an element may be where the window system could
// not be asked for the window's margins.
const blindSlack = 8

// margins are the parts of a window's own surface that are shadow and resize
// border, as the application declares them in _GTK_FRAME_EXTENTS. Measured with
// Chromium: the driver adds the left and upper one to places that already hold
// them, 0.21 for every element, 0.37 for those of a page.
type margins struct {
	known                    bool
	left, right, top, bottom int
}

// place moves elements to where they are painted.
func (m margins) place(all []element, window image.Rectangle, modern bool) {
	by := image.Pt(m.left, m.top)
	if by == (image.Point{}) || len(all) == 0 {
		return
	}
	// 0.21 is known by its root, which it puts off the window it fills.
	if !modern && all[0].Bounds.Min.Sub(window.Min) != by {
		return
	}
	for i := range all {
		e := &all[i]
		if !e.HasBounds() || (modern && !e.inPage) {
			continue
		}
		e.Bounds = e.Bounds.Sub(by)
	}
}

// slack covers an application for which that correction is wrong.
func (m margins) slack() int {
	if !m.known {
		return blindSlack
	}
	return max(m.left, m.right, m.top, m.bottom)
}
