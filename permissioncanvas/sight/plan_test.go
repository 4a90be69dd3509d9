package sight_test

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
	"github.com/permission-canvas/permission-canvas/redact"
)

// judged returns a judgement that hides the given elements and asks for the
// rest.
func judged(s *driver.Snapshot, hidden ...int) policy.Judgement {
	j := policy.Judgement{Verdicts: make([]policy.Verdict, len(s.Elements))}
	for i := range j.Verdicts {
		j.Verdicts[i] = policy.Verdict{Level: driver.LevelAsk, Default: true}
	}
	for _, i := range hidden {
		j.Verdicts[i] = policy.Verdict{Level: driver.LevelHide, Hidden: true}
	}
	return j
}

func snapshot(elements ...driver.Element) *driver.Snapshot {
	w := driver.Window{Ref: ref, Bounds: image.Rect(100, 50, 500, 350)}
	return &driver.Snapshot{Window: w, Elements: elements, Frame: w.Bounds, AllText: true}
}

func TestPC05OverlapOmitsWithoutItsSiblings(t *testing.T) {
	s := snapshot(
		element(-1, driver.RoleWindow, "window", 0, 0, 400, 300), // 0
		element(0, driver.RoleGroup, "box", 0, 0, 200, 100),      // 1
		element(1, driver.RoleText, "key", 10, 10, 100, 20),      // 2 hidden
		element(2, driver.RoleText, "popup", 300, 10, 50, 50),    // 3 hidden with it
		element(1, driver.RoleButton, "over", 100, 20, 50, 20),   // 4 overlaps
		element(4, driver.RoleText, "in it", 120, 32, 20, 6),     // 5 its child does not
		element(1, driver.RoleButton, "sibling", 10, 60, 50, 20), // 6
		element(0, driver.RoleLink, "by popup", 340, 50, 20, 20), // 7 overlaps the popup
		element(0, driver.RoleLink, "touching", 110, 10, 20, 5),  // 8 touches an edge only
	)
	p := sight.Plan(s, judged(s, 2))
	require.Equal(t, []redact.Verdict{
		redact.Bare, redact.Bare, redact.Hide, redact.Hide, redact.Omit, redact.Show, redact.Show, redact.Omit, redact.Show,
	}, p.Verdicts)
	require.Equal(t, driver.LevelReadOnly, p.Levels[1])
	require.Equal(t, driver.LevelAsk, p.Levels[6])
}

func TestPC49JudgementsThatDoNotFitHideAll(t *testing.T) {
	s := snapshot(element(-1, driver.RoleButton, "a", 0, 0, 10, 10), element(-1, driver.RoleButton, "b", 20, 20, 10, 10))
	for _, j := range []policy.Judgement{{}, {Verdicts: make([]policy.Verdict, 1)}, {Verdicts: make([]policy.Verdict, 3)}, {Verdicts: make([]policy.Verdict, 2)}} {
		p := sight.Plan(s, j)
		require.Equal(t, []redact.Verdict{redact.Hide, redact.Hide}, p.Verdicts)
	}
}

func TestPC07FramelessElements(t *testing.T) {
	web := func(e driver.Element) driver.Element { e.Web = true; return e }
	none := func(parent int) driver.Element {
		return driver.Element{Parent: parent, Role: driver.RoleMenuItem, Label: "frameless"}
	}
	doc := web(element(0, driver.RoleDocument, "page", 0, 50, 400, 250))
	root := element(-1, driver.RoleWindow, "window", 0, 0, 400, 300)
	bar := element(0, driver.RoleToolbar, "bar", 0, 0, 400, 40)
	key := web(element(1, driver.RoleText, "key", 10, 100, 100, 20))
	for _, c := range []struct {
		name     string
		elements []driver.Element
		hidden   []int
		want     redact.Verdict // of the last one
	}{
		{"nothing hidden", []driver.Element{none(-1)}, nil, redact.Show},
		{"no ancestry", []driver.Element{element(-1, driver.RoleText, "key", 0, 0, 10, 10), none(-1)}, []int{0}, redact.Omit},
		{"below what touches", []driver.Element{root, doc, key, none(1)}, []int{2}, redact.Omit},
		{"below what touches, further up", []driver.Element{root, doc, key, none(1), none(3)}, []int{2}, redact.Omit},
		{"below what does not touch", []driver.Element{root, doc, key, element(-1, driver.RoleToolbar, "bar", 0, 0, 400, 40), none(3)}, []int{2}, redact.Show},
		{"the window above it touches", []driver.Element{root, doc, key, bar, none(3)}, []int{2}, redact.Omit},
		{"at the root, only the page hides", []driver.Element{root, doc, key, none(-1)}, []int{2}, redact.Show},
		{"below such a one", []driver.Element{root, doc, key, none(-1), none(3)}, []int{2}, redact.Show},
		{"at the root, of a page itself", []driver.Element{root, doc, key, web(none(-1))}, []int{2}, redact.Omit},
		{"at the root, something else hides", []driver.Element{root, doc, key, bar, none(-1)}, []int{2, 3}, redact.Omit},
		{"an ancestor of what is hidden", []driver.Element{element(1, driver.RoleText, "key", 0, 0, 10, 10), none(-1)}, []int{0}, redact.Bare},
		{"hidden itself", []driver.Element{root, doc, web(none(1))}, []int{1}, redact.Hide},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshot(c.elements...)
			p := sight.Plan(s, judged(s, c.hidden...))
			require.Equal(t, c.want, p.Verdicts[len(p.Verdicts)-1])
		})
	}
}

func TestPC06FramelessContentOfAHiddenPage(t *testing.T) {
	doc := element(-1, driver.RoleDocument, "page", 0, 50, 400, 250)
	doc.Web = true
	s := snapshot(doc, driver.Element{Parent: 0, Web: true, Label: "CANARY"}, element(-1, driver.RoleButton, "Back", 0, 0, 50, 20))
	o, rows, err := redact.Redact(s, sight.Plan(s, judged(s, 0)), redact.Options{NoImage: true})
	require.NoError(t, err)
	require.Equal(t, []int{2}, rows)
	require.NotContains(t, o.Text(), "CANARY")
	require.Equal(t, 1, o.Covered())

	s.Elements[0].Role = driver.RoleGroup
	_, _, err = redact.Redact(s, sight.Plan(s, judged(s, 0)), redact.Options{NoImage: true})
	require.ErrorIs(t, err, redact.ErrWithheld)
}

func TestPC29PasswordsInAPlan(t *testing.T) {
	s := snapshot(element(-1, driver.RolePassword, "PIN", 0, 0, 100, 20), element(0, driver.RoleText, "hunter2", 0, 0, 50, 20),
		element(-1, driver.RoleButton, "Save", 0, 100, 50, 20))
	p := sight.Plan(s, judged(s))
	require.Equal(t, []redact.Verdict{redact.Veil, redact.Omit, redact.Show}, p.Verdicts)
}

func TestPlanOfTreesOutOfOrder(t *testing.T) {
	s := snapshot(element(1, driver.RoleText, "child", 0, 0, 10, 10), element(2, driver.RoleGroup, "hidden", 50, 50, 10, 10),
		element(-1, driver.RoleWindow, "root", 0, 0, 400, 300), element(4, driver.RoleText, "loop", 100, 100, 10, 10), element(3, driver.RoleText, "loop", 120, 120, 10, 10))
	p := sight.Plan(s, judged(s, 1))
	require.Equal(t, []redact.Verdict{redact.Hide, redact.Hide, redact.Bare, redact.Show, redact.Show}, p.Verdicts)
	p = sight.Plan(s, judged(s, 3))
	require.Equal(t, redact.Hide, p.Verdicts[4])
}

// TestPC05Plans compares the plan with the plainest reading of the rules, and
// what redact makes of it with what was drawn.
func TestPC05Plans(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 24).Draw(rt, "elements")
		s, hidden := snapshot(), []int{}
		for i := range n {
			e := element(rapid.IntRange(-1, i-1).Draw(rt, "parent"), rapid.SampledFrom([]driver.Role{driver.RoleButton, driver.RoleDocument, driver.RoleGroup}).Draw(rt, "role"),
				fmt.Sprintf("#canary-%02d#", i), rapid.IntRange(-20, 130).Draw(rt, "x"), rapid.IntRange(-20, 90).Draw(rt, "y"),
				rapid.IntRange(1, 50).Draw(rt, "w"), rapid.IntRange(1, 30).Draw(rt, "h"))
			e.Web = rapid.Bool().Draw(rt, "web")
			s.Elements = append(s.Elements, e)
			if rapid.IntRange(0, 4).Draw(rt, "hide") == 0 {
				hidden = append(hidden, i)
			}
		}
		s.Window.Bounds = image.Rect(100, 50, 220, 130)
		scale := rapid.SampledFrom([]float64{0.7, 1, 1.25, 1.5, 1.75, 2}).Draw(rt, "scale")
		gone := func(i int) bool {
			for ; i >= 0; i = s.Elements[i].Parent {
				for _, h := range hidden {
					if h == i {
						return true
					}
				}
			}
			return false
		}
		draws(t, s, scale, gone)
		o, rows, err := redact.Redact(s, sight.Plan(s, judged(s, hidden...)), redact.Options{})
		require.NoError(rt, err)
		listed := map[int]redact.Element{}
		for row, i := range rows {
			listed[i], _ = o.Element(row)
		}
		for i := range s.Elements {
			holds, overlaps := false, false
			for k := range s.Elements {
				if !gone(k) {
					continue
				}
				overlaps = overlaps || s.Elements[k].Bounds.Overlaps(s.Elements[i].Bounds)
				for up := range s.Path(k) {
					holds = holds || up == i
				}
			}
			e, seen := listed[i]
			switch {
			case gone(i):
				require.False(rt, seen)
			case holds:
				require.True(rt, seen)
				require.Empty(rt, e.Label)
			default:
				require.Equal(rt, !overlaps, seen, "element %d", i)
			}
			if seen && !holds {
				require.Equal(rt, s.Elements[i].Label, e.Label)
			}
		}
		m := pixels(t, o)
		for i := 0; i < len(m.Pix); i += 4 {
			if m.Pix[i] == secretColor.R && m.Pix[i+1] == secretColor.G && m.Pix[i+2] == secretColor.B {
				rt.Fatalf("a pixel of something hidden is left")
			}
		}
	})
}

// draws paints what gone says in the secret colour, wherever a toolkit may.
func draws(t testing.TB, s *driver.Snapshot, scale float64, gone func(int) bool) {
	s.Frame = s.Window.Bounds
	size := image.Pt(int(float64(s.Frame.Dx())*scale), int(float64(s.Frame.Dy())*scale))
	m := image.NewNRGBA(image.Rectangle{Max: size})
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	for i := range s.Elements {
		if gone(i) {
			r := s.Elements[i].Bounds.Inset(-4).Sub(s.Frame.Min)
			at := func(n int) int { return int(float64(n)*scale+1000) - 1000 }
			r = image.Rect(at(r.Min.X), at(r.Min.Y), at(r.Max.X)+1, at(r.Max.Y)+1)
			draw.Draw(m, r, image.NewUniform(secretColor), image.Point{}, draw.Src)
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	s.Image, s.Size = b.Bytes(), size
}

func BenchmarkPlan(b *testing.B) {
	for _, c := range []struct{ n, hidden int }{{2000, 100}, {10000, 1000}} {
		b.Run(fmt.Sprintf("%d of %d hidden", c.hidden, c.n), func(b *testing.B) {
			s := snapshot(element(-1, driver.RoleTable, "table", 0, 0, 400, 20*c.n))
			var hidden []int
			for i := 1; i < c.n; i++ {
				s.Elements = append(s.Elements, element(0, driver.RoleRow, "row", 0, 20*i, 400, 20))
				if i%(c.n/c.hidden) == 0 {
					hidden = append(hidden, i)
				}
			}
			j := judged(s, hidden...)
			for b.Loop() {
				sight.Plan(s, j)
			}
		})
	}
}

// BenchmarkPolicyAndRedact is all that stands between a tree and its text.
func BenchmarkPolicyAndRedact(b *testing.B) {
	for _, n := range []int{2000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := snapshot(element(-1, driver.RoleTable, "table", 0, 0, 400, 20*n))
			for i := 1; i < n; i++ {
				s.Elements = append(s.Elements, element(0, driver.RoleRow, fmt.Sprintf("row %d of Ada's table", i), 0, 20*i, 400, 20))
			}
			p := rules(b, nil, policy.Match{App: "console", Role: "row", Label: "row 17 of Ada's table"}, policy.Match{TextRegex: "row [0-9]*5 of"})
			for b.Loop() {
				j := p.Judge(s, nil)
				_, _, err := redact.Redact(s, sight.Plan(s, j), redact.Options{NoImage: true})
				require.NoError(b, err)
			}
		})
	}
}
