package sim

import (
	"context"
	"image"
	"slices"
	"strconv"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Do implements driver.Driver.
func (d *Desktop) Do(ctx context.Context, ref driver.WindowRef, a driver.Action) (driver.Result, error) {
	if err := d.enter(ctx); err != nil {
		return driver.Result{}, err
	}
	defer d.mu.Unlock()
	w, err := d.lookup(ref)
	if err != nil {
		return driver.Result{}, err
	}
	switch a := a.(type) {
	case driver.Click:
		return d.click(w, a)
	case driver.TypeText:
		return d.typeText(w, a)
	case driver.SetValue:
		return d.setValue(w, a)
	case driver.PressKeys:
		if a.Window != ref {
			return driver.Result{}, errRefused("keys for another window")
		}
		return d.pressKeys(w, a)
	case driver.Scroll:
		return d.scroll(w, a)
	case driver.Raise:
		if a.Window != ref {
			return driver.Result{}, errRefused("raise of another window")
		}
		d.raise(w)
		d.note("raise", w, w.nodes[0])
		return driver.Result{Effect: driver.EffectConfirmed}, nil
	}
	return driver.Result{}, driver.ErrUnsupported
}

// foreground reports whether real input is meant, and refuses what is not a
// delivery.
func foreground(v driver.Delivery) (bool, error) {
	switch v {
	case "", driver.Background:
		return false, nil
	case driver.Foreground:
		return true, nil
	}
	return false, errRefused("unknown delivery")
}

// click delivers a click: in the background to the target itself, in the
// foreground to whatever is at its middle.
func (d *Desktop) click(w *window, a driver.Click) (driver.Result, error) {
	target, err := w.resolve(a.Target)
	if err != nil {
		return driver.Result{}, err
	}
	front, err := foreground(a.Delivery)
	if err != nil {
		return driver.Result{}, err
	}
	if a.Button == "" {
		a.Button = driver.ButtonLeft
	}
	if a.Button != driver.ButtonLeft && a.Button != driver.ButtonRight && a.Button != driver.ButtonMiddle {
		return driver.Result{}, errRefused("unknown button")
	}
	if a.Count == 0 {
		a.Count = 1
	}
	if a.Count < 0 || a.Count > 3 {
		return driver.Result{}, errRefused("count of clicks")
	}
	if !front {
		return d.press(w, target, a.Button, a.Count), nil
	}
	at := middle(w.bounds(target))
	if !at.In(w.info.Bounds) {
		return driver.Result{}, errRefused("target is not on the screen")
	}
	d.raise(w)
	d.pointer = at
	under := d.topmost(at)
	hit := under.hit(at)
	res := d.press(under, hit, a.Button, a.Count)
	res.Retargeted = !hit.under(target)
	return res, nil
}

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Size().Div(2)) }

// press is what a click comes to at the control that got it.
func (d *Desktop) press(w *window, n *node, button driver.Button, count int) driver.Result {
	if w.owner == nil {
		d.drop(func(o *window) bool { return o.owner != nil })
	}
	if n.disabled {
		return driver.Result{Effect: driver.EffectSuspectedNoop}
	}
	n.pressed += count
	d.note(clickVerb(button), w, n)
	if !n.takesFocus() {
		return driver.Result{Effect: driver.EffectUnverifiable}
	}
	w.setFocus(n)
	res := driver.Result{Effect: driver.EffectConfirmed}
	switch {
	case button == driver.ButtonLeft:
		w.marked = n.isField() && count > 1
		for range count {
			if n.does != nil {
				res.Popup = n.does(d, w, n)
			}
		}
	case button == driver.ButtonRight && n.isField():
		res.Popup = d.openEditMenu(w, n)
	case button == driver.ButtonMiddle && n.isField():
		w.insert(d.clipboard)
	default:
		res.Effect = driver.EffectUnverifiable
	}
	return res
}

// openEditMenu is what a right click on a text field does.
func (d *Desktop) openEditMenu(w *window, n *node) driver.WindowRef {
	keys := map[string]driver.Key{"Cut": "x", "Copy": "c", "Paste": "v", "Select All": "a"}
	items := []string{"Cut", "Copy", "Paste", "Select All"}
	return d.popup(w, n, driver.RoleMenu, driver.RoleMenuItem, items, func(pick string) {
		d.edit(w, keys[pick])
	})
}

// setValue replaces a value by accessibility, without focus or keys.
func (d *Desktop) setValue(w *window, a driver.SetValue) (driver.Result, error) {
	n, err := w.resolve(a.Target)
	if err != nil {
		return driver.Result{}, err
	}
	if _, err := foreground(a.Delivery); err != nil {
		return driver.Result{}, err
	}
	switch {
	case n.isField():
	case n.role == driver.RoleCombobox && slices.Contains(n.choices, a.Value):
	case n.role == driver.RoleSlider && strconv.Itoa(number(a.Value)) == a.Value && number(a.Value) >= 0 && number(a.Value) <= n.limit:
	default:
		return driver.Result{}, errRefused("no such value here")
	}
	n.value = a.Value
	if w.focus == n {
		w.caret, w.marked = len([]rune(n.value)), false
	}
	d.note("set", w, n)
	return driver.Result{Effect: driver.EffectConfirmed}, nil
}

// scroll turns the wheel over a control: a value control changes, anything
// else on a page scrolls it.
func (d *Desktop) scroll(w *window, a driver.Scroll) (driver.Result, error) {
	n, err := w.resolve(a.Target)
	if err != nil {
		return driver.Result{}, err
	}
	front, err := foreground(a.Delivery)
	if err != nil {
		return driver.Result{}, err
	}
	if front {
		at := middle(w.bounds(n))
		if !at.In(w.info.Bounds) {
			return driver.Result{}, errRefused("target is not on the screen")
		}
		d.raise(w)
		d.pointer = at
		under := d.topmost(at)
		hit := under.hit(at)
		res := d.turn(under, hit, a.By)
		res.Retargeted = !hit.under(n)
		return res, nil
	}
	return d.turn(w, n, a.By), nil
}

// turn is what the wheel does to n.
func (d *Desktop) turn(w *window, n *node, by image.Point) driver.Result {
	d.note("scroll", w, n)
	step := by.Y
	switch n.role {
	case driver.RoleSlider:
		n.value = strconv.Itoa(min(max(number(n.value)+step, 0), n.limit))
		return driver.Result{Effect: driver.EffectConfirmed}
	case driver.RoleCombobox:
		n.value = n.choices[min(max(slices.Index(n.choices, n.value)+step, 0), len(n.choices)-1)]
		return driver.Result{Effect: driver.EffectConfirmed}
	}
	if page := w.document(); page != nil && n.web {
		before := w.scrolled
		w.scrolled = min(max(w.scrolled+step*40, 0), w.depth(page))
		if w.scrolled != before {
			return driver.Result{Effect: driver.EffectConfirmed}
		}
	}
	return driver.Result{Effect: driver.EffectSuspectedNoop}
}

// depth is how far the page can be scrolled.
func (w *window) depth(page *node) int {
	last := page.at.Max.Y
	for _, n := range w.nodes {
		if n.web && n != page {
			last = max(last, n.at.Max.Y+24)
		}
	}
	return last - page.at.Max.Y
}

// clickVerb is what Events call a click.
func clickVerb(b driver.Button) string {
	if b == driver.ButtonLeft {
		return "click"
	}
	return string(b) + " click"
}
