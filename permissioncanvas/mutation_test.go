package permissioncanvas_test

import (
	"context"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval/review"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

func down(lines int) image.Point { return image.Pt(0, lines) }

// A mutation changes something between the question and the act.
type mutation struct {
	name   string
	window string
	target string // the button that is asked for
	front  bool
	change func(*desk, *drivertest.Liar)
	code   canvas.Code // "": any
}

// again changes the reading that is made before the act, and all later ones.
func again(f func(*driver.Snapshot)) func(*desk, *drivertest.Liar) {
	return func(_ *desk, l *drivertest.Liar) { l.OnSnapshot(drivertest.Spoil(0, f)) }
}

func boundsOf(s *driver.Snapshot, label string) image.Rectangle {
	for _, e := range s.Elements {
		if e.Label == label {
			return e.Bounds
		}
	}
	return image.Rectangle{}
}

func mutations() []mutation {
	const cancel = "Cancel order 1001"
	raw := func(text string) func(*desk, *drivertest.Liar) {
		return func(d *desk, _ *drivertest.Liar) {
			require.NoError(d.t, os.WriteFile(filepath.Join(d.dir, profile.PolicyFile), []byte(text), 0o600))
		}
	}
	return []mutation{
		{"policy, an unrelated rule", console, "Save", false, func(d *desk, _ *drivertest.Liar) {
			d.write(selected([]string{console}, on(driver.LevelReadOnly, "button", "Delete")))
		}, canvas.StaleSnapshot},
		{"policy, the control allowed", console, "Save", false, func(d *desk, _ *drivertest.Liar) {
			d.write(selected([]string{console}, on(driver.LevelAllow, "button", "Save")))
		}, canvas.StaleSnapshot},
		{"policy, nothing selected", console, "Save", false, func(d *desk, _ *drivertest.Liar) { d.write(nil) }, canvas.StaleSnapshot},
		{"policy, broken", console, "Save", false, raw(`{"version": 1,`), canvas.PolicyInvalid},
		{"policy, gone", console, "Save", false, func(d *desk, _ *drivertest.Liar) {
			require.NoError(d.t, os.Remove(filepath.Join(d.dir, profile.PolicyFile)))
		}, canvas.PolicyInvalid},
		{"paused", console, "Save", false, func(d *desk, _ *drivertest.Liar) {
			require.NoError(d.t, d.gate.SetPaused("ada", "tea"))
		}, canvas.Paused},
		{"a card is open", console, "Save", false, func(d *desk, _ *drivertest.Liar) {
			release, err := d.gate.HoldInput()
			require.NoError(d.t, err)
			d.t.Cleanup(release)
		}, canvas.Busy},
		{"label", browser, cancel, false, func(d *desk, _ *drivertest.Liar) {
			d.sim.Relabel(d.sim.Window(browser), cancel, "Pay now please")
		}, canvas.ElementChanged},
		{"label, an invisible letter", console, "Save", false, again(drivertest.Relabelled("Save", "Sa\u200bve")), canvas.ElementChanged},
		{"role", console, "Save", false, again(func(s *driver.Snapshot) {
			s.Elements = slices.Clone(s.Elements)
			for i := range s.Elements {
				if s.Elements[i].Label == "Save" {
					s.Elements[i].Role = driver.RoleMenuItem
				}
			}
		}), canvas.ElementChanged},
		{"container", console, "Save", false, again(drivertest.Relabelled("Customer", "Danger zone")), canvas.ElementChanged},
		{"row of a table", browser, cancel, false, again(drivertest.Relabelled("Ada Lovelace", "Alan Turing")), canvas.ElementChanged},
		{"gone", console, "Save", false, again(drivertest.Without("Save")), canvas.ElementChanged},
		{"without a place", console, "Save", false, again(drivertest.Frameless("Save")), canvas.UnknownElement},
		{"twice in one place", console, "Save", false, again(func(s *driver.Snapshot) {
			for _, e := range s.Elements {
				if e.Label == "Save" {
					s.Elements = append(slices.Clone(s.Elements), e)
					return
				}
			}
		}), canvas.ElementChanged},
		{"title", console, "Save", false, func(d *desk, _ *drivertest.Liar) {
			d.sim.Retitle(d.sim.Window(console), "Other page")
		}, canvas.WindowChanged},
		{"origin", browser, cancel, false, func(d *desk, _ *drivertest.Liar) {
			d.sim.Navigate(d.sim.Window(browser), "https://evil.example")
		}, canvas.WindowChanged},
		{"process", console, "Save", false, func(d *desk, _ *drivertest.Liar) { d.sim.Relaunch(d.sim.Window(console)) }, canvas.WindowChanged},
		{"window closed", console, "Save", false, func(d *desk, _ *drivertest.Liar) { d.sim.CloseWindow(d.sim.Window(console)) }, canvas.WindowChanged},
		{"snapshot", console, "Save", false, func(d *desk, _ *drivertest.Liar) { d.look(console) }, canvas.StaleToken},
		{"a capture that failed", console, "Save", false, func(d *desk, l *drivertest.Liar) {
			l.On(drivertest.Snapshot, drivertest.Fail(driver.ErrIncomplete))
			_, err := d.Capture(context.Background(), d.sim.Window(console), nil)
			refused(d.t, err, canvas.CaptureIncomplete)
			l.On(drivertest.Snapshot, nil)
		}, canvas.StaleToken},
		{"run of the driver", console, "Save", false, func(d *desk, _ *drivertest.Liar) { d.sim.Restart() }, canvas.StaleSnapshot},
		{"cover, in front", console, "Save", true, func(d *desk, _ *drivertest.Liar) { d.sim.Cover(d.sim.Window(console), "Save") }, canvas.Covered},
		{"cover, behind", console, "Save", false, func(d *desk, _ *drivertest.Liar) { d.sim.Cover(d.sim.Window(console), "Save") }, canvas.Covered},
		{"under a window that is nowhere", console, "Save", true, func(_ *desk, l *drivertest.Liar) {
			l.OnWindowAt(func(context.Context, int, image.Point, func(context.Context) (driver.Hit, error)) (driver.Hit, error) {
				return driver.Hit{}, nil
			})
		}, canvas.Covered},
		{"hit test fails", console, "Save", false, func(_ *desk, l *drivertest.Liar) {
			l.On(drivertest.WindowAt, drivertest.Fail(errBroken))
		}, canvas.DriverFailed},
		{"the reading fails", console, "Save", false, func(_ *desk, l *drivertest.Liar) {
			l.On(drivertest.Snapshot, drivertest.Fail(driver.ErrIncomplete))
		}, canvas.CaptureIncomplete},
		{"the list fails", console, "Save", false, func(_ *desk, l *drivertest.Liar) {
			l.On(drivertest.Windows, drivertest.Fail(driver.ErrUnavailable))
		}, canvas.DriverFailed},
		{"the window twice in the list", console, "Save", false, func(_ *desk, l *drivertest.Liar) {
			l.OnWindows(func(ctx context.Context, _ int, _ struct{}, truth func(context.Context) ([]driver.Window, error)) ([]driver.Window, error) {
				ws, err := truth(ctx)
				return append(ws, ws...), err
			})
		}, canvas.AmbiguousWindow},
		{"another control moved over it, in front", console, "Save", true, func(d *desk, _ *drivertest.Liar) {
			d.sim.MoveElement(d.sim.Window(console), "Delete", image.Pt(-124, 0))
		}, canvas.ElementChanged},
		{"session closed", console, "Save", false, func(d *desk, _ *drivertest.Liar) { require.NoError(d.t, d.Close()) }, ""},
	}
}

// TestPC33NothingApprovedRunsAfterAChange is report B4 #44.
func TestPC33NothingApprovedRunsAfterAChange(t *testing.T) {
	quick(t)
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			d, liar := lying(t, selected([]string{m.window}))
			click := canvas.Click{Target: d.token(d.look(m.window), "button", m.target)}
			if m.front {
				click.Delivery = canvas.Foreground
			}
			_, err := d.Act(context.Background(), click)
			refused(t, err, canvas.ApprovalRequired)
			d.person(true)
			m.change(d, liar)
			_, err = d.Act(context.Background(), click)
			if e := typed(t, err); m.code != "" {
				require.Equal(t, m.code, e.Code)
			}
			require.Zero(t, liar.Dispatched())
			require.Empty(t, d.sim.Events())
		})
	}
}

// The same while the call itself waits for the person.
func TestPC33NothingApprovedRunsAfterAChangeWhileItWaited(t *testing.T) {
	quick(t)
	for _, m := range mutations() {
		if !slices.Contains([]string{"policy, an unrelated rule", "policy, broken", "paused", "label", "title", "process", "snapshot",
			"run of the driver", "cover, in front", "session closed"}, m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			d, liar := lying(t, selected([]string{m.window}))
			waiting, err := canvas.New(d.home, &canvas.Options{Agent: "tester", Driver: liar})
			require.NoError(t, err)
			t.Cleanup(func() { waiting.Close() })
			d.Canvas = waiting // what a mutation does to the session it does to this one
			click := canvas.Click{Target: d.token(d.look(m.window), "button", m.target)}
			if m.front {
				click.Delivery = canvas.Foreground
			}
			done := make(chan error, 1)
			go func() {
				_, err := waiting.Act(context.Background(), click)
				done <- err
			}()
			card := d.asked()
			m.change(d, liar)
			r, err := review.Open(filepath.Join(d.dir, "approvals"))
			require.NoError(t, err)
			_ = r.Approve(context.Background(), card.ID, "ada") // withdrawn already, in some
			err = <-done
			require.Error(t, err)
			var e *canvas.Error
			require.ErrorAs(t, err, &e)
			require.Zero(t, liar.Dispatched())
			require.Empty(t, d.sim.Events())
		})
	}
}

func TestPC19ChangedArgumentsAreAnotherQuestion(t *testing.T) {
	d, liar := lying(t, selected([]string{console}))
	o := d.look(console)
	name := d.token(o, "textbox", "Name")
	asked := canvas.SetValue{Target: name, Value: "Ada"}
	_, err := d.Act(context.Background(), asked)
	refused(t, err, canvas.ApprovalRequired)
	d.person(true)
	for _, a := range []canvas.Action{
		canvas.SetValue{Target: name, Value: "ada"}, canvas.SetValue{Target: name, Value: "Ada "},
		canvas.SetValue{Target: name, Value: "A\u0301da"}, canvas.SetValue{Target: name, Value: ""},
		canvas.SetValue{Target: name, Value: "Ada", Delivery: canvas.Foreground},
		canvas.TypeText{Target: name, Text: "Ada"},
	} {
		_, err = d.Act(context.Background(), a)
		refused(t, err, canvas.ApprovalRequired)
	}
	require.Zero(t, liar.Dispatched())
	_, err = d.Act(context.Background(), asked)
	require.NoError(t, err)
	require.Equal(t, "Ada", d.sim.Value(o.Window().Ref, "Name"))
}

// What the person takes back while the desktop is being read is not done.
func TestPC20PauseDuringTheLastLookStopsTheAct(t *testing.T) {
	for _, m := range []drivertest.Method{drivertest.Windows, drivertest.Snapshot, drivertest.WindowAt} {
		t.Run(string(m), func(t *testing.T) {
			d, liar := lying(t, fields())
			save := canvas.Click{Target: d.token(d.look(console), "button", "Save")}
			liar.On(m, drivertest.First(func() { require.NoError(t, d.gate.SetPaused("ada", "stop")) }))
			_, err := d.Act(context.Background(), save)
			refused(t, err, canvas.Paused)
			require.Zero(t, liar.Dispatched())
			require.Empty(t, d.entries("intent"))
		})
	}
}

// A card that opens while the desktop is being read holds the input.
func TestPC20CardDuringTheLastLookStopsTheAct(t *testing.T) {
	d, liar := lying(t, fields())
	save := canvas.Click{Target: d.token(d.look(console), "button", "Save")}
	liar.On(drivertest.WindowAt, drivertest.First(func() {
		release, err := d.gate.HoldInput()
		require.NoError(t, err)
		t.Cleanup(release)
	}))
	_, err := d.Act(context.Background(), save)
	refused(t, err, canvas.Busy)
	require.Zero(t, liar.Dispatched())
}

// A pause between the click on a field and its text stops the text.
func TestPC20PauseBetweenClickAndTextStopsTheText(t *testing.T) {
	d, liar := lying(t, fields())
	o := d.look(console)
	liar.On(drivertest.Do, drivertest.First(func() { _ = d.gate.SetPaused("ada", "stop") }))
	_, err := d.Act(context.Background(), canvas.TypeText{Target: d.token(o, "textbox", "Name"), Text: "Ada"})
	refused(t, err, canvas.EffectUncertain)
	require.Equal(t, 1, liar.Dispatched())
	require.Empty(t, d.sim.Value(o.Window().Ref, "Name"))
}

// Where everything that is shown is green, keys are still asked for as long as
// something is hidden: an access key would press it.
func TestPC31KeysThatMayReachWhatIsHiddenAreAskedFor(t *testing.T) {
	d, _ := lying(t, func(doc *policy.Document, s *sim.Desktop) {
		selected([]string{console}, on(driver.LevelHide, "button", "Delete"))(doc, s)
		doc.DefaultLevel = driver.LevelAllow
	})
	d.look(console)
	refused(t, keys(d, d.Canvas, "alt", "d"), canvas.ApprovalRequired)
	require.Zero(t, d.sim.Pressed("Delete"))
}

// A green control is not what a click in front reaches when another one lies
// over it.
func TestPC35ControlUnderAnotherOneTakesTheStricterLevel(t *testing.T) {
	front := func(doc *policy.Document, s *sim.Desktop) {
		selected([]string{console}, on(driver.LevelAllow, "button", "Save"))(doc, s)
		doc.RealMouse = policy.MouseAllow
	}
	t.Run("read only", func(t *testing.T) {
		d, liar := lying(t, func(doc *policy.Document, s *sim.Desktop) {
			front(doc, s)
			doc.Rules = append(doc.Rules, policy.Rule{ID: "blue", Level: driver.LevelReadOnly, Match: policy.Match{Role: "button", Label: "Delete"}})
		})
		liar.OnSnapshot(drivertest.Spoil(0, func(s *driver.Snapshot) {
			drivertest.Moved("Delete", boundsOf(s, "Save").Min.Sub(boundsOf(s, "Delete").Min))(s)
		}))
		_, err := d.Act(context.Background(), canvas.Click{Target: d.token(d.look(console), "button", "Save")})
		refused(t, err, canvas.ReadOnly)
		require.Zero(t, liar.Dispatched())
	})
	t.Run("default, seen so", func(t *testing.T) {
		d, liar := lying(t, front)
		d.sim.MoveElement(d.sim.Window(console), "Delete", image.Pt(-124, 0))
		_, err := d.Act(context.Background(), canvas.Click{Target: d.token(d.look(console), "button", "Save"), Delivery: canvas.Foreground})
		refused(t, err, canvas.ApprovalRequired)
		require.Zero(t, liar.Dispatched())
	})
	t.Run("default, moved there after the look", func(t *testing.T) {
		d, liar := lying(t, front)
		save := canvas.Click{Target: d.token(d.look(console), "button", "Save"), Delivery: canvas.Foreground}
		d.sim.MoveElement(d.sim.Window(console), "Delete", image.Pt(-124, 0))
		_, err := d.Act(context.Background(), save)
		require.Error(t, err)
		require.Zero(t, d.sim.Pressed("Delete"), "%v", err)
		require.Zero(t, liar.Dispatched())
	})
}
