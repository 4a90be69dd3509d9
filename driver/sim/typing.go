package sim

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/driver"
)

// typeText types letter by letter, as a keyboard does: a tab moves the focus,
// a line break submits a one-line field, and the rest goes on from there.
func (d *Desktop) typeText(w *window, a driver.TypeText) (driver.Result, error) {
	target := w.focus
	if a.Target != "" {
		n, err := w.resolve(a.Target)
		if err != nil {
			return driver.Result{}, err
		}
		if n.takesFocus() {
			target = n
		}
	}
	if err := d.keyboard(w, target, a.Delivery); err != nil {
		return driver.Result{}, err
	}
	if target == nil {
		return driver.Result{Effect: driver.EffectSuspectedNoop}, nil
	}
	if target != w.focus {
		w.setFocus(target)
	}
	d.note("type", w, target)
	before := target.value
	for _, r := range a.Text {
		d.letter(w, r)
	}
	if target.value == before {
		return driver.Result{Effect: driver.EffectUnverifiable}, nil
	}
	return driver.Result{Effect: driver.EffectConfirmed}, nil
}

// keyboard brings the keyboard to w, or says why it cannot be.
func (d *Desktop) keyboard(w *window, target *node, v driver.Delivery) error {
	front, err := foreground(v)
	if err != nil {
		return err
	}
	if front {
		d.raise(w)
		return nil
	}
	if target != nil && target.web {
		return driver.ErrBackgroundUnavailable
	}
	return nil
}

// letter is one key that makes a character.
func (d *Desktop) letter(w *window, r rune) {
	switch r {
	case '\t':
		w.step(1)
	case '\n', '\r':
		d.enterKey(w)
	case '\b':
		w.erase(-1)
	case ' ':
		if w.focus != nil && !w.focus.isField() {
			d.activate(w, w.focus)
			return
		}
		w.insert(" ")
	default:
		if !unicode.IsControl(r) {
			w.insert(string(r))
		}
	}
}

// enterKey breaks the line where lines can be broken, presses the button that
// has the focus, or submits the form.
func (d *Desktop) enterKey(w *window) {
	n := w.focus
	switch {
	case n == nil:
	case n.isField() && n.multiline:
		w.insert("\n")
	case n.isField():
		if b := w.submit(n); b != nil {
			d.activate(w, b)
		}
	default:
		d.activate(w, n)
	}
}

// submit returns the button that a line break in field n presses.
func (w *window) submit(n *node) *node {
	for _, b := range w.nodes {
		if b.tone == primary && b.takesFocus() && n.parent != nil && b.under(n.parent) {
			return b
		}
	}
	return nil
}

// activate presses n by the keyboard.
func (d *Desktop) activate(w *window, n *node) {
	n.pressed++
	d.note("press", w, n)
	if n.does != nil {
		n.does(d, w, n)
	}
}

// setFocus gives n the focus, its caret at the end.
func (w *window) setFocus(n *node) {
	w.focus, w.caret, w.marked = n, utf8.RuneCountInString(n.value), false
}

// step moves the focus to the next control, or with by -1 to the one before.
func (w *window) step(by int) {
	var stops []*node
	for _, n := range w.nodes {
		if n.takesFocus() {
			stops = append(stops, n)
		}
	}
	if len(stops) == 0 {
		return
	}
	at := slices.Index(stops, w.focus)
	if at < 0 && by < 0 {
		at = 0
	}
	w.setFocus(stops[(at+by+len(stops))%len(stops)])
}

// insert puts s at the caret of the focused field. A one-line field drops line
// breaks.
func (w *window) insert(s string) {
	n := w.focus
	if n == nil || !n.isField() {
		return
	}
	if !n.multiline {
		s = strings.NewReplacer("\r", "", "\n", "").Replace(s)
	}
	w.unmark()
	letters := []rune(n.value)
	n.value = string(slices.Insert(letters, w.caret, []rune(s)...))
	w.caret += utf8.RuneCountInString(s)
}

// erase removes what is selected, else the letter before the caret, or with by
// 1 the one after it.
func (w *window) erase(by int) {
	n := w.focus
	if n == nil || !n.isField() || w.unmark() {
		return
	}
	letters, at := []rune(n.value), w.caret
	if by < 0 {
		at--
	}
	if at < 0 || at >= len(letters) {
		return
	}
	n.value, w.caret = string(slices.Delete(letters, at, at+1)), at
}

// unmark removes what is selected and reports whether anything was.
func (w *window) unmark() bool {
	if !w.marked {
		return false
	}
	w.focus.value, w.caret, w.marked = "", 0, false
	return true
}
