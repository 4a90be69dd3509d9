package control

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// Selected is what Select did.
type Selected struct {
	Window Window
	// Notes are sentences for the person: what else changed, and what remains.
	Notes []string
}

// Select chooses the window ref for agents: alone, or with add beside the ones
// that are chosen. It takes the desktop and leaves it paused.
func (d *Desk) Select(ctx context.Context, ref WindowRef, add bool) (Selected, error) {
	// A slip of the finger does not pause anybody.
	if _, err := d.eligible(ctx, ref); err != nil {
		return Selected{}, err
	}
	defer d.attend()()
	before := d.gate.State()
	hold, err := d.take(ctx, "choosing a window")
	if err != nil {
		return Selected{}, err
	}
	defer hold.Release()
	w, page, err := d.choose(ctx, ref)
	if err != nil {
		return Selected{}, fmt.Errorf("%w; the desktop is paused", err)
	}
	var change policy.Change
	err = d.write(ctx, audit.Selected, map[string]string{
		"window": refText(ref), "app": w.AppName(), "add": fmt.Sprint(add),
	}, func(doc Document) (Document, error) {
		doc, change, err = doc.SelectWindow(policy.WindowOf(w.Window), add)
		return doc, err
	})
	if err != nil {
		return Selected{}, err
	}
	w.Selected, w.Changed = true, ""
	s := Selected{Window: w, Notes: changes(change)}
	if sight.IsTerminal(w.Window) {
		s.Notes = append(s.Notes, "This is a terminal: whatever an agent types there is a command on your account.")
	}
	if page {
		s.Notes = append(s.Notes, "The page in this browser cannot be read, so agents will see nothing of it: "+
			"bring it to the front, or restart the browser if it was started before accessibility was on.")
	}
	return Selected{Window: w, Notes: append(s.Notes, waits(before, hold)...)}, nil
}

// choose reads the window as it is now, for certain one that may be chosen.
// page says that it is a browser whose page cannot be read.
func (d *Desk) choose(ctx context.Context, ref WindowRef) (w Window, page bool, err error) {
	w, err = d.eligible(ctx, ref)
	if err != nil || !sight.IsBrowser(w.Window) {
		return w, false, err
	}
	look, err := d.look(ctx, ref)
	switch {
	case errors.Is(err, sight.ErrPageUnavailable):
		page = true
	case err == nil:
		w.Window = look.Window // a page's address may stand in the page alone
	default:
		d.log.Warn("the browser was chosen without a look at its page", "cause", err)
	}
	return w, page, nil
}

// eligible is the window ref as it is listed now, if it may be chosen.
func (d *Desk) eligible(ctx context.Context, ref WindowRef) (Window, error) {
	all, err := d.windows(ctx)
	if err != nil {
		return Window{}, err
	}
	w, err := exactly(all, func(w Window) bool { return w.Ref == ref }, refText(ref))
	if err == nil && w.Never != "" {
		err = fmt.Errorf("%s cannot be chosen: %s", w, w.Never)
	}
	return w, err
}

// changes puts what a selection changed beside itself in sentences.
func changes(c policy.Change) []string {
	var notes []string
	if c.AsksNow {
		notes = append(notes, "Whatever has no rule asks first now; before, it was allowed.")
	}
	if len(c.Moved) > 0 {
		notes = append(notes, "Moved to this window: "+strings.Join(c.Moved, ", ")+".")
	}
	if len(c.Copied) > 0 {
		notes = append(notes, "Copied for this window: "+strings.Join(c.Copied, ", ")+".")
	}
	return notes
}

// waits says who waits now that the desktop is the person's.
func waits(before handoff.Pause, h *handoff.Hold) []string {
	var notes []string
	if h.Waited {
		notes = append(notes, "An agent is still in a call that began before; nothing new gets in.")
	}
	if h.Shared {
		notes = append(notes, "Another of your programs has the desktop too.")
	}
	if before.Paused {
		return append(notes, "Agents stay paused until you resume.")
	}
	return append(notes, "Agents are paused now, until you resume.")
}

// take takes the desktop and puts that on record.
func (d *Desk) take(ctx context.Context, reason string) (*handoff.Hold, error) {
	hold, err := d.gate.Take(ctx, d.by, reason)
	if err != nil {
		return nil, err
	}
	if err := d.after(ctx, "the desktop is paused", audit.Paused, map[string]string{"reason": reason}); err != nil {
		return nil, errors.Join(err, hold.Release())
	}
	return hold, nil
}

// attend marks that somebody is there to answer, until what it returns is
// called.
func (d *Desk) attend() func() {
	release, err := d.gate.Surface()
	if err != nil {
		d.log.Warn("nobody knows that the person is here", "cause", err)
		return func() {}
	}
	return release
}
