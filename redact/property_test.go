package redact_test

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/redact"
)

// drawn is where a rectangle of screen pixels can leave paint in an image of
// the scale, found without the code under test.
func drawn(r image.Rectangle, scale float64) image.Rectangle {
	r = r.Sub(window.Min)
	at := func(n int) float64 { return float64(n) * scale }
	return image.Rect(int(math.Floor(at(r.Min.X))), int(math.Floor(at(r.Min.Y))), int(math.Ceil(at(r.Max.X))), int(math.Ceil(at(r.Max.Y))))
}

// tree draws a random reading: verdicts are random, strings are unlike.
func tree(rt *rapid.T, t testing.TB) (*driver.Snapshot, redact.Plan) {
	s := snapshot(t)
	// A size that is a whole number of pixels at every scale.
	s.Window.Bounds = image.Rectangle{Max: image.Pt(120, 80)}.Add(window.Min)
	s.Frame, s.Size = s.Window.Bounds, s.Window.Bounds.Size()
	setPicture(t, s, image.NewNRGBA(image.Rectangle{Max: s.Size}))
	p := redact.Plan{Default: driver.LevelAsk}
	n := rapid.IntRange(1, 16).Draw(rt, "elements")
	roles := []driver.Role{driver.RoleButton, driver.RoleTextbox, driver.RoleGroup, driver.RoleDocument, driver.RolePassword, driver.RoleUnknown}
	for i := range n {
		x, y := rapid.IntRange(-20, 130).Draw(rt, "x"), rapid.IntRange(-20, 90).Draw(rt, "y")
		e := element(rapid.IntRange(-1, i-1).Draw(rt, "parent"), canary(i, "label"), x, y,
			rapid.IntRange(1, 40).Draw(rt, "w"), rapid.IntRange(1, 20).Draw(rt, "h"))
		e.Role = rapid.SampledFrom(roles).Draw(rt, "role")
		e.Value, e.Text, e.Actions, e.Token, e.Web = canary(i, "value"), []string{canary(i, "text")}, []string{canary(i, "action")}, canary(i, "token"), true
		s.Elements = append(s.Elements, e)
		p.Verdicts = append(p.Verdicts, rapid.SampledFrom([]redact.Verdict{redact.Hide, redact.Omit, redact.Bare, redact.Veil, redact.Show, redact.Show, redact.Show}).Draw(rt, "verdict"))
		p.Levels = append(p.Levels, rapid.SampledFrom([]driver.Level{driver.LevelAllow, driver.LevelAsk, driver.LevelReadOnly}).Draw(rt, "level"))
	}
	return s, p
}

func pixel(c color.NRGBA) []byte { return []byte{c.R, c.G, c.B, c.A} }

func canary(i int, field string) string { return fmt.Sprintf("#%s-%03d#", field, i) }

// gone reports whether nothing of element i may be left, and whether its
// pixels must go, by the plainest reading of the rules.
func gone(s *driver.Snapshot, p redact.Plan, i int) (hidden, omitted, masked bool) {
	hidden, omitted = p.Verdicts[i] == redact.Hide, p.Verdicts[i] == redact.Omit
	masked = p.Verdicts[i] == redact.Veil || s.Elements[i].Role == driver.RolePassword
	for a := s.Elements[i].Parent; a >= 0; a = s.Elements[a].Parent {
		hidden = hidden || p.Verdicts[a] == redact.Hide
		if s.Elements[a].Role == driver.RolePassword {
			omitted, masked = true, true
		}
	}
	return hidden, omitted && !hidden, masked || hidden
}

func TestPC04MasksCoverWhatIsDrawnAtEveryScale(t *testing.T) {
	for _, scale := range []float64{0.7, 1, 1.25, 1.5, 1.75, 2} {
		t.Run(fmt.Sprint(scale), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				s, p := tree(rt, t)
				size := drawn(s.Frame, scale).Size()
				m := image.NewNRGBA(image.Rectangle{Max: size})
				draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
				may := image.NewAlpha(m.Rect) // where a mask has a reason
				near := 12 + int(4*scale)
				for i := range s.Elements {
					if _, _, masked := gone(s, p, i); masked {
						r := drawn(s.Elements[i].Bounds.Inset(-4), scale) // with the paint outside of its bounds
						draw.Draw(m, r, image.NewUniform(secretColor), image.Point{}, draw.Src)
						draw.Draw(may, r.Inset(-near), image.Opaque, image.Point{}, draw.Src)
					}
				}
				setPicture(t, s, m)
				o, _, err := redact.Redact(s, p, redact.Options{})
				require.NoError(rt, err)
				got := pixels(t, o)
				mask, white := [4]byte(pixel(redact.MaskColor())), [4]byte{255, 255, 255, 255}
				for i, allowed := range may.Pix {
					switch c := [4]byte(got.Pix[4*i:]); {
					case c == mask && allowed == 0:
						rt.Fatalf("%d,%d is masked for nothing", i%size.X, i/size.X)
					case c != mask && c != white:
						rt.Fatalf("leak: %d,%d is %v", i%size.X, i/size.X, c)
					}
				}
			})
		})
	}
}

func TestPC05NothingHiddenSurvives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, p := tree(rt, t)
		o, rows, err := redact.Redact(s, p, redact.Options{NoImage: rapid.Bool().Draw(rt, "no image"), MaxElements: 1000})
		require.NoError(rt, err)
		text := all(o)
		covered, listed, at := 0, map[int]bool{}, map[int]int{}
		for row, i := range rows {
			listed[i], at[i] = true, row
		}
		for i := range s.Elements {
			hidden, omitted, _ := gone(s, p, i)
			if hidden {
				if up := s.Elements[i].Parent; up < 0 || !hiddenAt(s, p, up) {
					covered++
				}
			}
			require.Equal(rt, !hidden && !omitted, listed[i], "element %d", i)
			for _, field := range []string{"text", "action", "token"} {
				require.NotContains(rt, text, canary(i, field))
			}
			if hidden || omitted || s.Elements[i].Role == driver.RolePassword {
				require.NotContains(rt, text, canary(i, "value"))
			}
			if hidden || omitted {
				require.NotContains(rt, text, canary(i, "label"))
			} else if p.Verdicts[i] == redact.Show && s.Elements[i].Role != driver.RolePassword && !holdsHidden(s, p, i) {
				e, _ := o.Element(at[i])
				require.Equal(rt, canary(i, "label"), e.Label)
				require.Equal(rt, canary(i, "value"), e.Value)
				require.Equal(rt, p.Levels[i], e.Level)
			}
		}
		require.Equal(rt, covered, o.Covered())
		require.Equal(rt, len(rows), strings.Count(o.Text(), "\n")-1)
		for e := range o.Elements() {
			require.Less(rt, e.Parent, e.Index)
			require.True(rt, e.Bounds.In(image.Rectangle{Max: o.Size()}))
		}
	})
}

func hiddenAt(s *driver.Snapshot, p redact.Plan, i int) bool {
	hidden, _, _ := gone(s, p, i)
	return hidden
}

// holdsHidden reports whether element i is an ancestor of a hidden one.
func holdsHidden(s *driver.Snapshot, p redact.Plan, i int) bool {
	for j := range s.Elements {
		if p.Verdicts[j] != redact.Hide {
			continue
		}
		for a := s.Elements[j].Parent; a >= 0; a = s.Elements[a].Parent {
			if a == i {
				return true
			}
		}
	}
	return false
}

func TestPC49MoreHidingNeverShowsMore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, p := tree(rt, t)
		before, _, err := redact.Redact(s, p, redact.Options{NoImage: true, MaxElements: 1000})
		require.NoError(rt, err)
		i := rapid.IntRange(0, len(s.Elements)-1).Draw(rt, "hidden")
		p.Verdicts[i] = redact.Hide
		after, _, err := redact.Redact(s, p, redact.Options{NoImage: true, MaxElements: 1000})
		require.NoError(rt, err)
		seen := map[string]int{}
		for e := range before.Elements() {
			seen[e.Label]++
			seen[e.Value]++
		}
		for e := range after.Elements() {
			require.True(rt, e.Label == "" || seen[e.Label] > 0)
			require.True(rt, e.Value == "" || seen[e.Value] > 0)
		}
		require.LessOrEqual(rt, len(slices.Collect(after.Elements())), len(slices.Collect(before.Elements())))
	})
}

func FuzzRedactStrings(f *testing.F) {
	f.Add("sk-test-1", "LOG: sk-test-1")
	f.Add("秘密", "x\u200b")
	f.Fuzz(func(t *testing.T, hidden, kept string) {
		s := snapshot(t, element(-1, hidden, 0, 0, 20, 20), element(-1, kept, 100, 100, 20, 20))
		p := plan(s)
		p.Verdicts[0] = redact.Hide
		o, _, err := redact.Redact(s, p, redact.Options{NoImage: true})
		require.NoError(t, err)
		e, _ := o.Element(0)
		if len(hidden) >= 16 && !strings.ContainsFunc(hidden, func(r rune) bool { return r < '0' || r > 'z' || r > '9' && r < 'a' }) {
			require.NotContains(t, strings.ToLower(e.Label), hidden)
		}
		require.NotContains(t, e.Label, "\n")
		require.Equal(t, 2, strings.Count(o.Text(), "\n"))
	})
}
