package permissioncanvas_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval/review"
	"github.com/permission-canvas/permission-canvas/driver"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// cards returns what waits for the person.
func (d *desk) cards() ([]review.Card, *review.Inbox) {
	d.t.Helper()
	r, err := review.Open(filepath.Join(d.dir, "approvals"))
	require.NoError(d.t, err)
	cards, err := r.Pending(context.Background())
	require.NoError(d.t, err)
	return cards, r
}

func TestEX14StepsAreOneListOfExactGrants(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "textbox", "Notes")), nil)
	o := d.look(console)
	w := o.Window().Ref
	list := canvas.Steps{
		canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Ada"},
		canvas.SetValue{Target: d.token(o, "textbox", "Notes"), Value: "new"},
		canvas.Click{Target: d.token(o, "button", "Save")},
	}
	_, err := d.Act(ctx, list)
	refused(t, err, canvas.ApprovalRequired)
	cards, person := d.cards()
	require.Len(t, cards, 2, "the allowed step needs no answer")
	for _, c := range cards {
		require.Equal(t, cards[0].Group, c.Group)
		require.Equal(t, 3, c.Of)
	}
	_, err = d.Act(ctx, list)
	refused(t, err, canvas.ApprovalRequired)
	again, _ := d.cards()
	require.Len(t, again, 2, "the identical list joins")
	require.NoError(t, person.Approve(ctx, cards[0].ID, "ada"))
	_, err = d.Act(ctx, list)
	refused(t, err, canvas.ApprovalRequired)
	_, err = d.Act(ctx, list[:1]) // a part is another question
	refused(t, err, canvas.ApprovalRequired)
	_, err = d.Act(ctx, list[0])
	refused(t, err, canvas.ApprovalRequired)
	require.Empty(t, d.sim.Events(), "nothing is done before all of it may be")
	require.NoError(t, person.Approve(ctx, cards[1].ID, "ada"))
	res, err := d.Act(ctx, list)
	require.NoError(t, err)
	require.Equal(t, 3, res.Done)
	require.Equal(t, "Ada", d.sim.Value(w, "Name"))
	require.Equal(t, "new", d.sim.Value(w, "Notes"))
	require.Equal(t, 1, d.sim.Pressed("Save"))
	_, err = d.Act(ctx, list)
	require.Error(t, err)
	require.Equal(t, 1, d.sim.Pressed("Save"))
}

func TestEX14OneRefusedStepRefusesTheList(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console, login}, on(driver.LevelReadOnly, "button", "Delete"), on(driver.LevelAllow, "button", "Save")), nil)
	o, l := d.look(console), d.look(login)
	save := canvas.Click{Target: d.token(o, "button", "Save")}
	for _, tc := range []struct {
		name string
		list canvas.Steps
		code canvas.Code
	}{
		{"empty", nil, canvas.BadRequest},
		{"within", canvas.Steps{save, canvas.Steps{save}}, canvas.BadRequest},
		{"read only", canvas.Steps{save, canvas.Click{Target: d.token(o, "button", "Delete")}}, canvas.ReadOnly},
		{"two windows", canvas.Steps{save, canvas.Click{Target: d.token(l, "button", "Sign in")}}, canvas.BadRequest},
		{"no field", canvas.Steps{save, canvas.TypeText{Text: "x"}}, canvas.BadRequest},
		{"stale", canvas.Steps{save, canvas.Click{Target: "s00000000:1"}}, canvas.StaleToken},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := d.Act(ctx, tc.list)
			refused(t, err, tc.code)
			require.Empty(t, d.sim.Events())
		})
	}
}

func TestEX14DenialOfOneStepDeniesTheList(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	o := d.look(console)
	list := canvas.Steps{
		canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Ada"},
		canvas.Click{Target: d.token(o, "button", "Save")},
	}
	_, err := d.Act(ctx, list)
	refused(t, err, canvas.ApprovalRequired)
	cards, person := d.cards()
	require.NoError(t, person.Approve(ctx, cards[0].ID, "ada"))
	require.NoError(t, person.Deny(ctx, cards[1].ID, "ada", ""))
	_, err = d.Act(ctx, list)
	refused(t, err, canvas.ApprovalDenied)
	granted, err := person.Granted(ctx)
	require.NoError(t, err)
	require.Empty(t, granted, "the other yes is taken back")
	require.Empty(t, d.sim.Events())
}

func TestEX14FirstSurpriseVoidsTheRest(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	o := d.look(console)
	w := o.Window().Ref
	list := canvas.Steps{
		canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Ada"},
		canvas.Click{Target: d.token(o, "button", "Delete")},
		canvas.Click{Target: d.token(o, "button", "Save")},
	}
	_, err := d.Act(ctx, list)
	refused(t, err, canvas.ApprovalRequired)
	cards, person := d.cards()
	require.Len(t, cards, 3)
	for _, c := range cards {
		require.NoError(t, person.Approve(ctx, c.ID, "ada"))
	}
	d.sim.Relabel(w, "Delete", "Delete all")
	res, err := d.Act(ctx, list)
	refused(t, err, canvas.ElementChanged)
	require.Equal(t, 1, res.Done)
	require.Equal(t, "Ada", d.sim.Value(w, "Name"))
	require.Zero(t, d.sim.Pressed("Delete all"))
	require.Zero(t, d.sim.Pressed("Save"))
	granted, err := person.Granted(ctx)
	require.NoError(t, err)
	require.Empty(t, granted)
}
