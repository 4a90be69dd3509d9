package driver

import (
	"image"
	"time"
)

// SnapshotOptions ask for less than all; the zero value asks for all.
type SnapshotOptions struct {
	NoImage bool // the tree alone, where that is cheaper
}

// Snapshot is one reading of one window.
type Snapshot struct {
	Window Window // read before and after, and the same both times

	// Run names the run of the driver that read it; "" where there is only one.
	// What was seen in one run is not acted on in another.
	Run string

	// Elements in the order of the tree, parents before children.
	Elements []Element

	// AllText says that every painted text the driver can know of is an
	// element with bounds of its own. Where false, text that no element holds
	// may be on the picture, and nothing that depends on finding all text may
	// be promised.
	AllText bool

	// FocusKnown says that Element.Focused is known of every element: where no
	// element has it, the keyboard's focus is elsewhere.
	FocusKnown bool

	// Image is a PNG or JPEG of Frame, or nil. Size is its size in pixels.
	Image []byte
	Size  image.Point
	Frame image.Rectangle // what the image shows, in screen pixels

	// Slack is how far, in screen pixels, an element may be painted outside
	// its Bounds by what this toolkit and driver are known to do.
	Slack int

	Taken time.Time
}

// Element is one node of a window's tree.
type Element struct {
	Token  string // the driver's own, valid until the next snapshot of the window
	Parent int    // index in Snapshot.Elements; -1 for a root or where unknown

	Role    Role   // one of the closed set; RoleUnknown where the toolkit's word is not known
	RawRole string // the toolkit's word
	Label   string // accessible name; may be the value where the toolkit has no name
	Value   string
	Text    []string // every further string the driver gave: description, help, placeholder, url, …

	// Bounds in screen pixels, grown outwards to whole ones; empty where the
	// driver gave none or one that cannot be.
	Bounds image.Rectangle

	Web       bool // part of a page
	Multiline bool // a text field known to take line breaks
	Focused   bool // known to hold the keyboard's focus
	Disabled  bool
	Selected  bool
	Actions   []string
}

// HasBounds reports whether the element's place is known.
func (e *Element) HasBounds() bool { return !e.Bounds.Empty() }

// Strings calls yield with each string of e until it returns false.
func (e *Element) Strings(yield func(string) bool) {
	if !yield(e.Label) || !yield(e.Value) {
		return
	}
	for _, s := range e.Text {
		if !yield(s) {
			return
		}
	}
}

// Path yields the indexes of the ancestors of element i, nearest first. A
// cycle or a parent out of range ends it.
func (s *Snapshot) Path(i int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for n := 0; n < len(s.Elements); n++ {
			i = s.Elements[i].Parent
			if i < 0 || i >= len(s.Elements) || !yield(i) {
				return
			}
		}
	}
}
