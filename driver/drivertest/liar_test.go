package drivertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/driver/sim"
)

// desk is a liar over a simulated desktop.
type desk struct {
	*drivertest.Liar
	sim *sim.Desktop
	ref driver.WindowRef
}

func newDesk() *desk {
	s := sim.New(nil)
	return &desk{Liar: drivertest.NewLiar(s), sim: s, ref: s.Window("Admin Console")}
}

func (d *desk) read(t *testing.T) *driver.Snapshot {
	t.Helper()
	s, err := d.Snapshot(t.Context(), d.ref, driver.SnapshotOptions{})
	require.NoError(t, err)
	return s
}

func element(t *testing.T, s *driver.Snapshot, label string) *driver.Element {
	t.Helper()
	for i := range s.Elements {
		if s.Elements[i].Label == label {
			return &s.Elements[i]
		}
	}
	require.Failf(t, "no such element", "%q", label)
	return nil
}

// TestHonest: a liar that was told nothing passes the suite.
func TestHonest(t *testing.T) {
	drivertest.Test(t, func(*testing.T) drivertest.Fixture {
		d := newDesk()
		return drivertest.Fixture{
			Driver: d.Liar, Window: "Admin Console", Other: "Staff Login", Button: "Save", Field: "Name",
			Presses: func() int { return d.sim.Pressed("Save") },
			Text:    func() string { return d.sim.Value(d.ref, "Name") },
		}
	})
}

// TestMoods: what was dispatched, what came through and what came back.
func TestMoods(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name    string
		mood    drivertest.Mood
		err     error
		presses int
	}{
		{"honest", nil, nil, 1},
		{"never", drivertest.Never, context.DeadlineExceeded, 0},
		{"unanswered", drivertest.Unanswered, context.DeadlineExceeded, 1},
		{"twice", drivertest.Twice, nil, 2},
		{"late", drivertest.Late(time.Millisecond), nil, 1},
		{"too late", drivertest.Late(time.Hour), context.DeadlineExceeded, 0},
		{"fails", drivertest.Fail(broken), broken, 0},
		{"acts and fails", drivertest.ThenFail(broken), broken, 1},
		{"another call", drivertest.Nth(2, drivertest.Never), nil, 1},
		{"this call", drivertest.Nth(1, drivertest.Fail(broken)), broken, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk()
			token := driver.Token(element(t, d.read(t), "Save").Token)
			d.On(drivertest.Do, c.mood)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			click := driver.Click{Target: token}
			_, err := d.Do(ctx, d.ref, click)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.presses, d.sim.Pressed("Save"))
			require.Equal(t, c.presses, d.Reached(drivertest.Do))
			require.Equal(t, 1, d.Dispatched())
			require.Equal(t, []driver.Action{click}, d.Actions())
		})
	}
}

// TestSpoils: each lie about a snapshot changes what it says it does.
func TestSpoils(t *testing.T) {
	truth := newDesk().read(t)
	other := driver.Window{Ref: driver.WindowRef{PID: 9, ID: 9}}
	by := image.Pt(3, 4)
	for _, c := range []struct {
		name  string
		spoil func(*driver.Snapshot)
		check func(*testing.T, *driver.Snapshot)
	}{
		{"cut", drivertest.Cut(3), func(t *testing.T, s *driver.Snapshot) { require.Len(t, s.Elements, 3) }},
		{"moved", drivertest.Moved("Save", by), func(t *testing.T, s *driver.Snapshot) {
			require.Equal(t, element(t, truth, "Save").Bounds.Add(by), element(t, s, "Save").Bounds)
		}},
		{"relabelled", drivertest.Relabelled("Save", "Pay now"), func(t *testing.T, s *driver.Snapshot) {
			require.Equal(t, element(t, truth, "Save").Bounds, element(t, s, "Pay now").Bounds)
		}},
		{"frameless", drivertest.Frameless("Save"), func(t *testing.T, s *driver.Snapshot) {
			require.False(t, element(t, s, "Save").HasBounds())
		}},
		{"orphaned", drivertest.Orphaned, func(t *testing.T, s *driver.Snapshot) {
			require.Equal(t, -1, element(t, s, "Save").Parent)
		}},
		{"without", drivertest.Without("Credentials"), func(t *testing.T, s *driver.Snapshot) {
			require.Len(t, s.Elements, len(truth.Elements)-4)
			require.Equal(t, "Customer", s.Elements[element(t, s, "Save").Parent].Label)
		}},
		{"window moved", drivertest.WindowMoved(by), func(t *testing.T, s *driver.Snapshot) {
			require.Equal(t, truth.Frame.Add(by), s.Frame)
			require.Equal(t, truth.Window.Bounds.Add(by), s.Window.Bounds)
		}},
		{"foreign", drivertest.Foreign(other), func(t *testing.T, s *driver.Snapshot) { require.Equal(t, other, s.Window) }},
		{"pixels", drivertest.Pixels(drivertest.Flat(by, color.Black)), func(t *testing.T, s *driver.Snapshot) {
			require.NotEqual(t, truth.Image, s.Image)
			require.Equal(t, truth.Size, s.Size)
		}},
		{"other pixels", drivertest.OtherPixels(&driver.Snapshot{Image: []byte{1}, Size: by}), func(t *testing.T, s *driver.Snapshot) {
			require.Equal(t, by, s.Size)
		}},
		{"half", drivertest.HalfPixels, func(t *testing.T, s *driver.Snapshot) { require.Less(t, len(s.Image), len(truth.Image)) }},
		{"none", drivertest.NoPixels, func(t *testing.T, s *driver.Snapshot) { require.Empty(t, s.Image) }},
		{"wrong size", drivertest.WrongSize, func(t *testing.T, s *driver.Snapshot) { require.NotEqual(t, truth.Size, s.Size) }},
		{"everywhere", drivertest.Everywhere("boo"), func(t *testing.T, s *driver.Snapshot) {
			require.Equal(t, []string{"boo"}, element(t, s, "Save boo").Text)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk()
			d.OnSnapshot(drivertest.Spoil(2, c.spoil))
			require.Equal(t, truth.Elements, d.read(t).Elements, "the first reading is true")
			c.check(t, d.read(t))
		})
	}
}

// TestLies: a lie may answer for every method.
func TestLies(t *testing.T) {
	d, ctx := newDesk(), t.Context()
	d.OnWindows(func(context.Context, int, struct{}, func(context.Context) ([]driver.Window, error)) ([]driver.Window, error) {
		return nil, nil
	})
	d.OnDo(func(context.Context, int, drivertest.Act, func(context.Context) (driver.Result, error)) (driver.Result, error) {
		return driver.Result{Effect: driver.EffectConfirmed, Retargeted: true}, nil
	})
	d.OnWindowAt(func(_ context.Context, n int, _ image.Point, _ func(context.Context) (driver.Hit, error)) (driver.Hit, error) {
		return driver.Hit{Window: driver.WindowRef{PID: n, ID: 1}}, nil
	})
	d.OnTools(func(context.Context, int, struct{}, func(context.Context) (driver.Tools, error)) (driver.Tools, error) {
		return driver.Tools{Version: "9"}, nil
	})
	d.OnCallTool(func(_ context.Context, _ int, u drivertest.Use, _ func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
		return json.RawMessage(u.Name), nil
	})
	list, err := d.Windows(ctx)
	require.NoError(t, err)
	require.Empty(t, list)
	res, err := d.Do(ctx, d.ref, driver.Raise{Window: d.ref})
	require.NoError(t, err)
	require.True(t, res.Retargeted)
	require.Zero(t, d.Reached(drivertest.Do))
	hit, err := d.WindowAt(ctx, image.Point{})
	require.NoError(t, err)
	require.Equal(t, 1, hit.Window.PID)
	tools, err := d.Tools(ctx)
	require.NoError(t, err)
	require.Equal(t, "9", tools.Version)
	raw, err := d.CallTool(ctx, "x", nil)
	require.NoError(t, err)
	require.Equal(t, "x", string(raw))
	d.OnWindows(nil)
	list, err = d.Windows(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, list)
	require.Equal(t, 2, d.Calls(drivertest.Windows))
	require.Equal(t, 1, d.Reached(drivertest.Windows))
}

// TestBetween: the desktop changes between two reads.
func TestBetween(t *testing.T) {
	d := newDesk()
	d.On(drivertest.Snapshot, drivertest.Nth(2, drivertest.First(func() { d.sim.Relabel(d.ref, "Delete", "Pay now") })))
	element(t, d.read(t), "Delete")
	element(t, d.read(t), "Pay now")
}

// TestDies: a call under way is uncertain, a later one had no effect.
func TestDies(t *testing.T) {
	d := newDesk()
	d.On(drivertest.Do, drivertest.Unanswered)
	token := driver.Token(element(t, d.read(t), "Save").Token)
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := d.Do(t.Context(), d.ref, driver.Click{Target: token})
		if !errors.Is(err, drivertest.ErrDied) || errors.Is(err, driver.ErrNoEffect) {
			t.Errorf("error %v", err)
		}
	})
	require.Eventually(t, func() bool { return d.sim.Pressed("Save") == 1 }, time.Second, time.Millisecond)
	d.Die()
	d.Die()
	wg.Wait()
	_, err := d.Windows(t.Context())
	require.ErrorIs(t, err, driver.ErrUnavailable)
	d.Revive()
	d.Revive()
	_, err = d.Windows(t.Context())
	require.NoError(t, err)
}

// plainDriver has no more than a Driver must.
type plainDriver struct{ driver.Driver }

// TestPlain: over a driver without the further abilities the liar has none.
func TestPlain(t *testing.T) {
	l := drivertest.NewLiar(plainDriver{sim.New(nil)})
	_, err := l.WindowAt(t.Context(), image.Point{})
	require.ErrorIs(t, err, driver.ErrUnsupported)
	_, err = l.Tools(t.Context())
	require.ErrorIs(t, err, driver.ErrUnsupported)
	_, err = l.CallTool(t.Context(), "x", nil)
	require.ErrorIs(t, err, driver.ErrUnsupported)
	require.NoError(t, l.Close())
}
