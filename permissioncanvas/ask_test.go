package permissioncanvas_test

import (
	"context"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
)

func TestPC33RelabelledControlIsNotPressed(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{browser}), nil)
	o := d.look(browser)
	cancel := canvas.Click{Target: d.token(o, "button", "Cancel order 1001")}
	_, err := d.Act(ctx, cancel)
	refused(t, err, canvas.ApprovalRequired)
	d.person(true)
	d.sim.Relabel(o.Window().Ref, "Cancel order 1001", "Pay now please")
	_, err = d.Act(ctx, cancel)
	refused(t, err, canvas.ElementChanged)
	require.Empty(t, d.sim.Events())
}

func TestPC19WaitingActReturnsWhenThePersonAnswers(t *testing.T) {
	d := newDesk(t, selected([]string{console}), nil)
	c, err := canvas.New(d.home, &canvas.Options{Agent: "tester", Driver: d.sim})
	require.NoError(t, err)
	defer c.Close()
	o, err := c.Capture(context.Background(), d.sim.Window(console), nil)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := c.Act(context.Background(), canvas.Click{Target: d.token(o, "button", "Save")})
		done <- err
	}()
	card := d.asked()
	require.Equal(t, "CLICK", card.Verb)
	require.Contains(t, card.Target, "Save")
	require.Zero(t, d.sim.Pressed("Save"))
	d.person(true)
	require.NoError(t, <-done)
	require.Equal(t, 1, d.sim.Pressed("Save"))
}

func TestPC19DeadlineLeavesTheAskOpenAndCancelWithdrawsIt(t *testing.T) {
	d := newDesk(t, selected([]string{console}), nil)
	c, err := canvas.New(d.home, &canvas.Options{Agent: "tester", Driver: d.sim})
	require.NoError(t, err)
	defer c.Close()
	o, err := c.Capture(context.Background(), d.sim.Window(console), nil)
	require.NoError(t, err)
	save := canvas.Click{Target: d.token(o, "button", "Save")}
	ctx, stop := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer stop()
	_, err = c.Act(ctx, save)
	e := refused(t, err, canvas.ApprovalRequired)
	require.Equal(t, canvas.RetrySame, e.Next)
	require.Equal(t, d.asked().ID, e.Approval.ID)
	require.Contains(t, e.Approval.Command, "pc ")
	require.Contains(t, e.Approval.Command, e.Approval.ID)

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := c.Act(ctx, save)
		done <- err
	}()
	time.Sleep(100 * time.Millisecond)
	require.Equal(t, e.Approval.ID, d.asked().ID, "an identical call joins the open ask")
	cancel()
	refused(t, <-done, canvas.ApprovalExpired)
	_, err = c.Act(canceled(), save)
	require.Error(t, err)
	require.Zero(t, d.sim.Pressed("Save"))
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestPC19GrantIsForOneActOnly(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	o := d.look(console)
	save := canvas.Click{Target: d.token(o, "button", "Save")}
	_, err := d.Act(ctx, save)
	refused(t, err, canvas.ApprovalRequired)
	d.person(true)
	for _, other := range []canvas.Action{
		canvas.Click{Target: save.Target, Count: 2},
		canvas.Click{Target: save.Target, Delivery: canvas.Foreground},
		canvas.Click{Target: save.Target, Modifiers: []canvas.Key{"shift"}},
		canvas.Click{Target: d.token(o, "button", "Delete")},
	} {
		_, err = d.Act(ctx, other)
		refused(t, err, canvas.ApprovalRequired)
	}
	require.Empty(t, d.sim.Events())
	_, err = d.Act(ctx, save)
	require.NoError(t, err)
	require.Equal(t, 1, d.sim.Pressed("Save"))
	_, err = d.Act(ctx, save)
	refused(t, err, canvas.ApprovalRequired)
	require.Equal(t, 1, d.sim.Pressed("Save"))
}

func TestPC19CaptureWithdrawsAndDenialBlocks(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	o := d.look(console)
	save := canvas.Click{Target: d.token(o, "button", "Save")}
	_, err := d.Act(ctx, save)
	refused(t, err, canvas.ApprovalRequired)
	d.person(true)
	o = d.look(console) // voids the grant
	_, err = d.Act(ctx, save)
	refused(t, err, canvas.StaleToken)
	save.Target = d.token(o, "button", "Save")
	_, err = d.Act(ctx, save)
	refused(t, err, canvas.ApprovalRequired)
	d.person(false)
	for range 2 {
		_, err = d.Act(ctx, save)
		e := refused(t, err, canvas.ApprovalDenied)
		require.Equal(t, canvas.Stop, e.Next)
		require.Equal(t, "wrong control", e.Approval.Reply)
	}
	require.Empty(t, d.sim.Events())
}

func TestNoApproverWhereNobodyEverCouldAnswer(t *testing.T) {
	d := newDesk(t, selected([]string{console}), nil)
	entries, err := os.ReadDir(d.dir)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "surface.") {
			require.NoError(t, os.Remove(filepath.Join(d.dir, e.Name())))
		}
	}
	o := d.look(console)
	_, err = d.Act(context.Background(), canvas.Click{Target: d.token(o, "button", "Save")})
	refused(t, err, canvas.NoApprover)
}

func TestPC18FieldIsProposedAgainAfterAVerificationCapture(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	click := func() {
		a := canvas.Click{Target: d.token(d.look(console), "textbox", "Name")}
		_, err := d.Act(ctx, a)
		refused(t, err, canvas.ApprovalRequired)
		d.person(true)
		_, err = d.Act(ctx, a)
		require.NoError(t, err)
	}
	click()
	d.look(console)
	ada := canvas.TypeText{Text: "Ada"}
	_, err := d.Act(ctx, ada)
	refused(t, err, canvas.ApprovalRequired)
	require.Equal(t, "CLICK AND TYPE", d.asked().Verb)
	require.Contains(t, d.asked().Target, "Name")
	require.Empty(t, d.sim.Value(d.sim.Window(console), "Name"))
	d.person(true)
	_, err = d.Act(ctx, canvas.TypeText{Text: "Adam"})
	refused(t, err, canvas.ApprovalRequired)
	d.person(false)
	_, err = d.Act(ctx, ada)
	require.NoError(t, err)
	require.Equal(t, "Ada", d.sim.Value(d.sim.Window(console), "Name"))

	for name, change := range map[string]func(*desk){
		"moved":   func(d *desk) { d.sim.MoveElement(d.sim.Window(console), "Name", image.Pt(3, 0)); d.look(console) },
		"renamed": func(d *desk) { d.sim.Relabel(d.sim.Window(console), "Name", "Surname"); d.look(console) },
		"refusal": func(d *desk) {
			_, err := d.Act(ctx, canvas.PressKeys{Window: d.look(console).Window().Ref, Keys: []canvas.Key{"ctrl", "c"}})
			refused(d.t, err, canvas.ClipboardRefused)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, selected([]string{console}), nil)
			a := canvas.Click{Target: d.token(d.look(console), "textbox", "Name")}
			_, err := d.Act(ctx, a)
			refused(t, err, canvas.ApprovalRequired)
			d.person(true)
			_, err = d.Act(ctx, a)
			require.NoError(t, err)
			change(d)
			_, err = d.Act(ctx, ada)
			refused(t, err, canvas.FocusUnknown)
		})
	}
}

// A call that is given up between its question and the record of it leaves no
// question behind.
func TestPC19GivenUpWhileTheQuestionIsPutOnRecord(t *testing.T) {
	d := newDesk(t, selected([]string{console}), nil)
	o := d.look(console)
	record, held, err := statefile.TryLock(filepath.Join(d.dir, "audit", "lock"))
	require.NoError(t, err)
	require.True(t, held)
	ctx, giveUp := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")})
		done <- err
	}()
	d.asked()
	giveUp()
	time.Sleep(200 * time.Millisecond) // it notices while it waits for the record
	record.Unlock()
	require.Error(t, <-done)
	cards, _ := d.cards()
	require.Empty(t, cards)
	require.Zero(t, d.sim.Pressed("Save"))
}

// A browser's window is full of panels, one upon another over the whole page,
// each of which touches what is hidden and is left out for that. None of them
// takes input, so that what is allowed below them stays allowed.
func TestPC35PanelsOverThePage(t *testing.T) {
	l := drivertest.NewLiar(sim.New(nil))
	l.OnSnapshot(func(ctx context.Context, _ int, _ drivertest.Read, truth func(context.Context) (*driver.Snapshot, error)) (*driver.Snapshot, error) {
		s, err := truth(ctx)
		if err == nil {
			s.Elements = append(s.Elements, driver.Element{Token: "panel", Parent: 0, Role: driver.RoleGroup, RawRole: "panel", Bounds: s.Window.Bounds})
		}
		return s, err
	})
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "textbox", "Name"), on(driver.LevelHide, "button", "Reveal key")),
		func(driver.Driver) driver.Driver { return l })
	o := d.look(console)
	for e := range o.Elements() {
		require.NotEqual(t, "panel", e.Role)
		if e.Label == "Name" && e.Role == "textbox" {
			require.Equal(t, canvas.LevelAllow, e.Level)
		}
	}
	_, err := d.Act(context.Background(), canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: "Ada"})
	require.NoError(t, err)
	_, err = d.Act(context.Background(), canvas.Scroll{Target: d.token(o, "textbox", "Notes"), By: image.Pt(0, 1)})
	refused(t, err, canvas.ApprovalRequired) // not hidden
}
