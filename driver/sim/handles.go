package sim

import (
	"fmt"
	"image"
	"slices"

	"github.com/permission-canvas/permission-canvas/driver"
)

// The methods below look and reach behind the scenes, for tests and the
// quickstart. Those that change something panic where there is no such window
// or control.

// Window returns the window with exactly that title, the front one where there
// are two, and the zero WindowRef where there is none.
func (d *Desktop) Window(title string) driver.WindowRef {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range slices.Backward(d.windows) {
		if w.info.Title == title {
			return w.info.Ref
		}
	}
	return driver.WindowRef{}
}

// Value returns what the control called label holds, a password in clear; ""
// where there is no such control.
func (d *Desktop) Value(ref driver.WindowRef, label string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w, err := d.lookup(ref); err == nil {
		if n := w.find(label); n != nil {
			return n.value
		}
	}
	return ""
}

// Pressed returns how often anything called label was clicked or activated, in
// all windows together.
func (d *Desktop) Pressed(label string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := 0
	for _, w := range d.windows {
		for _, n := range w.nodes {
			if n.label == label {
				sum += n.pressed
			}
		}
	}
	return sum
}

// Focus returns the label of the control that has w's focus, "" for none.
func (d *Desktop) Focus(ref driver.WindowRef) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w, err := d.lookup(ref); err == nil && w.focus != nil {
		return w.focus.label
	}
	return ""
}

// Clipboard returns what was copied last.
func (d *Desktop) Clipboard() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clipboard
}

// Events returns what happened to the desktop through the driver, in order,
// as in
//
//	click "Save" in "Admin Console"
//
// The verbs are click, right click, middle click, press (by the keyboard),
// type, keys, set, scroll and raise. What was typed is not in it.
func (d *Desktop) Events() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.events)
}

// change runs f on the control called label, "" for the window itself.
func (d *Desktop) change(ref driver.WindowRef, label string, f func(*window, *node)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w, err := d.lookup(ref)
	if err != nil {
		panic(fmt.Sprintf("sim: no window %v", ref))
	}
	n := w.nodes[0]
	if label != "" {
		if n = w.find(label); n == nil {
			panic(fmt.Sprintf("sim: no control %q in window %v", label, ref))
		}
	}
	f(w, n)
}

// Relabel gives the control called old the label new, as a page does that
// changes under the reader.
func (d *Desktop) Relabel(ref driver.WindowRef, old, new string) {
	d.change(ref, old, func(_ *window, n *node) {
		n.label = new
		n.widen()
	})
}

// Put makes value what the control called label holds.
func (d *Desktop) Put(ref driver.WindowRef, label, value string) {
	d.change(ref, label, func(_ *window, n *node) { n.value = value })
}

// Disable greys the control called label out.
func (d *Desktop) Disable(ref driver.WindowRef, label string) {
	d.change(ref, label, func(_ *window, n *node) { n.disabled = true })
}

// MoveElement moves the control called label, and what it contains.
func (d *Desktop) MoveElement(ref driver.WindowRef, label string, by image.Point) {
	d.change(ref, label, func(w *window, n *node) {
		for _, o := range w.nodes {
			if o.under(n) {
				o.at = o.at.Add(by)
			}
		}
	})
}

// Move moves the whole window.
func (d *Desktop) Move(ref driver.WindowRef, by image.Point) {
	d.change(ref, "", func(w *window, _ *node) { w.info.Bounds = w.info.Bounds.Add(by) })
}

// Retitle gives the window another title.
func (d *Desktop) Retitle(ref driver.WindowRef, title string) {
	d.change(ref, "", func(w *window, n *node) { w.info.Title, n.label = title, title })
}

// Navigate makes the window show a page of another origin.
func (d *Desktop) Navigate(ref driver.WindowRef, site string) {
	d.change(ref, "", func(w *window, _ *node) { w.info.Site = site })
}

// Relaunch ends the window's process and starts it anew with the same ids, as
// an operating system does that hands them out again.
func (d *Desktop) Relaunch(ref driver.WindowRef) {
	d.change(ref, "", func(w *window, _ *node) {
		w.info.Start += 1000
		w.snapshot, w.live, w.focus = "", nil, nil
	})
}

// CloseWindow removes the window and its popups.
func (d *Desktop) CloseWindow(ref driver.WindowRef) {
	d.change(ref, "", func(w *window, _ *node) { d.drop(func(o *window) bool { return o == w }) })
}

// Cover puts a window of another process over the control called label, always
// on top and with one button, "Dismiss", that fills it.
func (d *Desktop) Cover(ref driver.WindowRef, label string) driver.WindowRef {
	var cover driver.WindowRef
	d.change(ref, label, func(w *window, n *node) {
		c := newWindow(driver.Window{Ref: driver.WindowRef{PID: 4400}, Start: 90210, App: "sim-notifier",
			Exe: "sim-notifier", Title: "Reminder", Bounds: w.bounds(n).Inset(-8)})
		c.top = true
		c.add(c.nodes[0], &node{role: driver.RoleButton, label: "Dismiss", at: c.nodes[0].at})
		cover = d.open(c)
	})
	return cover
}

// Uncover removes every window that Cover put there.
func (d *Desktop) Uncover() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(func(w *window) bool { return w.top })
}

// Restart ends the driver and starts it anew, as after a crash: its sessions
// are gone, every token is stale, and the numbers of tokens begin again, so
// that an old token may come to name another control. The applications go on.
func (d *Desktop) Restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.snapshots, d.closed = 0, false
	d.runs++
	clear(d.sessions)
	for _, w := range d.windows {
		w.snapshot, w.live = "", nil
	}
}
