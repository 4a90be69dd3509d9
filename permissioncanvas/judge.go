package permissioncanvas

import (
	"image"
	"slices"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
	"github.com/permission-canvas/permission-canvas/redact"
)

// This file judges a look and does nothing: no clock, no disk, no desktop.

// center is where a pointer that operates e goes, in screen pixels.
func center(e *driver.Element) image.Point {
	return image.Pt((e.Bounds.Min.X+e.Bounds.Max.X)/2, (e.Bounds.Min.Y+e.Bounds.Max.Y)/2)
}

// shown says that the agent can see element i with its strings.
func shown(look *sight.Look, i int) bool {
	return look.Plan.Verdicts[i] == redact.Show || look.Plan.Verdicts[i] == redact.Veil
}

// gone says that element i does not exist for the agent.
func gone(look *sight.Look, i int) bool {
	return look.Plan.Verdicts[i] == redact.Hide || look.Plan.Verdicts[i] == redact.Omit
}

// operable says that input can change e, as far as its role tells: an unknown
// role can.
func operable(e *driver.Element) bool {
	switch e.Role {
	case driver.RoleWindow, driver.RoleDialog, driver.RoleDocument, driver.RoleGroup, driver.RoleForm, driver.RoleText,
		driver.RoleHeading, driver.RoleParagraph, driver.RoleImage, driver.RoleList, driver.RoleTable, driver.RoleRow,
		driver.RoleScroll, driver.RoleToolbar, driver.RoleStatus, driver.RoleProgress, driver.RoleTooltip,
		driver.RoleAlert, driver.RoleSeparator, driver.RoleMenubar, driver.RoleTabList, driver.RoleScrollbar,
		driver.RoleTree:
		return false
	}
	return true
}

// editable says that a middle click or a drag there could paste or move text.
func editable(e *driver.Element) bool { return e.Role.IsTextField() || e.Role == driver.RoleCombobox }

// A ground finds the elements under a point among those that matter there:
// those that can be operated, are hidden, or are restricted by a rule of their
// own. It is a grid of squares, each with the elements that touch it.
type ground struct {
	look   *sight.Look
	area   image.Rectangle // what the grid lies over
	shift  int             // a square's side is 1<<shift pixels
	across int             // squares in a row
	first  []int32         // of each square, where its elements begin in items
	items  []int32
	large  []int32 // in more squares than are worth listing, or beyond the grid
}

// farthest bounds what the grid lies over; no screen is larger.
var farthest = image.Rect(-1<<16, -1<<16, 1<<17, 1<<17)

func newGround(look *sight.Look) *ground {
	g := &ground{look: look, shift: 6}
	var here []int32
	for i := range look.Snapshot.Elements {
		e, v := &look.Snapshot.Elements[i], look.Judgement.Verdicts[i]
		// What is left out only because it touches something hidden matters where
		// it takes input: browsers lay panels over the whole page.
		hidden := look.Plan.Verdicts[i] == redact.Hide
		if !e.HasBounds() || !operable(e) && !hidden && (v.Default || v.Level == driver.LevelAllow) {
			continue
		}
		if !e.Bounds.In(farthest) {
			g.large = append(g.large, int32(i))
			continue
		}
		here = append(here, int32(i))
		g.area = g.area.Union(e.Bounds)
	}
	for g.area.Dx()>>g.shift*(g.area.Dy()>>g.shift) > 1<<16 {
		g.shift++
	}
	g.across = g.area.Dx()>>g.shift + 1
	g.first = make([]int32, g.across*(g.area.Dy()>>g.shift+1)+1)
	kept := here[:0]
	for _, i := range here {
		if g.squares(i, func(n int) { g.first[n+1]++ }) {
			kept = append(kept, i)
		} else {
			g.large = append(g.large, i)
		}
	}
	for n := 1; n < len(g.first); n++ {
		g.first[n] += g.first[n-1]
	}
	g.items = make([]int32, g.first[len(g.first)-1])
	next := slices.Clone(g.first)
	for _, i := range kept {
		g.squares(i, func(n int) {
			g.items[next[n]] = i
			next[n]++
		})
	}
	return g
}

// squares calls f with each square that element i touches, or reports that
// there are too many.
func (g *ground) squares(i int32, f func(int)) bool {
	r := g.look.Snapshot.Elements[i].Bounds.Sub(g.area.Min)
	x0, y0, x1, y1 := r.Min.X>>g.shift, r.Min.Y>>g.shift, (r.Max.X-1)>>g.shift, (r.Max.Y-1)>>g.shift
	if (x1-x0+1)*(y1-y0+1) > 64 {
		return false
	}
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			f(y*g.across + x)
		}
	}
	return true
}

// at yields what matters under p.
func (g *ground) at(p image.Point) func(func(int) bool) {
	return func(yield func(int) bool) {
		lists := [2][]int32{g.large}
		if p.In(g.area) {
			q := p.Sub(g.area.Min)
			n := q.Y>>g.shift*g.across + q.X>>g.shift
			lists[1] = g.items[g.first[n]:g.first[n+1]]
		}
		for _, list := range lists {
			for _, i := range list {
				if p.In(g.look.Snapshot.Elements[i].Bounds) && !yield(int(i)) {
					return
				}
			}
		}
	}
}

// over yields what matters at the point where target is operated: not target,
// not what contains it without a rule of its own, and not the list that a
// closed combo box keeps where it stands.
func (g *ground) over(target int) func(func(int) bool) {
	s := g.look.Snapshot
	combo := s.Elements[target].Role == driver.RoleCombobox
	return func(yield func(int) bool) {
		for i := range g.at(center(&s.Elements[target])) {
			switch {
			case i == target, combo && isChoice(s, i, target):
			case g.look.Judgement.Verdicts[i].Default && !gone(g.look, i) && isWithin(s, target, i):
			default:
				if !yield(i) {
					return
				}
			}
		}
	}
}

// isChoice says that i is of the list of combo box target.
func isChoice(s *driver.Snapshot, i, target int) bool {
	switch s.Elements[i].Role {
	case driver.RoleMenu, driver.RoleMenuItem, driver.RoleListbox, driver.RoleOption, driver.RoleListItem:
		return isWithin(s, i, target)
	}
	return false
}

// isWithin says that outer is an ancestor of i.
func isWithin(s *driver.Snapshot, i, outer int) bool {
	for up := range s.Path(i) {
		if up == outer {
			return true
		}
	}
	return false
}

// levels is what an act on each element will meet, for the marks in the tree
// and for Act alike: the strictest of its own verdict, of every rule that
// names a node under the point where it is operated, and of every control
// that lies there (PC35).
func levels(g *ground, cfg guard.Config) []Level {
	s, v := g.look.Snapshot, g.look.Judgement.Verdicts
	tier := cfg.Decide("click").Tier
	out := make([]Level, len(s.Elements))
	for i := range out {
		out[i] = v[i].Level
		if s.Elements[i].HasBounds() {
			for n := range g.over(i) {
				out[i] = driver.Stricter(out[i], v[n].Level)
			}
		}
		switch tier {
		case guard.Ask:
			out[i] = driver.Stricter(out[i], driver.LevelAsk)
		case guard.Deny:
			out[i] = driver.Stricter(out[i], driver.LevelReadOnly)
		}
	}
	return out
}

// lying names what lies over target: two looks in which it differs are not the
// same place to press.
func lying(g *ground, target int) []string {
	var out []string
	for i := range g.over(target) {
		e := &g.look.Snapshot.Elements[i]
		out = append(out, string(e.Role)+" "+e.Label)
	}
	slices.Sort(out)
	return out
}

// crosses says that the way from a to b touches r.
func crosses(a, b image.Point, r image.Rectangle) bool {
	t0, t1 := 0.0, 1.0
	d := b.Sub(a)
	for _, side := range [4][2]float64{
		{float64(-d.X), float64(a.X - r.Min.X)}, {float64(d.X), float64(r.Max.X - 1 - a.X)},
		{float64(-d.Y), float64(a.Y - r.Min.Y)}, {float64(d.Y), float64(r.Max.Y - 1 - a.Y)},
	} {
		p, q := side[0], side[1]
		switch {
		case p == 0 && q < 0:
			return false
		case p < 0:
			t0 = max(t0, q/p)
		case p > 0:
			t1 = min(t1, q/p)
		}
	}
	return t0 <= t1
}

// menuWords are the first words of menu items that reach the clipboard, and of
// those that leave the page or show what is behind it (PC15, PC36).
var menuWords = map[string]Code{
	"copy": ClipboardRefused, "cut": ClipboardRefused, "paste": ClipboardRefused, "undo": ClipboardRefused, "redo": ClipboardRefused,
	"kopieren": ClipboardRefused, "ausschneiden": ClipboardRefused, "einfügen": ClipboardRefused,
	"copier": ClipboardRefused, "couper": ClipboardRefused, "coller": ClipboardRefused,
	"copiar": ClipboardRefused, "cortar": ClipboardRefused, "pegar": ClipboardRefused, "colar": ClipboardRefused,
	"copia": ClipboardRefused, "taglia": ClipboardRefused, "incolla": ClipboardRefused,
	"print": ToolDenied, "save": ToolDenied, "inspect": ToolDenied, "view": ToolDenied,
	"drucken": ToolDenied, "speichern": ToolDenied, "untersuchen": ToolDenied,
	"imprimer": ToolDenied, "enregistrer": ToolDenied, "inspecter": ToolDenied,
	"imprimir": ToolDenied, "guardar": ToolDenied, "inspeccionar": ToolDenied, "stampa": ToolDenied, "salva": ToolDenied,
}

// menuItem refuses a menu item by its words.
func menuItem(e *driver.Element) error {
	if e.Role != driver.RoleMenuItem {
		return nil
	}
	first, _, _ := strings.Cut(strings.Trim(strings.ToLower(strings.NewReplacer("_", "", "&", "", "…", " ").Replace(e.Label)), " "), " ")
	switch menuWords[strings.Trim(first, ".,:\t\u00a0")] {
	case ClipboardRefused:
		return refuse(ClipboardRefused, nil)
	case ToolDenied:
		return refuse(ToolDenied, nil, "this menu item")
	}
	return nil
}
