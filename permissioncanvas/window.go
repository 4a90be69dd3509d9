package permissioncanvas

import (
	"context"
	"sort"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
	"github.com/permission-canvas/permission-canvas/redact"
)

// ListWindows returns the windows a person selected, front first.
func (c *Canvas) ListWindows(ctx context.Context) ([]Window, error) {
	ws, _, err := c.windows(ctx)
	if err != nil {
		return nil, c.refused(ctx, err, map[string]string{"act": "list_windows"})
	}
	return ws, nil
}

// windows returns the selected windows and how many others there are.
func (c *Canvas) windows(ctx context.Context) (selected []Window, others int, err error) {
	leave, rules, err := c.enter()
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	all, err := c.desktop.Windows(ctx)
	if err != nil {
		return nil, 0, driverError(err)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Z > all[j].Z })
	for _, w := range all {
		if _, never := sight.NeverSelectable(w); never || rules.Selected(w).State != policy.Exact {
			others++
			continue
		}
		selected = append(selected, redact.WindowOf(w, c.hidesTitle(rules, w)))
	}
	if len(selected) == 0 {
		return nil, others, refuse(NoWindowSelected, nil)
	}
	return selected, others, nil
}

// hidesTitle says whether w's title is nothing for an agent: by the person's
// pattern for titles, by a rule that hides such a text, or because the newest
// capture of the window had to leave it out.
func (c *Canvas) hidesTitle(rules *policy.Policy, w driver.Window) bool {
	if rules.HideTitle(w) {
		return true
	}
	c.mu.Lock()
	s := c.seen[w.Ref]
	c.mu.Unlock()
	if s != nil && s.title == "" && s.look.Window.Title == w.Title {
		return true
	}
	title := driver.Element{Parent: -1, Role: driver.RoleWindow, Label: w.Title, Bounds: w.Bounds}
	j := rules.Judge(&driver.Snapshot{Window: w, AllText: true, Elements: []driver.Element{title}}, c.profile.Digest)
	return j.Verdicts[0].Hidden
}
