package control

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// A Forecast says what agents will meet.
type Forecast struct {
	Windows []WindowForecast
	Default Level // of whatever has no rule
	// Remains are sentences: what keeps agents from working all the same.
	Remains []string
}

// A WindowForecast counts the controls of one selected window by what the rules
// say of them, and whatever is hidden.
type WindowForecast struct {
	Window                       Window
	Allow, Ask, ReadOnly, Hidden int
	// Missing are the hide rules, by id, that should have found their control
	// there: until a person accepts that, nothing of the window is shown.
	Missing []string
	// Accepted are those of which a person accepted it.
	Accepted []string
	// Problem says why the window could not be read, "" where it was.
	Problem string
}

// Missing are the rules, by id, that wait for a person to accept that they find
// nothing.
func (f Forecast) Missing() []string {
	var all []string
	for _, w := range f.Windows {
		for _, id := range w.Missing {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}

// Forecast says what agents will meet after Resume. Without a driver it knows
// the rules only.
func (d *Desk) Forecast(ctx context.Context) (Forecast, error) {
	rules, err := d.profile.Policy()
	if err != nil {
		return Forecast{}, err
	}
	f := Forecast{Default: rules.DefaultLevel()}
	if len(rules.Windows()) == 0 {
		f.Remains = append(f.Remains, "No window is selected, so agents see nothing.")
		return f, nil
	}
	all, err := d.windows(ctx)
	if err != nil {
		f.Remains = append(f.Remains, "What agents will meet is not known: "+err.Error()+".")
		return f, nil
	}
	for _, w := range all {
		if w.Selected {
			f.Windows = append(f.Windows, d.forecast(ctx, rules, w))
		}
		if w.Changed != "" {
			f.Remains = append(f.Remains, fmt.Sprintf("%s was selected and is not the same any more (%s): choose it again.", w, w.Changed))
		}
	}
	for _, e := range rules.Windows() {
		ref := WindowRef{PID: e.PID, ID: e.WindowID}
		if !slices.ContainsFunc(all, func(w Window) bool { return w.Ref == ref }) {
			f.Remains = append(f.Remains, fmt.Sprintf("%s was selected and is gone: choose another one.",
				Window{Window: driver.Window{Ref: ref, App: e.App, Title: e.Title}}))
		}
	}
	for _, w := range f.Windows {
		for _, id := range w.Missing {
			f.Remains = append(f.Remains, fmt.Sprintf("Rule %s hides something that is not in %s: "+
				"nothing of that window is shown until you accept that, or change the rule.", id, w.Window))
		}
	}
	return f, nil
}

// forecast reads one selected window and counts.
func (d *Desk) forecast(ctx context.Context, rules *policy.Policy, w Window) WindowForecast {
	out := WindowForecast{Window: w}
	look, err := d.look(ctx, w.Ref)
	switch {
	case errors.Is(err, sight.ErrPageUnavailable):
		out.Problem = "The page in this browser cannot be read: bring it to the front, or restart the browser " +
			"if it was started before accessibility was on."
		return out
	case err != nil:
		out.Problem = err.Error()
		return out
	}
	accepted := d.profile.Accepted(rules, w.Ref)
	for _, id := range look.Judgement.Unmatched {
		if accepted(id) {
			out.Accepted = append(out.Accepted, id)
		} else {
			out.Missing = append(out.Missing, id)
		}
	}
	if len(look.Judgement.NeedsText) > 0 {
		out.Problem = fmt.Sprintf("Rule %s has to see all text, and the driver does not read all text: nothing of the window is shown.",
			look.Judgement.NeedsText[0])
	}
	for i, v := range look.Judgement.Verdicts {
		switch {
		case v.Hidden:
			out.Hidden++
		case !isControl(look.Snapshot.Elements[i].Role):
		case v.Level == LevelAllow:
			out.Allow++
		case v.Level == LevelReadOnly:
			out.ReadOnly++
		default:
			out.Ask++
		}
	}
	return out
}

// Resume gives the desktop to agents. The rules in accept are hide rules that
// find nothing in a selected window: by naming them here a person accepts that,
// for as long as the window lives and the rule is not edited. The rules stay
// armed.
func (d *Desk) Resume(ctx context.Context, accept []string) (Forecast, error) {
	defer d.attend()()
	if err := d.bind(ctx); err != nil {
		return Forecast{}, err
	}
	f, err := d.Forecast(ctx)
	if err != nil {
		return Forecast{}, err
	}
	if len(accept) > 0 {
		if err := d.accept(ctx, f, accept); err != nil {
			return f, err
		}
		if f, err = d.Forecast(ctx); err != nil {
			return Forecast{}, err
		}
	}
	if err := d.note(ctx, audit.Resumed, map[string]string{}); err != nil {
		return f, fmt.Errorf("the desktop stays paused: %w", err)
	}
	return f, d.gate.SetResumed(d.by)
}

// bind writes into hand-written entries of windows what they leave out, from
// the live window that they match.
func (d *Desk) bind(ctx context.Context) error {
	rules, err := d.profile.Policy()
	if err != nil {
		return err
	}
	all, err := d.windows(ctx)
	if err != nil {
		return nil // the forecast says so; nothing is bound to what was not seen
	}
	live := map[int]policy.Window{}
	for _, w := range all {
		s := rules.Selected(w.Window)
		if w.Never != "" || s.State != policy.Exact || !s.Unbound || w.Start == 0 {
			continue
		}
		if i := slices.Index(rules.Windows(), s.Entry); i >= 0 {
			live[i] = policy.WindowOf(w.Window)
		}
	}
	if bindsNothing(rules.Windows(), live) {
		return nil
	}
	return d.edit(ctx, map[string]string{"edit": "bind"}, func(doc Document) (Document, error) {
		was := rules.Windows()
		for i, w := range live {
			if j := slices.Index(doc.Windows, was[i]); j >= 0 {
				doc.Windows[j] = w
			}
		}
		return doc, nil
	})
}

func bindsNothing(entries []policy.Window, live map[int]policy.Window) bool {
	for i, w := range live {
		if entries[i] != w {
			return false
		}
	}
	return true
}

// accept records that the rules find nothing where they should, in each window
// where that is so.
func (d *Desk) accept(ctx context.Context, f Forecast, accept []string) error {
	rules, err := d.profile.Policy()
	if err != nil {
		return err
	}
	var reviews []profile.Review
	for _, id := range accept {
		rule, ok := rules.Rule(id)
		if !ok {
			return &policy.UnknownRuleError{ID: id}
		}
		found := false
		for _, w := range f.Windows {
			if slices.Contains(w.Accepted, id) {
				found = true
			}
			if slices.Contains(w.Missing, id) {
				found = true
				reviews = append(reviews, profile.Review{Rule: rule.Digest(), Accepted: time.Now().UTC().Round(0),
					Window: profile.ReviewWindow{PID: w.Window.Ref.PID, Start: w.Window.Start, WindowID: w.Window.Ref.ID}})
			}
		}
		if !found {
			return fmt.Errorf("rule %s is missing in no selected window that could be read, so there is nothing to accept", id)
		}
	}
	if len(reviews) == 0 {
		return nil
	}
	for _, id := range accept {
		if err := d.note(ctx, audit.Policy, map[string]string{"edit": "accept_unmatched", "rule": id}); err != nil {
			return fmt.Errorf("nothing was accepted: %w", err)
		}
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock, err := statefile.LockContext(wait, filepath.Join(d.Dir(), profile.ReviewsLock))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	there, err := d.profile.Reviews()
	if err != nil {
		return err
	}
	for _, r := range there {
		if isSelected(rules, r.Window) && !slices.ContainsFunc(reviews, func(o profile.Review) bool { return o.Rule == r.Rule && o.Window == r.Window }) {
			reviews = append(reviews, r)
		}
	}
	return statefile.Replace(filepath.Join(d.Dir(), profile.ReviewsFile), profile.EncodeReviews(reviews), nil)
}

// isSelected reports whether a review's window is one that is chosen; with any
// other, what was accepted is over.
func isSelected(rules *policy.Policy, w profile.ReviewWindow) bool {
	return slices.ContainsFunc(rules.Windows(), func(e policy.Window) bool {
		return e.PID == w.PID && e.Start == w.Start && e.WindowID == w.WindowID
	})
}

// isControl reports whether an element of role r is there to be used.
func isControl(r driver.Role) bool {
	switch r {
	case driver.RoleButton, driver.RoleCheckbox, driver.RoleRadio, driver.RoleSwitch, driver.RoleTextbox, driver.RolePassword,
		driver.RoleCombobox, driver.RoleOption, driver.RoleSlider, driver.RoleSpin, driver.RoleLink, driver.RoleMenuItem,
		driver.RoleTab, driver.RoleTreeItem:
		return true
	}
	return false
}
