package cua_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/cua"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/internal/fixture"
)

// sideBySide runs f on both desktops, at once where they are two.
func sideBySide(t *testing.T, f func(t *testing.T, desk fixture.Desktop)) {
	t.Helper()
	fixture.Each(t, func(t *testing.T, desk fixture.Desktop) {
		if os.Getenv("PC_TEST_DISPLAY_21") != os.Getenv("PC_TEST_DISPLAY_37") {
			t.Parallel()
		}
		f(t, desk)
	})
}

// open returns the real driver under a policy file of its own.
func open(t *testing.T, desk fixture.Desktop) *cua.Driver {
	t.Helper()
	d := cua.New(desk.Driver, &cua.Options{Name: "suite", PolicyFile: policyFile(t), Env: desk.Env()})
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// modern reports whether the desktop's driver is the newer one.
func modern(desk fixture.Desktop) bool { return desk.Version == "0.37.0" }

func policyFile(t *testing.T) func([]string) (string, error) {
	path := t.TempDir() + "/policy.yaml"
	return func(tools []string) (string, error) {
		text := "allow:\n  tools:\n"
		for _, name := range tools {
			text += "    - " + name + "\n"
		}
		return path, os.WriteFile(path, []byte(text), 0o600)
	}
}

func TestRealSuite(t *testing.T) {
	sideBySide(t, func(t *testing.T, desk fixture.Desktop) {
		b := sharedBrowser(t, desk)
		p := newPainter(t, desk)
		drivertest.Test(t, func(t *testing.T) drivertest.Fixture {
			d := open(t, desk)
			if !b.has(t, d) { // a part has closed it
				b.clear()
				require.NoError(t, b.command(mainTitle).Run())
			}
			b.reset(t)
			ref := b.window(t, d).Ref
			return drivertest.Fixture{
				Driver: d, Window: b.title, Other: otherTitle + " - Chromium", Button: "Save", Field: "Name",
				Delivery: driver.Background, Presses: b.pressed, Text: b.typed, Settle: 2 * time.Second,
				CloseWindow: func() { p.ask(ref, "WM_DELETE_WINDOW") },
			}
		})
	})
}

// TestRealBoundsAreWherePixelsAre finds a box of one colour in the picture
// and compares its place with the one that the tree gives, also where a part
// of the window is off the screen and where the picture is made smaller.
func TestRealBoundsAreWherePixelsAre(t *testing.T) {
	usual := image.Rect(10, 10, 910, 710)
	places := map[string]image.Rectangle{
		"usual":            usual,
		"left of screen":   image.Rect(-40, 30, 860, 730),
		"above the screen": image.Rect(60, -30, 960, 670),
		"beyond a corner":  image.Rect(900, 500, 1800, 1200),
		"half off":         image.Rect(800, 500, 2400, 1500), // the picture has the window's own shape
		"large":            image.Rect(5, 20, 1595, 980),
	}
	sideBySide(t, func(t *testing.T, desk fixture.Desktop) {
		p := newPainter(t, desk)
		b := sharedBrowser(t, desk)
		d := open(t, desk)
		ref := b.window(t, d).Ref
		t.Cleanup(func() { p.move(ref, usual) })
		for name, place := range places {
			t.Run(name, func(t *testing.T) {
				p.move(ref, place)
				_, err := d.Do(t.Context(), ref, driver.Raise{}) // what lies under another window is black
				require.NoError(t, err)
				time.Sleep(time.Second)
				s, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{})
				require.NoError(t, err)
				require.Equal(t, s.Window.Bounds.Intersect(image.Rect(0, 0, 1600, 1000)), s.Frame)
				box := element(t, s, "Box")
				whole := s.Size == s.Frame.Size()
				painted := extent(t, s, whole)
				if whole {
					require.Equal(t, painted, box.Bounds.Sub(s.Frame.Min))
				} else {
					scale := float64(s.Size.X) / float64(s.Frame.Dx())
					at := box.Bounds.Sub(s.Frame.Min)
					require.InDelta(t, float64(at.Min.X)*scale, float64(painted.Min.X), 2)
					require.InDelta(t, float64(at.Max.X)*scale, float64(painted.Max.X), 2)
					require.InDelta(t, float64(at.Min.Y)*scale, float64(painted.Min.Y), 2)
					require.InDelta(t, float64(at.Max.Y)*scale, float64(painted.Max.Y), 2)
				}
				require.Equal(t, s.Window.Bounds, s.Elements[0].Bounds, "the root fills the window")
				_, err = d.Do(t.Context(), ref, driver.Drag{From: image.Pt(1, 1), To: image.Pt(2, 2)})
				if s.Frame != s.Window.Bounds {
					require.ErrorIs(t, err, driver.ErrUnsupported, "the driver would drag elsewhere")
				}
			})
		}
	})
}

// TestRealBX02TwoWindowsOfOneProcess lays one over the other, where the driver
// reads both at once.
func TestRealBX02TwoWindowsOfOneProcess(t *testing.T) {
	place := image.Rect(10, 10, 910, 710)
	sideBySide(t, func(t *testing.T, desk fixture.Desktop) {
		b := sharedBrowser(t, desk)
		p := newPainter(t, desk)
		d := open(t, desk)
		first := b.window(t, d)
		second := &browser{title: otherTitle + " - Chromium"}
		other := second.window(t, d)
		require.Equal(t, first.Ref.PID, other.Ref.PID)
		p.move(first.Ref, place)
		p.move(other.Ref, place)
		time.Sleep(500 * time.Millisecond)
		for _, w := range []driver.Window{first, other} {
			s, err := d.Snapshot(t.Context(), w.Ref, driver.SnapshotOptions{NoImage: true})
			require.NoError(t, err)
			saves := 0
			for i, e := range s.Elements {
				if e.Parent < 0 {
					require.Equal(t, w.Title, e.Label)
					require.Zero(t, i)
				}
				if e.Label == "Save" && e.Web {
					saves++
				}
			}
			require.Equal(t, 1, saves)
			before := b.pressed()
			_, err = d.Do(t.Context(), w.Ref, driver.Click{Target: driver.Token(element(t, s, "Save").Token)})
			require.NoError(t, err)
			if w.Ref == first.Ref {
				require.Eventually(t, func() bool { return b.pressed() == before+1 }, 20*time.Second, 20*time.Millisecond)
				continue
			}
			time.Sleep(time.Second)
			require.Equal(t, before, b.pressed(), "an act on one window reached another")
		}
	})
}

func TestRealWhatIsRead(t *testing.T) {
	sideBySide(t, func(t *testing.T, desk fixture.Desktop) {
		b := sharedBrowser(t, desk)
		d := open(t, desk)
		s, err := d.Snapshot(t.Context(), b.window(t, d).Ref, driver.SnapshotOptions{NoImage: true})
		require.NoError(t, err)
		box, pin := element(t, s, "Box"), element(t, s, "PIN")
		require.Equal(t, driver.RoleButton, box.Role)
		require.True(t, box.Web)
		require.Equal(t, driver.RolePassword, pin.Role)
		require.NotContains(t, pin.Value, "hunter2")
		require.Equal(t, "chromium", s.Window.Exe)
		require.NotZero(t, s.Window.Start)
		require.LessOrEqual(t, s.Slack, 64)
		require.False(t, s.AllText)
		require.False(t, s.FocusKnown)
	})
}

// extent is where the box is on the picture.
func extent(t *testing.T, s *driver.Snapshot, whole bool) image.Rectangle {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(s.Image))
	require.NoError(t, err)
	var r image.Rectangle
	for y := range s.Size.Y {
		for x := range s.Size.X {
			if cr, cg, cb, _ := m.At(x, y).RGBA(); cr > 0xf000 && cg < 0x0f00 && cb > 0xf000 {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	require.False(t, r.Empty(), "the box is not on the picture")
	if whole {
		require.Equal(t, image.Pt(201, 41), r.Size())
	}
	return r
}

func element(t *testing.T, s *driver.Snapshot, label string) *driver.Element {
	t.Helper()
	for i := range s.Elements {
		if s.Elements[i].Label == label && s.Elements[i].Web {
			return &s.Elements[i]
		}
	}
	require.Failf(t, "no such element", "%q", label)
	return nil
}

// TestRealInput sends each kind of input and looks at what the page got: what
// is sent is what was meant, or nothing is.
func TestRealInput(t *testing.T) {
	const fg, bg = driver.Foreground, driver.Background
	target := func(a driver.Action, token driver.Token) driver.Action {
		switch a := a.(type) {
		case driver.Click:
			a.Target = token
			return a
		case driver.Scroll:
			a.Target = token
			return a
		}
		return a
	}
	tests := []struct {
		name       string
		act        driver.Action
		event      string // that the page must see
		old, fresh error  // of 0.21 and 0.37
	}{
		{"left, behind", driver.Click{}, "event click box 0", nil, nil},
		{"left, in front", driver.Click{Button: driver.ButtonLeft, Count: 1, Delivery: fg}, "event click box 0", nil, nil},
		{"double, in front", driver.Click{Count: 2, Delivery: fg}, "event dblclick box 0", nil, nil},
		{"double, behind", driver.Click{Count: 2}, "", driver.ErrBackgroundUnavailable, driver.ErrBackgroundUnavailable},
		{"right, in front", driver.Click{Button: driver.ButtonRight, Delivery: fg}, "event contextmenu box 2", nil, nil},
		{"escape", driver.PressKeys{Keys: []driver.Key{"escape"}, Delivery: fg}, "", nil, nil},
		{"right, behind", driver.Click{Button: driver.ButtonRight, Delivery: bg}, "", driver.ErrBackgroundUnavailable, driver.ErrBackgroundUnavailable},
		{"middle, in front", driver.Click{Button: driver.ButtonMiddle, Delivery: fg}, "event auxclick box 1", driver.ErrUnsupported, nil},
		{"middle, behind", driver.Click{Button: driver.ButtonMiddle}, "", driver.ErrUnsupported, driver.ErrBackgroundUnavailable},
		{"ctrl, in front", driver.Click{Modifiers: []driver.Key{"ctrl"}, Delivery: fg}, "event click box 0 1 ctrl", nil, nil},
		{"ctrl, behind", driver.Click{Modifiers: []driver.Key{"ctrl"}}, "", driver.ErrBackgroundUnavailable, driver.ErrBackgroundUnavailable},
		{"a key, in front", driver.PressKeys{Keys: []driver.Key{"f9"}, Delivery: fg}, "event keydown", nil, nil},
		{"keys, in front", driver.PressKeys{Keys: []driver.Key{"ctrl", "f9"}, Delivery: fg}, "event keydown", nil, nil},
		{"a key, behind", driver.PressKeys{Keys: []driver.Key{"f9"}}, "", driver.ErrBackgroundUnavailable, driver.ErrBackgroundUnavailable},
		{"wheel, in front", driver.Scroll{By: image.Pt(0, 2), Delivery: fg}, "scroll", nil, nil},
		{"wheel, behind", driver.Scroll{By: image.Pt(0, 2)}, "", driver.ErrBackgroundUnavailable, driver.ErrBackgroundUnavailable},
	}
	sideBySide(t, func(t *testing.T, desk fixture.Desktop) {
		b := sharedBrowser(t, desk)
		d := open(t, desk)
		ref := b.window(t, d).Ref
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				want := tt.old
				if modern(desk) {
					want = tt.fresh
				}
				b.reset(t)
				s, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{NoImage: true})
				require.NoError(t, err)
				_, err = d.Do(t.Context(), ref, target(tt.act, driver.Token(element(t, s, "Box").Token)))
				if want != nil {
					require.ErrorIs(t, err, want)
					require.ErrorIs(t, err, driver.ErrNoEffect)
					time.Sleep(300 * time.Millisecond)
					require.Empty(t, b.all(), "proof of no effect, and an effect")
					return
				}
				require.NoError(t, err)
				hit, err := d.WindowAt(t.Context(), middle(element(t, s, "Box").Bounds))
				require.NoError(t, err)
				// The overlay is the driver's; the browser's other window may lie there.
				require.True(t, hit.Window.PID == ref.PID || hit.Above, "the driver's overlay takes no input: %+v", hit)
				if tt.event != "" {
					require.Eventually(t, func() bool { return b.saw(tt.event) }, 20*time.Second, 50*time.Millisecond)
				}
			})
		}
	})
}

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Size().Div(2)) }

// TestRealPC21ADriverThatIsKilled loses its process between two calls.
func TestRealPC21ADriverThatIsKilled(t *testing.T) {
	sideBySide(t, func(t *testing.T, desk fixture.Desktop) {
		b := sharedBrowser(t, desk)
		d := open(t, desk)
		ref := b.window(t, d).Ref
		s, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{NoImage: true})
		require.NoError(t, err)
		old, pressed := element(t, s, "Save").Token, b.pressed()
		pid := cua.OnlyTestPID(d)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		require.Eventually(t, func() bool {
			_, err = d.Do(t.Context(), ref, driver.Click{Target: driver.Token(old)})
			return errors.Is(err, driver.ErrStaleToken)
		}, 5*time.Second, 10*time.Millisecond)
		s, err = d.Snapshot(t.Context(), ref, driver.SnapshotOptions{NoImage: true})
		require.NoError(t, err, "an observation starts a new one")
		require.NotEqual(t, pid, cua.OnlyTestPID(d))
		require.NotEqual(t, old, element(t, s, "Save").Token)
		_, err = d.Do(t.Context(), ref, driver.Click{Target: driver.Token(old)})
		require.ErrorIs(t, err, driver.ErrStaleToken, "the new process numbers its tokens alike (M7)")
		require.Equal(t, pressed, b.pressed())
	})
}

// TestRealPC21ASessionThatEnded is revived by looking, not by acting.
func TestRealPC21ASessionThatEnded(t *testing.T) {
	sideBySide(t, func(t *testing.T, desk fixture.Desktop) {
		b := sharedBrowser(t, desk)
		d := open(t, desk)
		ref, before := b.window(t, d).Ref, b.pressed()
		look := func() driver.Token {
			s, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{NoImage: true})
			require.NoError(t, err)
			return driver.Token(element(t, s, "Save").Token)
		}
		_, err := d.CallTool(t.Context(), "end_session", []byte(`{"session":"suite"}`))
		require.NoError(t, err)
		token := look() // never begun, or revived
		_, err = d.Do(t.Context(), ref, driver.Click{Target: token})
		require.NoError(t, err)
		require.Eventually(t, func() bool { return b.pressed() == before+1 }, 20*time.Second, 20*time.Millisecond)

		token = look()
		raw, err := d.CallTool(t.Context(), "end_session", []byte(`{"session":"suite"}`))
		require.NoError(t, err)
		require.Contains(t, string(raw), "ended")
		_, err = d.Do(t.Context(), ref, driver.Click{Target: token})
		require.ErrorIs(t, err, driver.ErrNoEffect)
		_, err = d.Do(t.Context(), ref, driver.PressKeys{Keys: []driver.Key{"f9"}, Delivery: driver.Foreground})
		require.ErrorIs(t, err, driver.ErrSessionEnded)
		_, err = d.Do(t.Context(), ref, driver.PressKeys{Keys: []driver.Key{"f9"}, Delivery: driver.Foreground})
		require.ErrorIs(t, err, driver.ErrSessionEnded, "acting never revives")
		_, err = d.Do(t.Context(), ref, driver.Click{Target: look()})
		require.NoError(t, err)
		require.Eventually(t, func() bool { return b.pressed() == before+2 }, 20*time.Second, 20*time.Millisecond)
	})
}

// TestRealPC10AWindowThatIsGone loses its application.
func TestRealPC10AWindowThatIsGone(t *testing.T) {
	sideBySide(t, func(t *testing.T, desk fixture.Desktop) {
		b := startBrowser(t, desk, t.TempDir())
		t.Cleanup(b.stop)
		d := open(t, desk)
		var ref driver.WindowRef
		require.Eventually(t, func() bool {
			all, err := d.Windows(t.Context())
			for _, w := range all {
				if w.Ref.PID == b.cmd.Process.Pid && w.Title == b.title {
					ref = w.Ref
				}
			}
			return err == nil && !ref.IsZero()
		}, 30*time.Second, 100*time.Millisecond)
		s, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{NoImage: true})
		require.NoError(t, err)
		token := driver.Token(element(t, s, "Save").Token)
		b.stop()
		require.Eventually(t, func() bool {
			_, err = d.Snapshot(context.Background(), ref, driver.SnapshotOptions{})
			return errors.Is(err, driver.ErrWindowGone)
		}, 10*time.Second, 50*time.Millisecond)
		_, err = d.Do(t.Context(), ref, driver.Click{Target: token})
		require.ErrorIs(t, err, driver.ErrNoEffect)
		_, err = d.Do(t.Context(), ref, driver.Raise{})
		require.ErrorIs(t, err, driver.ErrWindowGone)
	})
}

// TestRealPC22Environment reads what the driver's process was given.
func TestRealPC22Environment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	t.Setenv("HERMES_CUA_DRIVER_CMD", "permission-canvas")
	fixture.Each(t, func(t *testing.T, desk fixture.Desktop) {
		d := open(t, desk)
		tools, err := d.Tools(t.Context())
		require.NoError(t, err)
		require.Len(t, tools.Entries, len(cua.ToolNames()), "the policy file admits nothing else")
		data, err := os.ReadFile("/proc/" + itoa(cua.OnlyTestPID(d)) + "/environ")
		require.NoError(t, err)
		require.NotContains(t, string(data), "sk-secret")
		require.NotContains(t, string(data), "HERMES")
		require.Contains(t, string(data), "CUA_DRIVER_RS_TELEMETRY_ENABLED=false")
		require.Contains(t, string(data), "CUA_DRIVER_RS_UPDATE_CHECK=false")
		require.Contains(t, string(data), "PERMISSION_CANVAS_DEPTH=1")
		dir, err := os.Readlink("/proc/" + itoa(cua.OnlyTestPID(d)) + "/cwd")
		require.NoError(t, err)
		require.Equal(t, "/", dir)
		sink, err := os.Readlink("/proc/" + itoa(cua.OnlyTestPID(d)) + "/fd/2")
		require.NoError(t, err)
		require.Equal(t, os.DevNull, sink)
	})
}
