package permissioncanvas_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// A list is done in order and stops where anything is not as it was: at each
// dispatch in turn the driver fails, the person pauses, or the control changes.
func TestPC21ListStopsAtTheFirstSurprise(t *testing.T) {
	quick(t)
	for _, tc := range []struct {
		name string
		mood func(*desk) drivertest.Mood
	}{
		{"error", func(*desk) drivertest.Mood { return drivertest.Fail(errBroken) }},
		{"error after", func(*desk) drivertest.Mood { return drivertest.ThenFail(errBroken) }},
		{"refused", func(*desk) drivertest.Mood { return drivertest.Fail(driver.ErrRefused) }},
		{"paused", func(d *desk) drivertest.Mood {
			return drivertest.First(func() { _ = d.gate.SetPaused("ada", "stop") })
		}},
		{"relabelled", func(d *desk) drivertest.Mood {
			return drivertest.First(func() {
				for _, label := range []string{"Save", "Delete", "Notes"} {
					d.sim.Relabel(d.sim.Window(console), label, label+"!")
				}
			})
		}},
		{"policy", func(d *desk) drivertest.Mood {
			return drivertest.First(func() { d.write(selected([]string{console}, on(driver.LevelReadOnly, "button", "Save"))) })
		}},
	} {
		for nth := 1; nth <= 2; nth++ {
			t.Run(tc.name, func(t *testing.T) {
				d, liar := lying(t, selected([]string{console}))
				o := d.look(console)
				list := canvas.Steps{
					canvas.Click{Target: d.token(o, "button", "Save")}, canvas.Click{Target: d.token(o, "button", "Save")},
					canvas.SetValue{Target: d.token(o, "textbox", "Notes"), Value: "x"}, canvas.Click{Target: d.token(o, "button", "Delete")},
				}
				_, err := d.Act(context.Background(), list)
				refused(t, err, canvas.ApprovalRequired)
				cards, err := d.inbox().Pending(context.Background())
				require.NoError(t, err)
				require.Len(t, cards, 4, "two equal steps are two questions")
				for _, card := range cards {
					require.NoError(t, d.inbox().Approve(context.Background(), card.ID, "ada"))
				}
				liar.On(drivertest.Do, drivertest.Nth(nth, tc.mood(d)))
				res, err := d.Act(context.Background(), list)
				typed(t, err)
				require.Less(t, res.Done, 4)
				require.Equal(t, nth, liar.Dispatched(), "nothing after the surprise")
				require.Zero(t, d.sim.Pressed("Delete"))
				require.Len(t, d.entries("intent"), nth)

				liar.On(drivertest.Do, nil)
				_ = d.gate.SetResumed("ada")
				_, err = d.Act(context.Background(), list)
				typed(t, err)
				require.Equal(t, nth, liar.Dispatched(), "and nothing of it again")
				granted, err := d.inbox().Granted(context.Background())
				require.NoError(t, err)
				require.Empty(t, granted, "the grants that are left are void")
			})
		}
	}
}

// A step's grant is its list's: not for the step alone, and not for the steps
// in another order.
func TestPC19GrantsOfAListAreForThatList(t *testing.T) {
	d, liar := lying(t, selected([]string{console}))
	o := d.look(console)
	list := canvas.Steps{canvas.Click{Target: d.token(o, "button", "Save")}, canvas.Click{Target: d.token(o, "button", "Delete")}}
	for _, other := range []canvas.Action{
		list[0], list[1], canvas.Steps{list[1], list[0]}, list[:1], append(list[:2:2], list[0]),
	} {
		_, err := d.Act(context.Background(), list)
		refused(t, err, canvas.ApprovalRequired)
		cards, err := d.inbox().Pending(context.Background())
		require.NoError(t, err)
		for _, card := range cards {
			require.NoError(t, d.inbox().Approve(context.Background(), card.ID, "ada"))
		}
		_, err = d.Act(context.Background(), other)
		refused(t, err, canvas.ApprovalRequired)
		require.NoError(t, d.inbox().ClearAll(context.Background(), "next"))
	}
	require.Zero(t, liar.Dispatched())
}

// A list is refused whole where one of its steps is.
func TestPC02ListWithOneRefusedStepDoesNothing(t *testing.T) {
	d, liar := lying(t, selected([]string{console, login}, on(driver.LevelAllow, "button", "Save"), on(driver.LevelReadOnly, "button", "Delete"), hideKey()))
	o := d.look(console)
	save, name := canvas.Click{Target: d.token(o, "button", "Save")}, d.token(o, "textbox", "Name")
	other, err := d.Capture(context.Background(), d.sim.Window(login), nil)
	require.NoError(t, err)
	for _, list := range []canvas.Steps{
		{}, nil, {nil}, {save, nil}, {save, canvas.Steps{save}}, {save, canvas.Click{Target: d.token(o, "button", "Delete")}},
		{save, canvas.TypeText{Text: "x"}}, {save, canvas.SetValue{Target: name, Value: "a\nb"}}, {save, canvas.Click{Target: "s00000000:1"}},
		{save, canvas.PressKeys{Window: o.Window().Ref, Keys: []canvas.Key{"ctrl", "v"}}}, {save, canvas.Drag{Window: o.Window().Ref}},
		{save, canvas.Click{Target: d.token(other, "button", "Sign in")}}, {save, canvas.Raise{Window: other.Window().Ref}},
		make(canvas.Steps, 51),
	} {
		_, err := d.Act(context.Background(), list)
		typed(t, err)
	}
	require.Zero(t, liar.Dispatched())
	require.Empty(t, d.entries("intent"))
}
