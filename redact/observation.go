package redact

import (
	"image"
	"iter"
	"slices"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
)

// A Window is what an agent may know of a window. Title is "" where a rule
// hides it.
type Window struct {
	Ref        driver.WindowRef
	App, Title string
	Bounds     image.Rectangle // in screen pixels
}

// WindowOf returns what an agent may know of w.
func WindowOf(w driver.Window, hideTitle bool) Window {
	out := Window{Ref: w.Ref, App: line(w.AppName()), Title: line(w.Title), Bounds: w.Bounds}
	if hideTitle {
		out.Title = ""
	}
	return out
}

// An Element is a control or text that an agent may see.
type Element struct {
	Token driver.Token
	// Index is the number in Text. Parent is that of the nearest ancestor
	// which is listed, or -1.
	Index, Parent int
	// Role is one of driver's roles, or "unknown".
	Role string
	// Label and Value are free of control, invisible and object characters.
	// Only Value can have line breaks.
	Label, Value string
	Bounds       image.Rectangle // in the image; empty where unknown, outside or bare
	Level        driver.Level    // allow, ask or read only: what an act will meet
}

// An Observation is what an agent may have of one snapshot. Only Redact fills
// one; the zero Observation is empty.
type Observation struct {
	window   Window
	png      []byte
	size     image.Point
	text     string
	elements []Element
	covered  int
	expires  time.Time
}

// Window is the window that was observed.
func (o *Observation) Window() Window { return o.window }

// PNG is the picture, nil where none was asked for. It is shared: do not
// change it.
func (o *Observation) PNG() []byte { return o.png }

// Size is that of the picture in pixels; without one, that of the space that
// the elements' bounds are in.
func (o *Observation) Size() image.Point { return o.size }

// Text is the tree, a row for each element, as in `[12] button "Save" (ask)`.
func (o *Observation) Text() string { return o.text }

// Elements yields the elements in the order of Text.
func (o *Observation) Elements() iter.Seq[Element] { return slices.Values(o.elements) }

// Element returns the element with the number i in Text.
func (o *Observation) Element(i int) (Element, bool) {
	if i < 0 || i >= len(o.elements) {
		return Element{}, false
	}
	return o.elements[i], true
}

// Covered is how many places the person hid.
func (o *Observation) Covered() int { return o.covered }

// Expires is when the tokens die at the latest.
func (o *Observation) Expires() time.Time { return o.expires }
