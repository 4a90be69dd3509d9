package policy_test

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func TestPC33Identity(t *testing.T) {
	s := page()
	id := policy.Identify(s, save)
	require.Equal(t, policy.Identity{
		Role: driver.RoleButton, Raw: "button", Label: "Save", Path: []string{`form "New customer"`, "form/document/window"},
		Bounds: s.Elements[save].Bounds, Count: 1,
		Window: policy.Window{PID: 4242, Start: 81237, WindowID: 77, App: "chromium", Site: "https://acme.example"},
	}, id)
	for _, c := range []struct {
		name   string
		change func(*driver.Snapshot)
		same   bool
	}{
		{"nothing", func(*driver.Snapshot) {}, true},
		{"place", func(s *driver.Snapshot) { s.Elements[save].Bounds = image.Rect(0, 0, 5, 5) }, true},
		{"title", func(s *driver.Snapshot) {
			s.Window.Title, s.Elements[frame].Label, s.Elements[document].Label = "x", "x", "x"
		}, true},
		{"value", func(s *driver.Snapshot) { s.Elements[field].Value = "Grace" }, true},
		{"label", func(s *driver.Snapshot) { s.Elements[save].Label = "Pay now" }, false},
		{"role", func(s *driver.Snapshot) { s.Elements[save].Role = driver.RoleLink }, false},
		{"the toolkit's word", func(s *driver.Snapshot) { s.Elements[save].RawRole = "toggle button" }, false},
		{"box", func(s *driver.Snapshot) { s.Elements[form].Label = "Old customer" }, false},
		{"ancestry", func(s *driver.Snapshot) { s.Elements[save].Parent = document }, false},
		{"window", func(s *driver.Snapshot) { s.Window.Ref.ID++ }, false},
		{"start", func(s *driver.Snapshot) { s.Window.Start++ }, false},
		{"site", func(s *driver.Snapshot) { s.Window.Site = "https://b.example" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := page()
			c.change(s)
			require.Equal(t, c.same, policy.Identify(s, save).Equal(id))
			i, n := policy.Find(s, id)
			if c.same {
				require.Equal(t, []int{save, 1}, []int{i, n})
				return
			}
			require.Equal(t, []int{-1, 0}, []int{i, n})
		})
	}
}

// TestPC18Twins: controls that are alike are told apart by their place, and
// not at all when one of them is gone.
func TestPC18Twins(t *testing.T) {
	twins := func(n int) *driver.Snapshot {
		s := page()
		for i := range n - 1 {
			e := s.Elements[save]
			e.Bounds = e.Bounds.Add(image.Pt(200*(i+1), 0))
			s.Elements = append(s.Elements, e)
		}
		return s
	}
	s := twins(3)
	id := policy.Identify(s, save)
	require.Equal(t, 3, id.Count)
	i, n := policy.Find(s, id)
	require.Equal(t, []int{save, 3}, []int{i, n})
	i, n = policy.Find(s, policy.Identify(s, blob+2))
	require.Equal(t, []int{blob + 2, 3}, []int{i, n})
	require.True(t, policy.Identify(s, blob+2).Equal(id))

	_, n = policy.Find(twins(2), id)
	require.Zero(t, n, "one is gone; who knows which")
	i, n = policy.Find(twins(4), id)
	require.Equal(t, []int{save, 4}, []int{i, n})
	require.False(t, policy.Identify(twins(4), save).Equal(id), "among more of its like")
	i, n = policy.Find(twins(1), policy.Identify(twins(1), save))
	require.Equal(t, []int{save, 1}, []int{i, n})
	for k := range s.Elements {
		s.Elements[k].Bounds = s.Elements[k].Bounds.Add(image.Pt(0, 7))
	}
	i, n = policy.Find(s, id)
	require.Equal(t, []int{-1, 3}, []int{i, n}, "all have moved")
	i, n = policy.Find(s, policy.Identity{Role: driver.RoleMenu})
	require.Equal(t, []int{-1, 0}, []int{i, n})
}

// TestPC33Rows: a row without a name is known by what stands in it.
func TestPC33Rows(t *testing.T) {
	row := func(parent int, role driver.Role, label string) driver.Element { return el(parent, role, label) }
	table := func(first, second string) *driver.Snapshot {
		return &driver.Snapshot{Window: console(), Elements: []driver.Element{
			el(-1, driver.RoleTable, "Users"),
			row(0, driver.RoleRow, ""), row(1, driver.RoleCell, first), row(1, driver.RoleButton, "Delete"),
			row(0, driver.RoleRow, ""), row(4, driver.RoleCell, second), row(4, driver.RoleTextbox, ""), row(4, driver.RoleButton, "Delete"),
			row(0, driver.RoleListItem, "Named"), row(8, driver.RoleButton, "Delete"),
		}}
	}
	id := policy.Identify(table("Ada", "Grace"), 3)
	require.Equal(t, []string{`row "\"Ada\"\"Delete\""`, `table "Users"`, "row/table"}, id.Path)
	require.Equal(t, 1, id.Count)
	i, n := policy.Find(table("Grace", "Ada"), id)
	require.Equal(t, []int{7, 1}, []int{i, n}, "the rows were sorted: it is Ada's still")
	_, n = policy.Find(table("Eve", "Grace"), id)
	require.Zero(t, n)
	require.Equal(t, `listitem "Named"`, policy.Identify(table("Ada", "Grace"), 9).Path[0])
	same := policy.Identify(table("Ada", "Ada"), 3)
	require.Equal(t, 2, same.Count, "an empty field says nothing")
}

// TestPC33Value: a field whose label is its value has no name that typing
// could change.
func TestPC33Value(t *testing.T) {
	s := page()
	s.Elements[field].Label = "Ada"
	id := policy.Identify(s, field)
	require.Empty(t, id.Label)
	s.Elements[field].Label, s.Elements[field].Value = "Grace", "Grace"
	require.True(t, policy.Identify(s, field).Equal(id))
	s.Elements[blob].RawRole = "Blob "
	require.Equal(t, "blob", policy.Identify(s, blob).Raw)
	s.Elements = append(s.Elements, el(blob, driver.RoleButton, "x"))
	require.Equal(t, `blob "Blob"`, policy.Identify(s, len(s.Elements)-1).Path[0])
}

// TestPC19Encode: different identities have different texts.
func TestPC19Encode(t *testing.T) {
	s := page()
	seen := map[string]int{}
	for i := range s.Elements {
		text := string(policy.Identify(s, i).Encode())
		require.NotContains(t, seen, text)
		seen[text] = i
		require.Equal(t, text, string(policy.Identify(page(), i).Encode()))
	}
	a := policy.Identity{Label: "a,1:b", Path: []string{"c"}}
	b := policy.Identity{Label: "a", Path: []string{"b", "c"}}
	require.NotEqual(t, a.Encode(), b.Encode())
	a.Label, b.Label, b.Path = "\xff", "\xfe", a.Path
	require.NotEqual(t, a.Encode(), b.Encode(), "bytes that are no text")
}
