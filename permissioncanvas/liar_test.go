package permissioncanvas_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/redact"
)

// quick keeps the test's profiles in memory where that is possible, where what
// is tested has nothing to do with the disk.
func quick(t *testing.T) {
	t.Helper()
	if i, err := os.Stat("/dev/shm"); err == nil && i.IsDir() {
		t.Setenv("TMPDIR", "/dev/shm")
	}
}

// typed requires that err is one of ours and whole.
func typed(t *testing.T, err error) *canvas.Error {
	t.Helper()
	var e *canvas.Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Code)
	require.NotEmpty(t, e.Next)
	require.NotEmpty(t, e.Message)
	require.NotContains(t, e.Message, "%!")
	require.NotContains(t, e.Message, "%s")
	return e
}

// mum is typed for an error that could name the secret.
func mum(t *testing.T, err error) *canvas.Error {
	t.Helper()
	e := typed(t, err)
	require.NotContains(t, fmt.Sprintf("%+v", e), secret)
	return e
}

// everywhere puts one mood on every method.
func everywhere(l *drivertest.Liar, mood drivertest.Mood) {
	for _, m := range []drivertest.Method{drivertest.Windows, drivertest.Snapshot, drivertest.Do, drivertest.WindowAt} {
		l.On(m, mood)
	}
}

// run looks, presses and types, and returns the first error.
func (d *desk) run(ctx context.Context) error {
	o, err := d.Capture(ctx, d.sim.Window(console), nil)
	if err != nil {
		return err
	}
	if _, err = d.Act(ctx, canvas.Click{Target: d.token(o, "button", "Save")}); err != nil {
		return err
	}
	if _, err = d.Act(ctx, canvas.TypeText{Target: d.token(o, "textbox", "Name"), Text: "Ada"}); err != nil {
		return err
	}
	_, err = d.Act(ctx, canvas.SetValue{Target: d.token(o, "textbox", "Notes"), Value: "note"})
	return err
}

// At every call the driver makes, before and after it was done, the driver
// dies, fails or says nothing. Nothing happens twice or without its intent,
// what may have happened is uncertain, and the next look works.
func TestPC21DriverThatDiesAtAnyMoment(t *testing.T) {
	quick(t)
	hiding := func(doc *policy.Document, s *sim.Desktop) {
		fields()(doc, s)
		doc.Rules = append(doc.Rules, policy.Rule{ID: "black", Level: driver.LevelHide, Match: policy.Match{TextRegex: `sk-[a-z0-9-]{8,}`}})
	}
	for _, way := range []string{"dies before", "dies after", "fails before", "fails after"} {
		t.Run(way, func(t *testing.T) {
			for k := int64(1); ; k++ {
				d, liar := lying(t, hiding)
				var calls atomic.Int64
				acted := false
				everywhere(liar, func(ctx context.Context, _ int, truth func(context.Context) error) error {
					if calls.Add(1) != k {
						return truth(ctx)
					}
					before := liar.Reached(drivertest.Do)
					if strings.HasSuffix(way, "after") {
						_ = truth(ctx)
						acted = liar.Reached(drivertest.Do) > before
					}
					if strings.HasPrefix(way, "dies") {
						liar.Die()
						<-ctx.Done()
					}
					return errBroken
				})
				err := d.run(context.Background())
				if calls.Load() < k {
					require.NoError(t, err)
					require.Greater(t, k, int64(10))
					return
				}
				e := mum(t, err)
				if acted {
					require.Equal(t, canvas.EffectUncertain, e.Code, "call %d", k)
				}
				require.LessOrEqual(t, d.sim.Pressed("Save"), 1)
				require.Contains(t, []string{"", "Ada"}, d.sim.Value(d.sim.Window(console), "Name"))
				require.LessOrEqual(t, liar.Reached(drivertest.Do), len(d.entries("intent"))+1, "typing is two acts of one intent")
				everywhere(liar, nil)
				liar.Revive()
				d.usable()
				report, err := audit.Verify(filepath.Join(d.dir, "audit"))
				require.NoError(t, err)
				require.Nil(t, report.Broken)
			}
		})
	}
}

// A driver that never answers costs the caller's time and nothing else.
func TestPC21DriverThatNeverAnswersALook(t *testing.T) {
	for _, m := range []drivertest.Method{drivertest.Windows, drivertest.Snapshot, drivertest.WindowAt} {
		t.Run(string(m), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, liar := lying(t, fields())
				save := canvas.Click{Target: d.token(d.look(console), "button", "Save")}
				liar.On(m, drivertest.Never)
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				_, err := d.Act(ctx, save)
				typed(t, err)
				require.Zero(t, liar.Dispatched())
				if m != drivertest.WindowAt {
					_, err = d.Capture(ctx, d.sim.Window(console), nil)
					typed(t, err)
				}
				liar.On(m, nil)
				d.usable()
				require.NoError(t, d.Close())
			})
		})
	}
}

// unseen requires that nothing of the secret is in an observation: not in its
// text, and not in its pixels where the key stands.
func unseen(t *testing.T, o *canvas.Observation) {
	t.Helper()
	all := o.Text() + fmt.Sprintf("%+v", o.Window())
	for e := range o.Elements() {
		all += fmt.Sprintf("%+v\n", e)
	}
	require.NotContains(t, all, secret)
	if o.PNG() == nil {
		return
	}
	img, err := png.Decode(bytes.NewReader(o.PNG()))
	require.NoError(t, err)
	for y := 100; y < 117; y++ {
		for x := 120; x < 248; x++ {
			require.Equal(t, redact.MaskColor(), color.NRGBAModel.Convert(img.At(x, y)), "%d,%d", x, y)
		}
	}
}

// A reading that cannot be right is refused; where it may be, what is hidden
// is hidden.
func TestPC06PC12ReadingsThatLie(t *testing.T) {
	quick(t)
	other := func(d *desk) *driver.Snapshot {
		s, err := d.sim.Snapshot(context.Background(), d.sim.Window(login), driver.SnapshotOptions{})
		require.NoError(d.t, err)
		return s
	}
	plain := func(f func(*driver.Snapshot)) func(*desk) func(*driver.Snapshot) {
		return func(*desk) func(*driver.Snapshot) { return f }
	}
	bounds := func(r image.Rectangle) func(*desk) func(*driver.Snapshot) {
		return plain(func(s *driver.Snapshot) {
			for i := range s.Elements {
				if s.Elements[i].Label == secret {
					s.Elements[i].Bounds = r
				}
			}
		})
	}
	for _, tc := range []struct {
		name string
		lie  func(*desk) func(*driver.Snapshot)
		code canvas.Code // "": may be shown, without the secret
	}{
		{"no elements", plain(drivertest.Cut(0)), canvas.Withheld},
		{"the secret has no place", plain(drivertest.Frameless(secret)), canvas.Withheld},
		{"the secret is a point", bounds(image.Rect(170, 168, 170, 168)), canvas.Withheld},
		{"the secret is turned round", bounds(image.Rectangle{Min: image.Pt(300, 180), Max: image.Pt(160, 160)}), canvas.Withheld},
		{"another window", plain(drivertest.Foreign(driver.Window{Ref: driver.WindowRef{PID: 4243, ID: 78}, Start: 81302,
			App: "sim-login", Exe: "sim-login", Title: login})), canvas.Withheld},
		{"another window's picture", func(d *desk) func(*driver.Snapshot) { return drivertest.OtherPixels(other(d)) }, canvas.Withheld},
		{"half a picture", plain(drivertest.HalfPixels), canvas.Withheld},
		{"no picture", plain(drivertest.NoPixels), canvas.Withheld},
		{"a picture of another size", plain(drivertest.WrongSize), canvas.Withheld},
		{"a picture that is none", plain(drivertest.Pixels([]byte("no picture"))), canvas.Withheld},
		{"a smaller picture", plain(drivertest.Pixels(drivertest.Flat(image.Pt(10, 10), color.White))), canvas.Withheld},
		{"an empty picture", plain(drivertest.Pixels([]byte{})), canvas.Withheld},
		{"the secret is not there", plain(drivertest.Without(secret)), ""},
		{"no parents", plain(drivertest.Orphaned), ""},
		{"parents in a circle", plain(func(s *driver.Snapshot) {
			for i := range s.Elements {
				s.Elements[i].Parent = (i + 1) % len(s.Elements)
			}
		}), ""},
		{"parents out of range", plain(func(s *driver.Snapshot) {
			for i := range s.Elements {
				s.Elements[i].Parent = 1 << 30
			}
		}), ""},
		{"the secret in every string", plain(drivertest.Everywhere(secret)), ""},
		{"places at the end of the world", plain(func(s *driver.Snapshot) {
			for i := range s.Elements {
				if s.Elements[i].Label == "Save" {
					s.Elements[i].Bounds = image.Rect(-1<<31, -1<<31, 1<<31-1, 1<<31-1)
				}
			}
		}), ""},
		{"a slack of a screen", plain(func(s *driver.Snapshot) { s.Slack = 1 << 20 }), ""},
		{"a negative slack", plain(func(s *driver.Snapshot) { s.Slack = -100 }), ""},
		{"no text of its own", plain(func(s *driver.Snapshot) { s.AllText = false }), canvas.Withheld},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, liar := lying(t, selected([]string{console}, hideKey()))
			old := d.token(d.look(console), "button", "Save")
			liar.OnSnapshot(drivertest.Spoil(0, tc.lie(d)))
			o, err := d.Capture(context.Background(), d.sim.Window(console), nil)
			switch {
			case err != nil:
				e := mum(t, err)
				if tc.code != "" {
					require.Equal(t, tc.code, e.Code)
				}
				require.Nil(t, o)
			case tc.name == "the secret is not there":
				// What no tree knows nothing can mask; the driver said AllText.
				require.NotContains(t, o.Text(), secret)
			default:
				require.Empty(t, tc.code, "shown")
				unseen(t, o)
			}
			_, err = d.Act(context.Background(), canvas.Click{Target: old})
			refused(t, err, canvas.StaleToken)
			require.Zero(t, liar.Dispatched())
			liar.OnSnapshot(nil)
			unseen(t, d.look(console))
			require.NoError(t, d.Close())
			canary(t, d.dir, secret)
		})
	}
}

// A place whose size is no number costs no time.
func TestPC12PlacesBeyondAllNumbers(t *testing.T) {
	d, liar := lying(t, selected([]string{console}, hideKey()))
	liar.OnSnapshot(drivertest.Spoil(0, func(s *driver.Snapshot) {
		for i := range s.Elements {
			if s.Elements[i].Label == "Delete" {
				s.Elements[i].Bounds = image.Rect(math.MinInt, math.MinInt, math.MaxInt, math.MaxInt)
			}
		}
	}))
	o, err := d.Capture(context.Background(), d.sim.Window(console), nil)
	if err != nil {
		mum(t, err)
		return
	}
	unseen(t, o)
}

// The secret moves between the tree and the picture's second tree.
func TestPC38SecretThatMovesUnderThePictureIsWithheld(t *testing.T) {
	d, liar := lying(t, selected([]string{console}, hideKey()))
	liar.OnSnapshot(func(ctx context.Context, n int, _ drivertest.Read, truth func(context.Context) (*driver.Snapshot, error)) (*driver.Snapshot, error) {
		s, err := truth(ctx)
		if err == nil {
			drivertest.Moved(secret, image.Pt(0, n%2*30))(s)
		}
		return s, err
	})
	_, err := d.Capture(context.Background(), d.sim.Window(console), nil)
	refused(t, err, canvas.Withheld)
	liar.OnSnapshot(nil)
	unseen(t, d.look(console))
}

func TestPC10ListsThatLie(t *testing.T) {
	quick(t)
	list := func(f func([]driver.Window) []driver.Window) drivertest.Lie[struct{}, []driver.Window] {
		return func(ctx context.Context, _ int, _ struct{}, truth func(context.Context) ([]driver.Window, error)) ([]driver.Window, error) {
			ws, err := truth(ctx)
			return f(ws), err
		}
	}
	each := func(f func(*driver.Window)) drivertest.Lie[struct{}, []driver.Window] {
		return list(func(ws []driver.Window) []driver.Window {
			for i := range ws {
				f(&ws[i])
			}
			return ws
		})
	}
	for name, lie := range map[string]drivertest.Lie[struct{}, []driver.Window]{
		"empty":           list(func([]driver.Window) []driver.Window { return nil }),
		"twice":           list(func(ws []driver.Window) []driver.Window { return append(ws, ws...) }),
		"placeholders":    each(func(w *driver.Window) { w.Ref = driver.WindowRef{PID: -1} }),
		"other process":   each(func(w *driver.Window) { w.Start++ }),
		"start unknown":   each(func(w *driver.Window) { w.Start = 0 }),
		"other app":       each(func(w *driver.Window) { w.App, w.Exe = "x", "x" }),
		"other title":     each(func(w *driver.Window) { w.Title += "!" }),
		"a locker's name": each(func(w *driver.Window) { w.Exe = "gnome-screensaver" }),
	} {
		t.Run(name, func(t *testing.T) {
			d, liar := lying(t, fields())
			save := canvas.Click{Target: d.token(d.look(console), "button", "Save")}
			liar.OnWindows(lie)
			_, err := d.Act(context.Background(), save)
			typed(t, err)
			_, err = d.Capture(context.Background(), d.sim.Window(console), nil)
			typed(t, err)
			require.Zero(t, liar.Dispatched())
			liar.OnWindows(nil)
			d.usable()
		})
	}
}

// A reading without a snapshot and without an error is no reading.
func TestDriverThatReturnsNothingAtAll(t *testing.T) {
	nothing := func(context.Context, int, drivertest.Read, func(context.Context) (*driver.Snapshot, error)) (*driver.Snapshot, error) {
		return nil, nil
	}
	t.Run("at a look", func(t *testing.T) {
		d, liar := lying(t, fields())
		liar.OnSnapshot(nothing)
		_, err := d.Capture(context.Background(), d.sim.Window(console), nil)
		typed(t, err)
	})
	t.Run("between click and text", func(t *testing.T) {
		d, liar := lying(t, fields())
		o := d.look(console)
		reads := liar.Calls(drivertest.Snapshot)
		liar.OnSnapshot(func(ctx context.Context, n int, a drivertest.Read, truth func(context.Context) (*driver.Snapshot, error)) (*driver.Snapshot, error) {
			if n == reads+2 {
				return nil, nil
			}
			return truth(ctx)
		})
		require.NotPanics(t, func() {
			_, err := d.Act(context.Background(), canvas.TypeText{Target: d.token(o, "textbox", "Name"), Text: "Ada"})
			refused(t, err, canvas.EffectUncertain)
		})
	})
}

// A driver that does everything twice is not found out; but one call of ours
// is one call of its.
func TestPC21OneActIsOneDispatch(t *testing.T) {
	d, liar := lying(t, fields())
	liar.On(drivertest.Do, drivertest.Twice)
	_, err := d.Act(context.Background(), canvas.Click{Target: d.token(d.look(console), "button", "Save")})
	require.NoError(t, err)
	require.Equal(t, 1, liar.Dispatched())
}
