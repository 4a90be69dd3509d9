package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// A Sleeper is a rule that allowed something in a window that is gone, held
// against the window that is there now.
type Sleeper struct {
	Rule  Rule // as it is in the file
	Awake Rule // as it would be for the live window
	// Why says why it does not fit, "" where it fits exactly one control and
	// nothing stricter stands over that.
	Why string
}

// Sleeping are the rules that allowed something in a window of the same
// application and place as ref which is gone.
func (d *Desk) Sleeping(ctx context.Context, ref WindowRef) ([]Sleeper, error) {
	doc, err := d.Rules()
	if err != nil {
		return nil, err
	}
	all, err := d.windows(ctx)
	if err != nil {
		return nil, err
	}
	look, err := d.look(ctx, ref)
	if err != nil {
		return nil, err
	}
	var out []Sleeper
	for _, r := range doc.Rules {
		if sleeps(r, look, all) {
			out = append(out, fit(doc, r, look, d.profile.Digest))
		}
	}
	return out, nil
}

// sleeps reports whether r is bound to a window that is gone and belongs to
// the application and place of the one in look.
func sleeps(r Rule, look *sight.Look, all []Window) bool {
	w, m := look.Window, r.Match
	if r.Level != LevelAllow || !bound(r) || !w.IsApp(m.App) {
		return false
	}
	if slices.ContainsFunc(all, func(o Window) bool { return o.Ref.PID == m.PID && o.Start == m.Start && o.Ref.ID == m.WindowID }) {
		return false // awake, here or in another window
	}
	if m.Site != "" || w.Site != "" {
		return m.Site == w.Site
	}
	return m.WindowTitle == "" || m.WindowTitle == w.Title
}

// fit holds the sleeping rule r against the live window in look.
func fit(doc Document, r Rule, look *sight.Look, digest func(string) string) Sleeper {
	s := Sleeper{Rule: r, Awake: r}
	m := &s.Awake.Match
	m.PID, m.Start, m.WindowID = look.Window.Ref.PID, look.Window.Start, look.Window.Ref.ID
	alone := policy.New()
	alone.Rules = []Rule{s.Awake}
	rules, err := policy.Compile(alone)
	if err != nil {
		s.Why = err.Error()
		return s
	}
	var found []int
	for i, v := range rules.Judge(look.Snapshot, digest).Verdicts {
		if v.Level == LevelAllow {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		s.Why = fmt.Sprintf("it fits %d controls here", len(found))
		return s
	}
	// A control that would get another rule today is not the same one.
	today, err := policy.RuleFor(LevelAllow, look.Snapshot, found[0], digest)
	if err != nil || today.Match.Role != m.Role || today.Match.Label != m.Label {
		s.Why = "the control is another one now: allow it by a rule of its own"
		return s
	}
	if doc, err = doc.SetRule(s.Awake); err == nil {
		rules, err = policy.Compile(doc)
	}
	if err != nil {
		s.Why = err.Error()
	} else if v := rules.Judge(look.Snapshot, digest).Verdicts[found[0]]; v.Level != LevelAllow {
		s.Why = "another rule is stricter: " + v.Level.Word()
	}
	return s
}

// Wake binds the sleeping rules with these ids to the window ref: all of them,
// or none.
func (d *Desk) Wake(ctx context.Context, ref WindowRef, ids []string) ([]Rule, error) {
	sleepers, err := d.Sleeping(ctx, ref)
	if err != nil {
		return nil, err
	}
	var awake []Rule
	for _, id := range ids {
		i := slices.IndexFunc(sleepers, func(s Sleeper) bool { return s.Rule.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("rule %s does not sleep", id)
		}
		if sleepers[i].Why != "" {
			return nil, fmt.Errorf("rule %s stays asleep: %s", id, sleepers[i].Why)
		}
		awake = append(awake, sleepers[i].Awake)
	}
	if len(awake) == 0 {
		return nil, nil
	}
	err = d.edit(ctx, map[string]string{"edit": "wake", "rules": idsOf(awake), "window": refText(ref)}, func(doc Document) (Document, error) {
		for k, r := range awake {
			i := slices.IndexFunc(sleepers, func(s Sleeper) bool { return s.Rule.ID == ids[k] })
			if !slices.ContainsFunc(doc.Rules, func(o Rule) bool { return o.ID == r.ID && o.Digest() == sleepers[i].Rule.Digest() }) {
				return doc, errors.New("the rules were edited meanwhile: look again")
			}
			if doc, err = doc.SetRule(r); err != nil {
				return doc, err
			}
		}
		return doc, nil
	})
	return awake, err
}
