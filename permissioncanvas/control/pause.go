package control

import (
	"context"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// Paused is what Pause did.
type Paused struct {
	Pause Pause
	Notes []string // sentences for the person
}

// Pause keeps agents out, durably, until a person resumes. It waits up to five
// seconds for those who are in a call.
func (d *Desk) Pause(ctx context.Context, reason string) (Paused, error) {
	before := d.gate.State()
	hold, err := d.take(ctx, reason)
	if err != nil {
		return Paused{Pause: d.gate.State()}, err
	}
	notes := waits(before, hold)
	return Paused{Pause: d.gate.State(), Notes: notes}, hold.Release()
}

// Preview is the person's own look at one window: raw, in memory only.
type Preview struct {
	Look *sight.Look
	// Controls are what can have a rule, numbered for SetNumbered.
	Controls []Control
	// Restart says how the browser is to be started again where its page seems
	// to be empty, else "".
	Restart string
	Notes   []string // sentences for the person
}

// Preview takes the desktop, leaves it paused, and reads the window ref as it
// is, with what the rules would make of it. What has no rule asks from then on.
// The numbers of its controls are remembered; their words are not.
func (d *Desk) Preview(ctx context.Context, ref WindowRef) (*Preview, error) {
	if _, err := d.eligible(ctx, ref); err != nil {
		return nil, err
	}
	doc, err := d.Rules()
	if err != nil {
		return nil, err
	}
	before := d.gate.State()
	hold, err := d.take(ctx, "a private preview")
	if err != nil {
		return nil, err
	}
	defer hold.Release()
	var notes []string
	if doc.DefaultLevel == LevelAllow {
		err := d.write(ctx, "policy", map[string]string{"edit": "default", "level": string(LevelAsk)}, func(doc Document) (Document, error) {
			doc.DefaultLevel = LevelAsk
			return doc, nil
		})
		if err != nil {
			return nil, err
		}
		notes = append(notes, "Whatever has no rule asks first now; before, it was allowed.")
	}
	look, err := d.read(ctx, ref, false)
	if err != nil {
		return nil, err
	}
	rules, err := d.profile.Policy()
	if err != nil {
		return nil, err
	}
	p := &Preview{Look: look, Controls: outline(look, rules), Restart: empty(look), Notes: append(notes, waits(before, hold)...)}
	return p, d.number(look, p.Controls)
}
