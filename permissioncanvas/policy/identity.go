package policy

import (
	"image"
	"slices"
	"strconv"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Identity says which control is meant, so that it can be found again in a
// later snapshot of the same window. It holds the screen's own words and never
// leaves the machine.
type Identity struct {
	Role   driver.Role
	Raw    string   // the toolkit's word for the role
	Label  string   // "" where the label is the value
	Path   []string // up to three named ancestors, nearest first, then the roles of all
	Bounds image.Rectangle
	Window Window // without a title, which may change
	Count  int    // how many elements of the snapshot are the same but for Bounds
}

// namedAncestors is how many named ancestors an identity holds.
const namedAncestors = 3

// rowText bounds how much of a row's text names the row.
const rowText = 400

// Identify returns the identity of element i of s.
func Identify(s *driver.Snapshot, i int) Identity {
	return newNames(s).identity(i)
}

// Find returns the element of s that id means and how many there are. With more
// than one they are told apart by Bounds: i is the one in the same place, -1
// where that is not exactly one. With fewer than when id was made it is unknown
// which are left: then n is 0.
func Find(s *driver.Snapshot, id Identity) (i, n int) {
	names := newNames(s)
	id.Count = max(id.Count, 1)
	placed, last := []int{}, -1
	for k := range s.Elements {
		if s.Elements[k].Role != id.Role || name(&s.Elements[k]) != id.Label || !names.lone(k).same(id) {
			continue
		}
		n++
		last = k
		if s.Elements[k].Bounds == id.Bounds {
			placed = append(placed, k)
		}
	}
	switch {
	case n < id.Count:
		return -1, 0
	case n == 1:
		return last, 1
	case len(placed) == 1:
		return placed[0], n
	}
	return -1, n
}

// Equal reports whether both mean the same control among as many that are
// alike. Where it stands does not count.
func (id Identity) Equal(o Identity) bool { return id.Count == o.Count && id.same(o) }

func (id Identity) same(o Identity) bool {
	return id.Role == o.Role && id.Raw == o.Raw && id.Label == o.Label && slices.Equal(id.Path, o.Path) && id.Window == o.Window
}

// Encode returns the one text of id, Bounds and Count included: equal for equal
// identities only.
func (id Identity) Encode() []byte {
	w, b := id.Window, id.Bounds
	fields := []string{
		"identity 1", string(id.Role), id.Raw, id.Label, strconv.Itoa(id.Count),
		strconv.Itoa(b.Min.X), strconv.Itoa(b.Min.Y), strconv.Itoa(b.Max.X), strconv.Itoa(b.Max.Y),
		strconv.Itoa(w.PID), strconv.FormatUint(w.Start, 10), strconv.FormatUint(w.WindowID, 10), w.App, w.Site,
	}
	var out []byte
	for _, f := range append(fields, id.Path...) {
		out = strconv.AppendInt(out, int64(len(f)), 10)
		out = append(out, ':')
		out = append(out, f...)
		out = append(out, ',')
	}
	return out
}

// names knows what the elements of a snapshot are called.
type names struct {
	snapshot *driver.Snapshot
	rows     map[int]string
}

func newNames(s *driver.Snapshot) *names { return &names{snapshot: s, rows: map[int]string{}} }

// identity is lone with those counted that are the same.
func (n *names) identity(i int) Identity {
	id := n.lone(i)
	e := &n.snapshot.Elements[i]
	for k := range n.snapshot.Elements {
		if o := &n.snapshot.Elements[k]; o.Role == e.Role && name(o) == id.Label && n.lone(k).same(id) {
			id.Count++
		}
	}
	return id
}

// lone is the identity of element i as if there were no others.
func (n *names) lone(i int) Identity {
	s := n.snapshot
	e := &s.Elements[i]
	id := Identity{Role: e.Role, Raw: rawRole(e), Label: name(e), Bounds: e.Bounds, Window: WindowOf(s.Window)}
	id.Window.Title = ""
	var roles []string
	for p := range s.Path(i) {
		a := &s.Elements[p]
		roles = append(roles, roleName(a))
		if called := n.container(p); called != "" && len(id.Path) < namedAncestors {
			id.Path = append(id.Path, roleName(a)+" "+strconv.Quote(called))
		}
	}
	id.Path = append(id.Path, strings.Join(roles, "/"))
	return id
}

// container is what tells ancestor i from its like: its name, and for a row
// that has none the text in it. A window is named by its title, which changes.
func (n *names) container(i int) string {
	e := &n.snapshot.Elements[i]
	switch e.Role {
	case driver.RoleWindow, driver.RoleDocument:
		return ""
	case driver.RoleRow, driver.RoleListItem, driver.RoleTreeItem:
		if e.Label == "" {
			return n.row(i)
		}
	}
	return name(e)
}

// row joins the labels of what row i contains.
func (n *names) row(i int) string {
	if text, ok := n.rows[i]; ok {
		return text
	}
	var b strings.Builder
	for k := i + 1; k < len(n.snapshot.Elements) && b.Len() < rowText && n.contains(i, k); k++ {
		if label := name(&n.snapshot.Elements[k]); label != "" {
			b.WriteString(strconv.Quote(label))
		}
	}
	n.rows[i] = b.String()
	return n.rows[i]
}

func (n *names) contains(i, k int) bool {
	for p := range n.snapshot.Path(k) {
		if p == i {
			return true
		}
	}
	return false
}

// name is e's label, but for one that is its value.
func name(e *driver.Element) string {
	if (e.Role.IsTextField() || e.Role.IsValueControl()) && e.Label == e.Value {
		return ""
	}
	return e.Label
}

func roleName(e *driver.Element) string {
	if e.Role == driver.RoleUnknown {
		return rawRole(e)
	}
	return string(e.Role)
}
