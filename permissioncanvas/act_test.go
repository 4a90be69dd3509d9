package permissioncanvas_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func TestPC02LevelsDecide(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console},
		on(driver.LevelAllow, "button", "Save"), on(driver.LevelReadOnly, "button", "Delete"),
		on(driver.LevelHide, "button", "Reveal key")), nil)
	o := d.look(console)
	require.NotContains(t, o.Text(), "Reveal key")

	res, err := d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
	require.NoError(t, err)
	require.NotEmpty(t, res.Effect)
	require.Equal(t, 1, d.sim.Pressed("Save"))

	_, err = d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Delete")})
	e := refused(t, err, canvas.ReadOnly)
	require.Equal(t, `You may read button "Delete" but not use it.`, e.Message)
	require.Zero(t, d.sim.Pressed("Delete"))
	for _, a := range []canvas.Action{
		canvas.Click{Target: d.token(o, "button", "Delete"), Delivery: canvas.Foreground},
		canvas.Click{Target: d.token(o, "button", "Delete"), Button: canvas.ButtonRight},
		canvas.SetValue{Target: d.token(o, "button", "Delete"), Value: "x"},
	} {
		_, err = d.Act(ctx, a)
		refused(t, err, canvas.ReadOnly)
	}

	_, err = d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Ada"})
	refused(t, err, canvas.ApprovalRequired)
	require.Empty(t, d.sim.Value(d.sim.Window(console), "Name"))
}

func TestPC02MostRestrictiveRuleWins(t *testing.T) {
	d := newDesk(t, selected([]string{console},
		on(driver.LevelAllow, "button", "Save"), on(driver.LevelReadOnly, "", "Save")), nil)
	_, err := d.Act(context.Background(), canvas.Click{Target: d.token(d.look(console), "button", "Save")})
	refused(t, err, canvas.ReadOnly)
}

// canary searches every byte that is not the picture for the text.
// placeless gives the hidden control no rectangle.
func TestPC14CoveredControlIsNotPressed(t *testing.T) {
	ctx := context.Background()
	for _, delivery := range []canvas.Delivery{canvas.Foreground, canvas.Background} {
		t.Run(string(delivery), func(t *testing.T) {
			d := newDesk(t, func(doc *policy.Document, s *sim.Desktop) {
				selected([]string{console}, on(driver.LevelAllow, "button", "Save"))(doc, s)
				doc.RealMouse = policy.MouseAllow
			}, nil)
			d.sim.Cover(d.sim.Window(console), "Save")
			o := d.look(console)
			_, err := d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save"), Delivery: delivery})
			refused(t, err, canvas.Covered)
			require.Empty(t, d.sim.Events())
			d.sim.Uncover()
			_, err = d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save"), Delivery: delivery})
			require.NoError(t, err)
			require.Equal(t, 1, d.sim.Pressed("Save"))
		})
	}
}

func TestPC20AnOpenCardHoldsInputOnly(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	release, err := d.gate.HoldInput()
	require.NoError(t, err)
	o := d.look(console)
	_, err = d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
	refused(t, err, canvas.Busy)
	release()
	_, err = d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
	require.NoError(t, err)
}

func TestPC24IntentIsOnRecordBeforeAndOutcomeAfter(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "textbox", "Name")), nil)
	o := d.look(console)
	_, err := d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Grace Hopper 77"})
	require.NoError(t, err)
	require.Equal(t, "Grace Hopper 77", d.sim.Value(o.Window().Ref, "Name"))
	require.Len(t, d.entries("intent"), 1)
	require.Len(t, d.entries("outcome"), 1)
	require.Less(t, d.entries("intent")[0].Seq, d.entries("outcome")[0].Seq)
	require.Contains(t, d.entries("intent")[0].Fields["text"], "15:")
	canary(t, filepath.Join(d.dir, "audit"), "Grace Hopper")
	report, err := audit.Verify(filepath.Join(d.dir, "audit"))
	require.NoError(t, err)
	require.Nil(t, report.Broken)
}

func TestPC24NoRecordNoAct(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	o := d.look(console)
	dir := filepath.Join(d.dir, "audit")
	require.NoError(t, os.Rename(dir, dir+".gone"))
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	_, err := d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
	refused(t, err, canvas.AuditFailed)
	require.Zero(t, d.sim.Pressed("Save"))
}

func TestPC31TypedTextReachesNoOtherControl(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console},
		on(driver.LevelAllow, "textbox", "Name"), on(driver.LevelAllow, "textbox", "Notes")), nil)
	o := d.look(console)
	name, notes := d.token(o, "textbox", "Name"), d.token(o, "textbox", "Notes")
	for _, text := range []string{"E\tF", "a\nb", "a\rb", "\x1b", "a\x00", "a\u0085b"} {
		_, err := d.Act(ctx, canvas.TypeText{Target: name, Text: text})
		refused(t, err, canvas.BadRequest)
		_, err = d.Act(ctx, canvas.SetValue{Target: name, Value: text})
		refused(t, err, canvas.BadRequest)
	}
	require.Empty(t, d.sim.Events())
	_, err := d.Act(ctx, canvas.TypeText{Target: notes, Text: "first\nsecond"})
	require.NoError(t, err)
	require.Equal(t, "first\nsecond", d.sim.Value(o.Window().Ref, "Notes"))
	require.Empty(t, d.sim.Value(o.Window().Ref, "Name"))
	_, err = d.Act(ctx, canvas.TypeText{Target: name, Text: "Ada"})
	require.NoError(t, err)
	require.Equal(t, "Ada", d.sim.Value(o.Window().Ref, "Name"))
}

func TestPC31KeysAreDecidedByWhatTheyReach(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console},
		on(driver.LevelAllow, "textbox", "Name"), on(driver.LevelReadOnly, "button", "Delete")), nil)
	o := d.look(console)
	w := o.Window().Ref
	press := func(keys ...canvas.Key) error {
		_, err := d.Act(ctx, canvas.PressKeys{Window: w, Keys: keys})
		return err
	}
	refused(t, press("backspace"), canvas.FocusUnknown)
	for _, tc := range []struct {
		keys []canvas.Key
		code canvas.Code
	}{
		{[]canvas.Key{"tab"}, canvas.ReadOnly},
		{[]canvas.Key{"enter"}, canvas.ReadOnly},
		{[]canvas.Key{"alt", "z"}, canvas.ReadOnly},
		{[]canvas.Key{"ctrl", "c"}, canvas.ClipboardRefused},
		{[]canvas.Key{"cmd", "V"}, canvas.ClipboardRefused},
		{[]canvas.Key{"shift", "insert"}, canvas.ClipboardRefused},
		{[]canvas.Key{"alt", "f4"}, canvas.ToolDenied},
		{[]canvas.Key{"super", "l"}, canvas.ToolDenied},
		{[]canvas.Key{"ctrl", "w"}, canvas.ToolDenied},
		{[]canvas.Key{"a", "b"}, canvas.BadRequest},
		{[]canvas.Key{"ctrl"}, canvas.BadRequest},
		{[]canvas.Key{"XF86Reboot"}, canvas.BadRequest},
	} {
		refused(t, press(tc.keys...), tc.code)
	}
	require.Empty(t, d.sim.Events())

	_, err := d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Ada"})
	require.NoError(t, err)
	_, err = d.Act(ctx, canvas.Click{Target: d.token(o, "textbox", "Name")})
	require.NoError(t, err)
	require.NoError(t, press("end"))
	require.NoError(t, press("backspace"))
	require.Equal(t, "Ad", d.sim.Value(w, "Name"))
	d.look(console)
	refused(t, press("backspace"), canvas.FocusUnknown)
}

func TestPC34TokensDieWithTheRunOfTheDriver(t *testing.T) {
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	save := canvas.Click{Target: d.token(d.look(console), "button", "Save")}
	d.sim.Restart()
	_, err := d.Act(context.Background(), save)
	refused(t, err, canvas.StaleSnapshot)
	require.Empty(t, d.sim.Events())
}

func TestEX24LevelsInTheTreeAreWhatActMeets(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console},
		on(driver.LevelAllow, "button", "Save"), on(driver.LevelReadOnly, "button", "Delete")), nil)
	o := d.look(console)
	for e := range o.Elements() {
		if e.Bounds.Empty() {
			continue
		}
		_, err := d.Act(ctx, canvas.Click{Target: e.Token})
		switch e.Level {
		case driver.LevelAllow:
			require.NoError(t, err, e.Label)
		case driver.LevelReadOnly:
			refused(t, err, canvas.ReadOnly)
		case driver.LevelAsk:
			require.True(t, errors.Is(err, canvas.ApprovalRequired) || errors.Is(err, canvas.TooManyPending), "%s: %v", e.Label, err)
		default:
			require.Error(t, err)
		}
	}
}

// frontal takes input only in front.
type frontal struct {
	driver.Driver
	tried int
}

func (f *frontal) Do(ctx context.Context, w driver.WindowRef, a driver.Action) (driver.Result, error) {
	if c, ok := a.(driver.SetValue); ok && c.Delivery != driver.Foreground {
		f.tried++
		return driver.Result{}, driver.ErrBackgroundUnavailable
	}
	return f.Driver.Do(ctx, w, a)
}

func TestPC21NoAskIsSpentTwiceOnARouteThatIsNotThere(t *testing.T) {
	ctx := context.Background()
	front := &frontal{}
	d := newDesk(t, selected([]string{console}), func(dr driver.Driver) driver.Driver {
		front.Driver = dr
		return front
	})
	set := func() canvas.SetValue {
		return canvas.SetValue{Target: d.token(d.look(console), "textbox", "Name"), Value: "Ada"}
	}
	a := set()
	_, err := d.Act(ctx, a)
	refused(t, err, canvas.ApprovalRequired)
	d.person(true)
	_, err = d.Act(ctx, a)
	e := refused(t, err, canvas.BackgroundUnavailable)
	require.Contains(t, e.Message, "foreground")
	require.Equal(t, 1, front.tried)
	_, err = d.Act(ctx, set())
	refused(t, err, canvas.BackgroundUnavailable) // no question this time
	require.Equal(t, 1, front.tried)
	a = set()
	a.Delivery = canvas.Foreground
	_, err = d.Act(ctx, a)
	refused(t, err, canvas.ApprovalRequired)
}

// silent cannot say that anything arrived.
type silent struct{ driver.Driver }

func (s silent) Do(ctx context.Context, w driver.WindowRef, a driver.Action) (driver.Result, error) {
	if _, ok := a.(driver.SetValue); ok {
		return driver.Result{Effect: driver.EffectUnverifiable}, nil // and nothing is there to be read back
	}
	return s.Driver.Do(ctx, w, a)
}

func TestPC21UnverifiedTextIsCheckedBeforeMore(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "textbox", "Name"), on(driver.LevelAllow, "textbox", "Notes"),
		on(driver.LevelAllow, "button", "Save")), func(dr driver.Driver) driver.Driver { return silent{dr} })
	o := d.look(console)
	_, err := d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Ada"})
	require.NoError(t, err)
	for _, a := range []canvas.Action{
		canvas.SetValue{Target: d.token(o, "textbox", "Notes"), Value: "x"},
		canvas.TypeText{Target: d.token(o, "textbox", "Notes"), Text: "x"},
		canvas.PressKeys{Window: o.Window().Ref, Keys: []canvas.Key{"end"}},
	} {
		_, err = d.Act(ctx, a)
		require.Contains(t, refused(t, err, canvas.StaleSnapshot).Message, "could not be verified")
	}
	o = d.look(console)
	_, err = d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Notes"), Value: "x"})
	require.NoError(t, err)
}
