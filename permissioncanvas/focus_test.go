package permissioncanvas_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// keys presses one editing key in the console.
func keys(d *desk, c *canvas.Canvas, k ...canvas.Key) error {
	_, err := c.Act(context.Background(), canvas.PressKeys{Window: d.sim.Window(console), Keys: k})
	return err
}

// focusOn gives session c the inferred focus of Name, which holds "Ada".
func focusOn(d *desk, c *canvas.Canvas) *canvas.Observation {
	d.t.Helper()
	d.sim.Put(d.sim.Window(console), "Name", "Ada")
	o := d.see(c)
	_, err := c.Act(context.Background(), canvas.Click{Target: d.token(o, "textbox", "Name")})
	require.NoError(d.t, err)
	return o
}

func TestPC17WhatEndsTheInferredFocus(t *testing.T) {
	quick(t)
	ctx := context.Background()
	other := func(d *desk, a func(*canvas.Observation) canvas.Action) {
		b := d.session(nil, false)
		_, err := b.Act(ctx, a(d.see(b)))
		require.NoError(d.t, err)
	}
	for _, tc := range []struct {
		name string
		do   func(*desk, *canvas.Observation)
		text canvas.Code // of typing without a target
		keys canvas.Code
	}{
		{"nothing", func(*desk, *canvas.Observation) {}, "", ""},
		{"capture", func(d *desk, _ *canvas.Observation) { d.see(d.Canvas) }, canvas.FocusUnknown, canvas.FocusUnknown},
		{"scroll", func(d *desk, o *canvas.Observation) {
			_, err := d.Act(ctx, canvas.Scroll{Target: d.token(o, "textbox", "Name"), By: down(1)})
			require.NoError(d.t, err)
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"value set", func(d *desk, o *canvas.Observation) {
			_, err := d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Bob"})
			require.NoError(d.t, err)
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"right click", func(d *desk, o *canvas.Observation) {
			_, err := d.Act(ctx, canvas.Click{Target: d.token(o, "textbox", "Name"), Button: canvas.ButtonRight})
			require.NoError(d.t, err)
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"click on a button", func(d *desk, o *canvas.Observation) {
			_, err := d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
			require.NoError(d.t, err)
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"refusal", func(d *desk, o *canvas.Observation) {
			_, err := d.Act(ctx, canvas.Click{Target: "s00000000:1"})
			refused(d.t, err, canvas.StaleToken)
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"refusal after the second look", func(d *desk, o *canvas.Observation) {
			d.sim.Cover(o.Window().Ref, "Save")
			_, err := d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
			refused(d.t, err, canvas.Covered)
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"an ask", func(d *desk, o *canvas.Observation) {
			_, err := d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Delete")})
			refused(d.t, err, canvas.ApprovalRequired)
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"policy", func(d *desk, _ *canvas.Observation) {
			d.write(selected([]string{console}, on(driver.LevelAllow, "textbox", "Name"), on(driver.LevelReadOnly, "", "x")))
		}, canvas.StaleSnapshot, canvas.StaleSnapshot},
		{"pause met", func(d *desk, _ *canvas.Observation) {
			require.NoError(d.t, d.gate.SetPaused("ada", "tea"))
			refused(d.t, keys(d, d.Canvas, "end"), canvas.Paused)
			require.NoError(d.t, d.gate.SetResumed("ada"))
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"pause not met", func(d *desk, _ *canvas.Observation) {
			require.NoError(d.t, d.gate.SetPaused("ada", "tea"))
			require.NoError(d.t, d.gate.SetResumed("ada"))
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"another session's click", func(d *desk, _ *canvas.Observation) {
			other(d, func(o *canvas.Observation) canvas.Action { return canvas.Click{Target: d.token(o, "button", "Save")} })
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"another session's click on the same field", func(d *desk, _ *canvas.Observation) {
			other(d, func(o *canvas.Observation) canvas.Action { return canvas.Click{Target: d.token(o, "textbox", "Name")} })
		}, canvas.FocusUnknown, canvas.FocusUnknown},
		{"the person's own click", func(d *desk, o *canvas.Observation) {
			s, err := d.sim.Snapshot(ctx, o.Window().Ref, driver.SnapshotOptions{NoImage: true})
			require.NoError(d.t, err)
			for _, e := range s.Elements {
				if e.Label == "Notes" && e.Role == driver.RoleTextbox {
					_, err = d.sim.Do(ctx, o.Window().Ref, driver.Click{Target: driver.Token(e.Token)})
					require.NoError(d.t, err)
				}
			}
		}, "", canvas.FocusUnknown}, // text clicks its field first
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, typing := range []bool{true, false} {
				d, _ := lying(t, fields())
				o := focusOn(d, d.Canvas)
				tc.do(d, o)
				value := d.sim.Value(o.Window().Ref, "Name")
				var err error
				code := tc.text
				if typing {
					_, err = d.Act(ctx, canvas.TypeText{Text: "X"})
				} else {
					err, code = keys(d, d.Canvas, "backspace"), tc.keys
				}
				if code == "" {
					require.NoError(t, err)
					require.NotEqual(t, value, d.sim.Value(o.Window().Ref, "Name"))
					continue
				}
				refused(t, err, code)
				require.Equal(t, value, d.sim.Value(o.Window().Ref, "Name"))
			}
		})
	}
}

func TestPC17SnapshotAndFocusAgeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, liar := lying(t, fields())
		o := focusOn(d, d.Canvas)
		time.Sleep(2*time.Minute + time.Second)
		n := liar.Dispatched()
		refused(t, keys(d, d.Canvas, "backspace"), canvas.StaleSnapshot)
		_, err := d.Act(context.Background(), canvas.Click{Target: d.token(o, "button", "Save")})
		refused(t, err, canvas.StaleSnapshot)
		require.Equal(t, n, liar.Dispatched())
		d.usable()
		require.NoError(t, d.Close())
	})
}
