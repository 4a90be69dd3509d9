package control

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// policyLock is held for the time between reading the rules and writing them.
const policyLock = "policy.lock"

// Rules returns the rules and everything else in the policy file.
func (d *Desk) Rules() (Document, error) {
	rules, err := d.profile.Policy()
	if err != nil {
		return Document{}, err
	}
	return rules.Document(), nil
}

// ParseMatch reads what a rule is for, in the form of the policy file.
func ParseMatch(text string) (policy.Match, error) {
	var m policy.Match
	if err := strictjson.Decode([]byte(text), &m); err != nil {
		return m, fmt.Errorf("match: %w", err)
	}
	return m, nil
}

// NewRule is a rule with neither id nor note. What expect is not "here" or
// "anywhere", AddRule refuses; "" is what goes with its kind.
func NewRule(l Level, m policy.Match, expect string) Rule {
	return Rule{Level: l, Match: m, Expect: policy.Expectation(expect)}
}

// AddRule adds r, under a new id where it has none, and returns it as it is in
// the file.
func (d *Desk) AddRule(ctx context.Context, r Rule) (Rule, error) {
	var added Rule
	err := d.edit(ctx, map[string]string{"edit": "add", "level": string(r.Level)}, func(doc Document) (Document, error) {
		doc, err := doc.AddRule(r)
		if err == nil {
			added = doc.Rules[len(doc.Rules)-1]
		}
		return doc, err
	})
	return added, err
}

// SetRule puts r in the place of the rule that has its id.
func (d *Desk) SetRule(ctx context.Context, r Rule) error {
	return d.edit(ctx, map[string]string{"edit": "set", "rule": r.ID, "level": string(r.Level)},
		func(doc Document) (Document, error) { return doc.SetRule(r) })
}

// SetLevel gives the rule another level and returns it. A rule that allows is
// bound to one live window: it can become stricter, and is then for its
// application and place, but no other can become one that allows.
func (d *Desk) SetLevel(ctx context.Context, id string, level Level) (Rule, error) {
	var changed Rule
	err := d.edit(ctx, map[string]string{"edit": "set", "rule": id, "level": string(level)}, func(doc Document) (Document, error) {
		for _, r := range doc.Rules {
			if r.ID == id {
				var err error
				if changed, err = relevel(r, level); err != nil {
					return doc, err
				}
				return doc.SetRule(changed)
			}
		}
		return doc, &policy.UnknownRuleError{ID: id}
	})
	return changed, err
}

// relevel is r with another level.
func relevel(r Rule, level Level) (Rule, error) {
	was := r.Level
	r.Level = level
	switch {
	case level == LevelAllow && was != LevelAllow && !bound(r):
		return r, errors.New("allowing is for one live window and this rule is for all: remove it and allow the control by a rule of its own")
	case was == LevelAllow && level != LevelAllow:
		m := &r.Match
		m.PID, m.Start, m.WindowID, m.WindowTitle = 0, 0, 0, ""
	}
	if level == LevelHide && r.Expect == "" && r.Expects() == policy.ExpectHere {
		r.Expect = policy.ExpectHere
	}
	return r, nil
}

// bound reports whether r names one live window and a place in it, as one that
// allows must.
func bound(r Rule) bool {
	m := r.Match
	return m.App != "" && m.PID != 0 && m.Start != 0 && m.WindowID != 0 &&
		(m.Site != "" || m.WindowTitle != "" || m.WindowTitleRegex != "")
}

// RemoveRule removes the rule called id and returns it.
func (d *Desk) RemoveRule(ctx context.Context, id string) (Rule, error) {
	var removed Rule
	err := d.edit(ctx, map[string]string{"edit": "remove", "rule": id}, func(doc Document) (Document, error) {
		for _, r := range doc.Rules {
			if r.ID == id {
				removed = r
			}
		}
		return doc.RemoveRule(id)
	})
	return removed, err
}

// edit changes the rules while no agent is in a call. One that does not leave
// is not waited for for ever: it reads the rules again before it acts.
func (d *Desk) edit(ctx context.Context, fields map[string]string, change func(Document) (Document, error)) error {
	if _, err := d.profile.Policy(); err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	release, err := d.gate.Exclusive(wait)
	switch {
	case err == nil:
		defer release()
	case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return d.write(ctx, audit.Policy, fields, change)
}

// write reads the rules, changes and records them, puts them on the disk and
// withdraws every open ask. The caller keeps agents out.
func (d *Desk) write(ctx context.Context, kind string, fields map[string]string, change func(Document) (Document, error)) error {
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock, err := statefile.LockContext(wait, filepath.Join(d.Dir(), policyLock))
	if err != nil {
		return fmt.Errorf("another program of yours is changing the rules: %w", err)
	}
	defer lock.Unlock()
	before, err := d.profile.Policy()
	if err != nil {
		return err
	}
	doc, err := change(before.Document())
	if err != nil {
		return err
	}
	compiled, err := policy.Compile(doc)
	if err != nil {
		return err
	}
	data := compiled.Encode()
	after, err := policy.Parse(data)
	if err != nil {
		return fmt.Errorf("what would be written does not read: %w", err)
	}
	if fields["edit"] == "add" && len(doc.Rules) > 0 {
		fields["rule"] = doc.Rules[len(doc.Rules)-1].ID
	}
	fields["before"], fields["policy"] = before.Hash(), after.Hash()
	if err := d.note(ctx, kind, fields); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	if err := statefile.Replace(filepath.Join(d.Dir(), profile.PolicyFile), data, nil); err != nil {
		return err
	}
	// An answer to an ask of other rules is never spent; this tells the asker.
	if err := d.inbox.ClearAll(ctx, "the rules were edited"); err != nil {
		return fmt.Errorf("the rules are saved, but open asks could not be withdrawn: %w", err)
	}
	return nil
}
