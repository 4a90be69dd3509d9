package permissioncanvas

import (
	"context"
	"fmt"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/driver"
)

// maxSteps is how many steps a person can be asked to judge as one list.
const maxSteps = 50

// listed is an intent's place in a list. It is part of what a grant binds, so
// that a step of one list is no step of another.
type listed struct {
	Group    string // made of all steps: an identical list is the same one
	Step, Of int
}

// steps decides every step, asks for those that ask as one list, and does them
// in order. Nothing is done unless all of it may be. The first surprise ends
// the list and voids the grants that are left.
func (c *Canvas) steps(ctx context.Context, list Steps, label string) (Result, error) {
	all, err := c.decideSteps(list, label)
	if err != nil {
		return Result{}, c.refused(ctx, err, map[string]string{"act": "steps", "steps": fmt.Sprint(len(list))})
	}
	grants, err := c.askSteps(ctx, all)
	if err != nil {
		return Result{}, c.refused(ctx, err, all[0].fields(c))
	}
	res := Result{}
	for i, in := range all {
		done, err := c.perform(ctx, in, grants[i])
		if err == nil && (done.Effect == driver.EffectSuspectedNoop || done.Effect == driver.EffectPartial) && i+1 < len(all) {
			err = refuse(EffectUncertain, nil)
		}
		if err != nil {
			c.withdrawAll(ctx, grants[i:])
			return res, c.refused(ctx, err, in.fields(c))
		}
		res.Done, res.Effect = i+1, done.Effect
		if done.Popup != (WindowRef{}) { // what comes next was planned without it
			c.withdrawAll(ctx, grants[i+1:])
			break
		}
	}
	return res, nil
}

// decideSteps resolves the whole list on one Observation.
func (c *Canvas) decideSteps(list Steps, label string) ([]*intent, error) {
	if len(list) == 0 || len(list) > maxSteps {
		return nil, refuse(BadRequest, nil, fmt.Sprintf("A list has 1 to %d steps.", maxSteps))
	}
	all := make([]*intent, len(list))
	bindings := make([]string, len(list))
	for i, a := range list {
		if t, ok := a.(TypeText); ok && t.Target == "" {
			return nil, refuse(BadRequest, nil, "A step that types names its field.")
		}
		a, err := normal(a)
		if err != nil {
			return nil, err
		}
		if all[i], err = c.decide(a, label); err != nil {
			return nil, err
		}
		if all[i].seen != all[0].seen {
			return nil, refuse(BadRequest, nil, "All steps of a list are in one window, on its newest capture.")
		}
		bindings[i] = c.binding(all[i])
	}
	group := digest(bindings)[:16]
	for i := range all {
		all[i].list = &listed{Group: group, Step: i + 1, Of: len(all)}
	}
	return all, nil
}

// askSteps puts the steps that ask before the person and waits for all the
// answers. It returns the grants by step, "" for one that needs none.
func (c *Canvas) askSteps(ctx context.Context, all []*intent) ([]string, error) {
	grants, open := make([]string, len(all)), make([]approval.Pending, len(all))
	for i, in := range all {
		if in.level != driver.LevelAsk {
			continue
		}
		p, err := c.request(ctx, in)
		if err != nil {
			c.withdrawAll(ctx, grants)
			return nil, err
		}
		grants[i], open[i] = p.ID, p
	}
	waiting, stop := c.holding(ctx)
	defer stop()
	for i, in := range all {
		if grants[i] == "" {
			continue
		}
		if err := c.await(waiting, in, open[i]); err != nil {
			if refused, ok := err.(*Error); !ok || refused.Code != ApprovalRequired {
				c.withdrawAll(ctx, grants)
			}
			return nil, err
		}
	}
	return grants, nil
}

// withdrawAll takes back what is open or granted and not spent.
func (c *Canvas) withdrawAll(ctx context.Context, ids []string) {
	for _, id := range ids {
		if id != "" {
			c.withdraw(ctx, id)
		}
	}
}
