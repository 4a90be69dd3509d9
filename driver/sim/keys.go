package sim

import (
	"strings"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/driver"
)

// chord is a key with what is held down beside it.
type chord struct {
	ctrl, alt, shift bool
	key              driver.Key
}

// readChord reads keys pressed together, the last one last.
func readChord(keys []driver.Key) (chord, error) {
	if len(keys) == 0 {
		return chord{}, errRefused("no keys")
	}
	var c chord
	for _, k := range keys[:len(keys)-1] {
		switch driver.Key(strings.ToLower(string(k))) {
		case "ctrl", "control", "cmd", "command", "meta":
			c.ctrl = true
		case "alt", "option":
			c.alt = true
		case "shift":
			c.shift = true
		default:
			return chord{}, errRefused("unknown modifier")
		}
	}
	c.key = keys[len(keys)-1]
	if utf8.RuneCountInString(string(c.key)) == 1 {
		return c, nil
	}
	c.key = driver.Key(strings.ToLower(string(c.key)))
	switch c.key {
	case "enter", "return", "tab", "escape", "esc", "space", "backspace", "delete", "insert",
		"home", "end", "left", "right", "up", "down":
		return c, nil
	}
	return chord{}, errRefused("unknown key")
}

// pressKeys presses a combination in w.
func (d *Desktop) pressKeys(w *window, a driver.PressKeys) (driver.Result, error) {
	c, err := readChord(a.Keys)
	if err != nil {
		return driver.Result{}, err
	}
	if err := d.keyboard(w, w.focus, a.Delivery); err != nil {
		return driver.Result{}, err
	}
	n := w.focus
	if n == nil {
		n = w.nodes[0]
	}
	d.note("keys", w, n)
	switch {
	case c.alt:
		d.accessKey(w, c.key)
	case c.ctrl || c.key == "insert" || c.shift && c.key == "delete":
		d.clip(w, c)
	default:
		d.plainKey(w, c)
	}
	return driver.Result{Effect: driver.EffectUnverifiable}, nil
}

// accessKey presses the first button whose name begins with the letter.
func (d *Desktop) accessKey(w *window, k driver.Key) {
	for _, n := range w.nodes {
		if n.role == driver.RoleButton && n.takesFocus() && n.label != "" &&
			strings.EqualFold(n.label[:1], string(k)) {
			d.activate(w, n)
			return
		}
	}
}

// clip maps every spelling of copy, cut, paste and select all to one.
func (d *Desktop) clip(w *window, c chord) {
	k := driver.Key(strings.ToLower(string(c.key)))
	switch {
	case c.ctrl && k == "insert":
		k = "c"
	case c.shift && k == "insert":
		k = "v"
	case c.shift && k == "delete":
		k = "x"
	}
	d.edit(w, k)
}

// edit copies, cuts, pastes or selects all in the focused field. A password
// cannot be copied.
func (d *Desktop) edit(w *window, k driver.Key) {
	n := w.focus
	if n == nil || !n.isField() {
		return
	}
	mayCopy := w.marked && n.role != driver.RolePassword
	switch k {
	case "a":
		w.marked = n.value != ""
	case "c":
		if mayCopy {
			d.clipboard = n.value
		}
	case "x":
		if mayCopy {
			d.clipboard = n.value
			w.unmark()
		}
	case "v":
		w.insert(d.clipboard)
	}
}

// plainKey is a key without ctrl or alt.
func (d *Desktop) plainKey(w *window, c chord) {
	switch c.key {
	case "enter", "return":
		d.enterKey(w)
	case "tab":
		if c.shift {
			w.step(-1)
		} else {
			w.step(1)
		}
	case "escape", "esc":
		d.drop(func(o *window) bool { return o == w && o.owner != nil || o.owner == w })
	case "space":
		d.letter(w, ' ')
	case "backspace":
		w.erase(-1)
	case "delete":
		w.erase(1)
	case "home", "end", "left", "right", "up", "down":
		w.move(c.key)
	default:
		r, _ := utf8.DecodeRuneInString(string(c.key))
		d.letter(w, r)
	}
}

// move moves the caret.
func (w *window) move(k driver.Key) {
	if w.focus == nil || !w.focus.isField() {
		return
	}
	last := utf8.RuneCountInString(w.focus.value)
	w.marked = false
	switch k {
	case "home", "up":
		w.caret = 0
	case "end", "down":
		w.caret = last
	case "left":
		w.caret = max(w.caret-1, 0)
	case "right":
		w.caret = min(w.caret+1, last)
	}
}
