package cua

import (
	"context"
	"fmt"
	"image"

	"github.com/permission-canvas/permission-canvas/driver"
)

// mostLines is how far one turn of the wheel goes; 0.37's schema says so.
const mostLines = 50

// Do sends one action.
func (d *Driver) Do(ctx context.Context, ref driver.WindowRef, a driver.Action) (driver.Result, error) {
	var none driver.Result
	if ref.IsZero() {
		return none, driver.ErrWindowGone
	}
	if err := take(ctx, d.serial); err != nil {
		return none, err
	}
	defer release(d.serial)
	l, err := d.linkFor(ctx, a)
	if err != nil {
		return none, err
	}
	if l.isOver() {
		return none, driver.ErrSessionEnded
	}
	tool, args, err := l.translate(ref, a)
	if err != nil {
		return none, err
	}
	if err := d.mustExist(ctx, l, ref); err != nil {
		return none, err
	}
	if err := d.label(ctx, l, tool, args); err != nil {
		return none, err
	}
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("%w: %w", driver.ErrNoEffect, err)
	}
	r, err := d.send(ctx, l, tool, args, d.inputLimit)
	if err != nil {
		// It may have happened, and may be happening yet: nothing that is
		// known of the window holds any more.
		d.drop(l, err)
		return none, fmt.Errorf("%s may have happened: %w", tool, err)
	}
	return l.outcome(r, ref, tool)
}

// mustExist lists the windows before an act. Both versions "raise" any number
// that they are given, and "click" on an element of a window that was closed,
// and call both done. Unlike a person's look it begins no session again.
func (d *Driver) mustExist(ctx context.Context, l *link, ref driver.WindowRef) error {
	args := arguments{}
	if err := d.label(ctx, l, listWindows, args); err != nil {
		return err
	}
	r, err := d.look(ctx, l, listWindows, args)
	if err != nil {
		return err
	}
	if r.failed && r.code() == codeSessionEnded {
		l.end()
		return driver.ErrSessionEnded
	}
	all, err := readWindows(r)
	if err == nil {
		_, err = find(all, ref)
	}
	if err != nil {
		l.forget(ref)
	}
	return err
}

// linkFor returns the process that a's tokens are of. Where none runs, tokens
// are of one that ended, and only what needs none may start another.
func (d *Driver) linkFor(ctx context.Context, a driver.Action) (*link, error) {
	switch a.(type) {
	case driver.PressKeys, driver.Raise:
		l, err := d.connect(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", driver.ErrNoEffect, err)
		}
		return l, nil
	}
	l, err := d.running()
	if err == nil && l == nil {
		err = driver.ErrStaleToken
	}
	return l, err
}

// translate turns an action into a call. Every error of it is without effect.
func (l *link) translate(ref driver.WindowRef, a driver.Action) (string, arguments, error) {
	args := arguments{"pid": ref.PID, "window_id": ref.ID}
	switch a := a.(type) {
	case driver.Click:
		return l.click(ref, a, args)
	case driver.TypeText:
		args["text"] = a.Text
		return l.targeted("type_text", ref, a.Target, a.Delivery, args, a.Target == "")
	case driver.SetValue:
		args["value"] = a.Value
		return l.targeted("set_value", ref, a.Target, a.Delivery, args, false)
	case driver.PressKeys:
		return l.keys(ref, a, args)
	case driver.Scroll:
		return l.scroll(ref, a, args)
	case driver.Drag:
		return l.drag(ref, a, args)
	case driver.Raise:
		return "bring_to_front", args, sameWindow(ref, a.Window)
	}
	return "", nil, fmt.Errorf("%w: unknown action", driver.ErrUnsupported)
}

// targeted adds the element and the delivery.
func (l *link) targeted(tool string, ref driver.WindowRef, t driver.Token, how driver.Delivery, args arguments, untargeted bool) (string, arguments, error) {
	if !untargeted {
		own, at, err := l.own(ref, t)
		if err != nil {
			return "", nil, err
		}
		// In front, the driver aims the real pointer at the middle of where it
		// believes the element to be, which may be off by the window's margins.
		if how == driver.Foreground && !at.bounds.Empty() && !at.aim.In(at.bounds) {
			return "", nil, fmt.Errorf("%w: the driver would miss this element", driver.ErrUnsupported)
		}
		args["element_token"] = own
	}
	return tool, args, l.deliver(tool, how, args)
}

// deliver adds the way that input takes. A tool without a choice of ways does
// not touch the real pointer.
func (l *link) deliver(tool string, how driver.Delivery, args arguments) error {
	if how == "" {
		how = driver.Background
	}
	if how != driver.Background && how != driver.Foreground {
		return fmt.Errorf("%w: unknown delivery", driver.ErrUnsupported)
	}
	if l.takes(tool, "delivery_mode") {
		args["delivery_mode"] = string(how)
	}
	return nil
}

// click chooses the tool that presses the button that is meant. Measured: by
// accessibility, "click" answers every button and count with one left press,
// 0.21 always, 0.37 in the background; 0.21 sends modified background clicks
// through the real pointer.
func (l *link) click(ref driver.WindowRef, a driver.Click, args arguments) (string, arguments, error) {
	front := a.Delivery == driver.Foreground
	tool := ""
	switch {
	case a.Count < 0 || a.Count > 3:
		return "", nil, fmt.Errorf("%w: click count", driver.ErrUnsupported)
	case len(a.Modifiers) > 0 && !front:
		return "", nil, driver.ErrBackgroundUnavailable
	case (a.Button == "" || a.Button == driver.ButtonLeft) && a.Count <= 1:
		tool = "click"
	case (a.Button == "" || a.Button == driver.ButtonLeft) && a.Count == 2 && len(a.Modifiers) == 0:
		tool = "double_click"
	case a.Button == driver.ButtonRight && a.Count <= 1:
		tool = "right_click"
	case !l.modern:
		return "", nil, fmt.Errorf("%w: this click", driver.ErrUnsupported)
	case !front:
		return "", nil, driver.ErrBackgroundUnavailable
	case a.Button == "" || a.Button == driver.ButtonLeft || a.Button == driver.ButtonMiddle:
		tool = "click"
		args["count"] = max(a.Count, 1)
		if a.Button == driver.ButtonMiddle {
			args["button"] = "middle"
		}
	default:
		return "", nil, fmt.Errorf("%w: this click", driver.ErrUnsupported)
	}
	if len(a.Modifiers) > 0 {
		if !l.takes(tool, "modifier") {
			return "", nil, fmt.Errorf("%w: this click with keys held", driver.ErrUnsupported)
		}
		args["modifier"] = a.Modifiers
	}
	return l.targeted(tool, ref, a.Target, a.Delivery, args, false)
}

func (l *link) keys(ref driver.WindowRef, a driver.PressKeys, args arguments) (string, arguments, error) {
	tool := "press_key"
	switch len(a.Keys) {
	case 0:
		return "", nil, fmt.Errorf("%w: no key", driver.ErrUnsupported)
	case 1:
		args["key"] = string(a.Keys[0])
	default:
		tool = "hotkey"
		args["keys"] = a.Keys
	}
	if err := sameWindow(ref, a.Window); err != nil {
		return "", nil, err
	}
	return tool, args, l.deliver(tool, a.Delivery, args)
}

func (l *link) scroll(ref driver.WindowRef, a driver.Scroll, args arguments) (string, arguments, error) {
	by := a.By
	if (by.X == 0) == (by.Y == 0) || max(by.X, by.Y) > mostLines || min(by.X, by.Y) < -mostLines {
		return "", nil, fmt.Errorf("%w: scroll by one axis and at most %d lines", driver.ErrUnsupported, mostLines)
	}
	switch {
	case by.Y > 0:
		args["direction"], args["amount"] = "down", by.Y
	case by.Y < 0:
		args["direction"], args["amount"] = "up", -by.Y
	case by.X > 0:
		args["direction"], args["amount"] = "right", by.X
	default:
		args["direction"], args["amount"] = "left", -by.X
	}
	return l.targeted("scroll", ref, a.Target, a.Delivery, args, false)
}

// drag sends the points as they are: the driver maps them from the picture of
// its own newest reading, which must therefore be ours. It takes them for points
// of the whole window also where the picture is of a part.
func (l *link) drag(ref driver.WindowRef, a driver.Drag, args arguments) (string, arguments, error) {
	if err := sameWindow(ref, a.Window); err != nil {
		return "", nil, err
	}
	v, ok := l.view(ref)
	switch {
	case !ok:
		return "", nil, driver.ErrStaleToken
	case !v.whole:
		return "", nil, fmt.Errorf("%w: a drag in a window that is partly off the screen", driver.ErrUnsupported)
	}
	bounds := image.Rectangle{Max: v.size}
	if !a.From.In(bounds) || !a.To.In(bounds) {
		return "", nil, fmt.Errorf("%w: a point outside the window", driver.ErrRefused)
	}
	args["from_x"], args["from_y"] = a.From.X, a.From.Y
	args["to_x"], args["to_y"] = a.To.X, a.To.Y
	return "drag", args, l.deliver("drag", a.Delivery, args)
}

// sameWindow refuses an action that names another window than it is sent to.
func sameWindow(ref, named driver.WindowRef) error {
	if named != ref && named != (driver.WindowRef{}) {
		return fmt.Errorf("%w: an action for another window", driver.ErrRefused)
	}
	return nil
}
