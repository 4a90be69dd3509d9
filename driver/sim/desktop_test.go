package sim_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
)

func Example() {
	d := sim.New(nil)
	ctx, ref := context.Background(), d.Window("Admin Console")
	s, err := d.Snapshot(ctx, ref, driver.SnapshotOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range s.Elements {
		if e.Role == driver.RoleButton && e.Label == "Save" {
			res, err := d.Do(ctx, ref, driver.Click{Target: driver.Token(e.Token)})
			fmt.Println(res.Effect, err, d.Pressed("Save"), d.Value(ref, "Status"))
		}
	}
	// Output: confirmed <nil> 1 Saved:
}

// TestAlike: two processes that each make a desktop see the same one.
func TestAlike(t *testing.T) {
	a, b := sim.New(nil), sim.New(&sim.Options{})
	wa, err := a.Windows(t.Context())
	require.NoError(t, err)
	wb, err := b.Windows(t.Context())
	require.NoError(t, err)
	require.Equal(t, wa, wb)
	require.Len(t, wa, 3)
	for _, w := range wa {
		sa, err := a.Snapshot(t.Context(), w.Ref, driver.SnapshotOptions{})
		require.NoError(t, err)
		sb, err := b.Snapshot(t.Context(), w.Ref, driver.SnapshotOptions{})
		require.NoError(t, err)
		sb.Taken = sa.Taken
		require.Equal(t, sa, sb)
		require.True(t, sa.AllText)
		require.NotZero(t, w.Start)
	}
}

// TestScenes: a desktop holds the windows it was asked for.
func TestScenes(t *testing.T) {
	for _, c := range []struct {
		name   string
		scenes []sim.Scene
		want   []string
	}{
		{"all", nil, []string{"Admin Console", "Staff Login", "Orders - Acme"}},
		{"one", []sim.Scene{sim.Login}, []string{"Staff Login"}},
		{"two", []sim.Scene{sim.Browser, sim.Console}, []string{"Admin Console", "Orders - Acme"}},
		{"none", []sim.Scene{}, nil},
		{"unknown", []sim.Scene{"no such"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := sim.New(&sim.Options{Scenes: c.scenes}).Windows(t.Context())
			require.NoError(t, err)
			require.NotNil(t, list)
			var titles []string
			for _, w := range list {
				titles = append(titles, w.Title)
			}
			require.Equal(t, c.want, titles)
		})
	}
}

// TestAllTextIsInBounds: white out every element but containers, and nothing
// that was painted is left: so hiding by bounds hides all.
func TestAllTextIsInBounds(t *testing.T) {
	for _, title := range []string{"Admin Console", "Staff Login", "Orders - Acme"} {
		t.Run(title, func(t *testing.T) {
			d := open(t, title)
			if e := find(d.read(), "Reveal key"); e != nil {
				d.click("Reveal key")
			}
			if e := find(d.read(), "Notes"); e != nil {
				d.typeText("Notes", "a long line that has to go on in the next line or it would leave the field it is in\n\n\n\n\n\n\n\n\nx")
			}
			s := d.read()
			var words []image.Rectangle
			for _, e := range s.Elements {
				switch e.Role {
				case driver.RoleWindow, driver.RoleGroup, driver.RoleForm, driver.RoleTable, driver.RoleToolbar, driver.RoleDocument, driver.RoleRow:
				default:
					words = append(words, e.Bounds.Sub(s.Frame.Min))
				}
			}
			left := 0
			m := decode(t, s)
			for y := range s.Size.Y {
				for x := range s.Size.X {
					if dark(m.At(x, y)) && !inAny(image.Pt(x, y), words) {
						left++
					}
				}
			}
			require.Zero(t, left, "dark pixels outside of every element")
		})
	}
}

// dark is what text is painted with; frames and shades are lighter.
func dark(c color.Color) bool {
	g := color.GrayModel.Convert(c).(color.Gray)
	return g.Y < 0xb0
}

func inAny(p image.Point, rs []image.Rectangle) bool {
	for _, r := range rs {
		if p.In(r) {
			return true
		}
	}
	return false
}

// TestTextIsPainted: what the tree says can be seen, a password cannot be read.
func TestTextIsPainted(t *testing.T) {
	for _, c := range []struct{ title, label string }{
		{"Admin Console", "sk-test-9f2a77c1b0"}, {"Admin Console", "Save"}, {"Admin Console", "Plan"},
		{"Staff Login", "Account"}, {"Staff Login", "Password"}, {"Orders - Acme", "Help"},
		{"Orders - Acme", "4000 0012 3456 7899"}, {"Orders - Acme", "Discount"},
	} {
		d := open(t, c.title)
		s := d.read()
		m := decode(t, s)
		inked := 0
		b := find(s, c.label).Bounds.Sub(s.Frame.Min)
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				if dark(m.At(x, y)) {
					inked++
				}
			}
		}
		require.Greater(t, inked, 20, "%s in %s", c.label, c.title)
	}
	d := open(t, "Staff Login")
	before := d.read().Image
	d.Put(d.ref, "Password", "another-pass-15")
	require.Equal(t, before, d.read().Image, "bullets do not tell one password from another")
}

// TestScale: the picture has another size, the elements stay where they are.
func TestScale(t *testing.T) {
	for _, scale := range []float64{0.7, 1, 1.25, 1.5, 2} {
		d := sim.New(&sim.Options{Scale: scale})
		s, err := d.Snapshot(t.Context(), d.Window("Staff Login"), driver.SnapshotOptions{})
		require.NoError(t, err)
		require.Equal(t, image.Rect(720, 60, 1140, 340), s.Frame)
		require.InDelta(t, 420*scale, s.Size.X, 1)
		require.InDelta(t, 280*scale, s.Size.Y, 1)
		require.Equal(t, s.Size, decode(t, s).Bounds().Size())
	}
}

// TestTokens: PC14 and M7 of the decisions.
func TestTokens(t *testing.T) {
	d := open(t, "Admin Console")
	old := find(d.read(), "Save").Token
	require.Regexp(t, `^s00000001:\d+$`, old)
	d.readWindow(d.Window("Staff Login"))
	d.do(driver.Click{Target: driver.Token(old)}) // another window's snapshot kills nothing
	d.read()
	_, err := d.Do(t.Context(), d.ref, driver.Click{Target: driver.Token(old)})
	require.ErrorIs(t, err, driver.ErrStaleToken)

	d.Restart()
	_, err = d.Do(t.Context(), d.ref, driver.Click{Target: driver.Token(old)})
	require.ErrorIs(t, err, driver.ErrStaleToken)
	d.Restart()
	d.click("Reveal key") // a text more, so every later number names another control
	d.Restart()
	d.read()
	d.do(driver.Click{Target: driver.Token(old)})
	require.Equal(t, 1, d.Pressed("Save"), "the old token came to name another control")
}

// TestHandles: what a test does behind the scenes shows.
func TestHandles(t *testing.T) {
	d := open(t, "Admin Console")
	was := find(d.read(), "Save").Bounds
	d.MoveElement(d.ref, "Save", image.Pt(0, 40))
	require.Equal(t, was.Add(image.Pt(0, 40)), find(d.read(), "Save").Bounds)
	d.MoveElement(d.ref, "Credentials", image.Pt(5, 0))
	require.Equal(t, 165, find(d.read(), "sk-test-9f2a77c1b0").Bounds.Min.X)
	d.Move(d.ref, image.Pt(10, 10))
	s := d.read()
	require.Equal(t, image.Rect(50, 70, 690, 590), s.Frame)
	require.Equal(t, s.Frame, s.Window.Bounds)
	require.Equal(t, was.Add(image.Pt(10, 50)), find(s, "Save").Bounds)

	token := d.token("Save")
	d.Relabel(d.ref, "Save", "Pay now")
	d.do(driver.Click{Target: token}) // M4: the driver does not check identity
	require.Equal(t, 1, d.Pressed("Pay now"))
	d.Relabel(d.ref, "sk-test-9f2a77c1b0", "sk-test-9f2a77c1b0-and-more")
	require.Equal(t, 7*27+2, find(d.read(), "sk-test-9f2a77c1b0-and-more").Bounds.Dx())

	d.Disable(d.ref, "Delete")
	require.True(t, find(d.read(), "Delete").Disabled)
	require.Equal(t, driver.EffectSuspectedNoop, d.click("Delete").Effect)
	require.Zero(t, d.Pressed("Delete"))

	d.Retitle(d.ref, "Other")
	require.True(t, d.Window("Admin Console").IsZero())
	require.Equal(t, "Other", d.read().Window.Title)
	d.Navigate(d.ref, "https://evil.example")
	start := d.read().Window.Start
	d.Relaunch(d.ref)
	again := d.read().Window
	require.Equal(t, "https://evil.example", again.Site)
	require.NotEqual(t, start, again.Start)
	require.Equal(t, d.ref, again.Ref)

	d.CloseWindow(d.ref)
	require.Empty(t, d.Value(d.ref, "Name"))
	require.Empty(t, d.Focus(d.ref))
	require.Panics(t, func() { d.CloseWindow(d.ref) })
	require.Panics(t, func() { d.Relabel(d.Window("Staff Login"), "no such", "x") })
	_, err := d.Snapshot(t.Context(), d.ref, driver.SnapshotOptions{})
	require.ErrorIs(t, err, driver.ErrWindowGone)
}

// TestCover: PC35 and PC48. What lies over a control takes its click, and is
// black on the picture.
func TestCover(t *testing.T) {
	d := open(t, "Admin Console")
	cover := d.Cover(d.ref, "Save")
	b := find(d.read(), "Save").Bounds
	hit, err := d.WindowAt(t.Context(), b.Min)
	require.NoError(t, err)
	require.Equal(t, driver.Hit{Window: cover, Above: true}, hit)
	m := decode(t, d.read())
	require.Equal(t, color.RGBA{A: 0xff}, color.RGBAModel.Convert(m.At(b.Min.X-40, b.Min.Y-60)))

	res := d.do(driver.Click{Target: d.token("Save"), Delivery: driver.Foreground})
	require.True(t, res.Retargeted)
	require.Zero(t, d.Pressed("Save"))
	require.Equal(t, 1, d.Pressed("Dismiss"))
	require.False(t, d.click("Save").Retargeted)
	require.Equal(t, 1, d.Pressed("Save"))
	d.do(driver.Raise{Window: d.ref})
	hit, err = d.WindowAt(t.Context(), b.Min)
	require.NoError(t, err)
	require.Equal(t, cover, hit.Window, "always on top stays on top")

	d.Uncover()
	d.do(driver.Click{Target: d.token("Save"), Delivery: driver.Foreground})
	require.Equal(t, 2, d.Pressed("Save"))
	_, err = d.Snapshot(t.Context(), cover, driver.SnapshotOptions{})
	require.ErrorIs(t, err, driver.ErrWindowGone)
}

// TestStacking: a real click goes to the front window; a raise changes which.
func TestStacking(t *testing.T) {
	d := open(t, "Admin Console")
	login := d.Window("Staff Login")
	d.Move(login, image.Pt(-560, 340)) // over Save
	d.do(driver.Raise{Window: d.ref})
	_, err := d.Do(t.Context(), login, driver.Raise{Window: login})
	require.NoError(t, err)
	b := find(d.read(), "Save").Bounds
	hit, err := d.WindowAt(t.Context(), b.Min)
	require.NoError(t, err)
	require.Equal(t, driver.Hit{Window: login}, hit)
	d.do(driver.Click{Target: d.token("Save"), Delivery: driver.Foreground}) // brings its window to the front
	require.Equal(t, 1, d.Pressed("Save"))
	list, err := d.Windows(t.Context())
	require.NoError(t, err)
	require.Equal(t, d.ref, list[0].Ref)
	require.Greater(t, list[0].Z, list[1].Z)
}

// TestConcurrent: every method and handle may be called at any time. The race
// detector is the judge.
func TestConcurrent(t *testing.T) {
	d := open(t, "Admin Console")
	ctx := t.Context()
	var wg sync.WaitGroup
	for range 4 {
		for _, f := range []func(){
			func() { _, _ = d.Windows(ctx) },
			func() {
				s, err := d.Snapshot(ctx, d.ref, driver.SnapshotOptions{})
				if err == nil {
					_, _ = d.Do(ctx, d.ref, driver.Click{Target: driver.Token(find(s, "Plan").Token)})
				}
			},
			func() {
				_, _ = d.Do(ctx, d.ref, driver.PressKeys{Window: d.ref, Keys: []driver.Key{"tab"}})
				_, _ = d.Do(ctx, d.ref, driver.TypeText{Text: "x"})
			},
			func() { _, _ = d.WindowAt(ctx, image.Pt(100, 100)) },
			func() { _, _ = d.CallTool(ctx, "start_session", nil) },
			func() { d.Cover(d.ref, "Save"); d.Uncover() },
			func() { d.Relabel(d.ref, "Delete", "Delete"); _ = d.Events(); _ = d.Pressed("Save") },
			func() { d.Restart() },
		} {
			wg.Go(f)
		}
	}
	wg.Wait()
	require.NotNil(t, find(d.read(), "Save"))
}
