package sim

import (
	"fmt"
	"image"
	"slices"

	"github.com/permission-canvas/permission-canvas/driver"
)

// window is one window and its tree.
type window struct {
	info     driver.Window
	nodes    []*node // parents before children, the window itself first
	focus    *node
	caret    int  // in runes, in the focused field
	marked   bool // all of the focused field is selected
	scrolled int  // how far the page is scrolled down, in pixels
	top      bool // always on top
	owner    *window

	snapshot string // id of the newest snapshot, "" before the first
	live     []*node
}

// node is one control, text or container.
type node struct {
	parent *node
	role   driver.Role
	raw    string
	label  string
	value  string
	text   []string
	at     image.Rectangle // from the window's corner, the page not scrolled

	web, multiline, disabled, checked, absent bool

	choices []string // of a combobox
	limit   int      // of a slider
	tone    tone
	pressed int

	// does is what a left click does, beyond taking the focus. It returns the
	// popup it opened.
	does func(*Desktop, *window, *node) driver.WindowRef
}

// add appends n below parent and returns it.
func (w *window) add(parent *node, n *node) *node {
	n.parent = parent
	if parent != nil {
		n.web = n.web || parent.web
	}
	if n.raw == "" {
		n.raw = rawWord(n.role)
	}
	w.nodes = append(w.nodes, n)
	return n
}

// rawWord is the word of AT-SPI for r.
func rawWord(r driver.Role) string {
	switch r {
	case driver.RoleWindow:
		return "frame"
	case driver.RoleButton:
		return "push button"
	case driver.RoleTextbox:
		return "entry"
	case driver.RolePassword:
		return "password text"
	case driver.RoleCombobox:
		return "combo box"
	case driver.RoleCheckbox:
		return "check box"
	case driver.RoleText:
		return "static"
	case driver.RoleGroup:
		return "panel"
	case driver.RoleDocument:
		return "document web"
	case driver.RoleToolbar:
		return "tool bar"
	case driver.RoleMenuItem:
		return "menu item"
	case driver.RoleRow:
		return "table row"
	case driver.RoleCell:
		return "table cell"
	case driver.RoleStatus:
		return "status bar"
	}
	return string(r)
}

// bounds is n's place on the screen; it may lie outside of what is shown.
func (w *window) bounds(n *node) image.Rectangle {
	r := n.at.Add(w.info.Bounds.Min)
	if n.web && n.role != driver.RoleDocument {
		r = r.Sub(image.Pt(0, w.scrolled))
	}
	return r
}

// shown is the part of n that can be seen and hit.
func (w *window) shown(n *node) image.Rectangle {
	r := w.bounds(n).Intersect(w.info.Bounds)
	for p := n.parent; p != nil && n.web; p = p.parent {
		if p.role == driver.RoleDocument {
			r = r.Intersect(w.bounds(p))
		}
	}
	return r
}

// hit returns the innermost node at p, the window itself where there is none.
func (w *window) hit(p image.Point) *node {
	for _, n := range slices.Backward(w.nodes) {
		if !n.absent && p.In(w.shown(n)) {
			return n
		}
	}
	return w.nodes[0]
}

// resolve returns the node that a token of the newest snapshot names.
func (w *window) resolve(t driver.Token) (*node, error) {
	for i, n := range w.live {
		if string(t) == w.token(i) {
			return n, nil
		}
	}
	return nil, fmt.Errorf("sim: %w", driver.ErrStaleToken)
}

func (w *window) token(i int) string { return fmt.Sprintf("%s:%d", w.snapshot, i) }

// find returns the control called label; a caption only where no control is.
func (w *window) find(label string) *node {
	var caption *node
	for _, n := range w.nodes {
		switch {
		case n.label != label:
		case n.takesFocus() || n.role == driver.RoleStatus:
			return n
		case caption == nil:
			caption = n
		}
	}
	return caption
}

// document returns the page of a browser, or nil.
func (w *window) document() *node {
	for _, n := range w.nodes {
		if n.role == driver.RoleDocument {
			return n
		}
	}
	return nil
}

// takesFocus reports whether the tab key stops at n.
func (n *node) takesFocus() bool {
	switch n.role {
	case driver.RoleButton, driver.RoleTextbox, driver.RolePassword, driver.RoleCombobox, driver.RoleCheckbox,
		driver.RoleSlider, driver.RoleLink, driver.RoleMenuItem, driver.RoleOption:
		return !n.disabled && !n.absent
	}
	return false
}

// isField reports whether n takes typed text now.
func (n *node) isField() bool { return n.role.IsTextField() && !n.disabled && !n.absent }

// under reports whether n is a or lies below it.
func (n *node) under(a *node) bool {
	for ; n != nil; n = n.parent {
		if n == a {
			return true
		}
	}
	return false
}

// widen makes the place of a static text fit what it says.
func (n *node) widen() {
	if n.role == driver.RoleText {
		n.at.Max.X = n.at.Min.X + textWidth(n.label)
	}
}
