package cua

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
)

// TestBX02WindowsOfOneProcess: a reading has nothing of another window.
func TestBX02WindowsOfOneProcess(t *testing.T) {
	node := func(parent int, role driver.Role, label string) element {
		return element{Element: driver.Element{Parent: parent, Role: role, Label: label}}
	}
	frames := []element{
		node(-1, driver.RoleWindow, "One"), node(0, driver.RoleGroup, "a"), node(1, driver.RoleButton, "Save 1"),
		node(-1, driver.RoleWindow, "bubble"), node(3, driver.RoleButton, "OK"),
		node(-1, driver.RoleWindow, "Two"), node(5, driver.RoleButton, "Save 2"), node(0, driver.RoleLink, "late 1"),
	}
	loose := []element{node(-1, driver.RoleButton, "Save"), node(-1, driver.RoleTextbox, "")}
	at := image.Rect(10, 10, 910, 710)
	window := func(id uint64, pid int, title string, at image.Rectangle) driver.Window {
		return driver.Window{Ref: driver.WindowRef{PID: pid, ID: id}, Title: title, Bounds: at}
	}
	one, two := window(1, 7, "One", at), window(2, 7, "Two", at.Add(image.Pt(10, 10)))
	far := window(2, 7, "Two", at.Add(image.Pt(300, 0)))
	tests := []struct {
		name   string
		all    []element
		w      driver.Window
		others []driver.Window
		want   []string // labels; nil: refused
	}{
		{"alone", frames, one, []driver.Window{one}, []string{"One", "a", "Save 1", "bubble", "OK", "Two", "Save 2", "late 1"}},
		{"another process does not count", loose, one, []driver.Window{one, window(3, 8, "One", at)}, []string{"Save", ""}},
		{"the first of two", frames, one, []driver.Window{one, two}, []string{"One", "a", "Save 1", "late 1"}},
		{"the second of two", frames, two, []driver.Window{one, two}, []string{"Two", "Save 2"}},
		{"two far apart", frames, far, []driver.Window{one, far}, []string{"Two", "Save 2"}},
		{"no tops, far apart", loose, one, []driver.Window{one, far}, []string{"Save", ""}},
		{"no tops, close", loose, one, []driver.Window{one, two}, nil},
		{"another title, close", frames, window(1, 7, "Three", at), []driver.Window{window(1, 7, "Three", at), two}, nil},
		{"two of one name, close", frames, one, []driver.Window{one, window(2, 7, "One", at)}, nil},
		{"two of one name, far apart", frames, one, []driver.Window{one, window(2, 7, "One", far.Bounds)}, []string{"One", "a", "Save 1", "late 1"}},
		{"a place not known", loose, one, []driver.Window{one, window(2, 7, "Two", image.Rectangle{})}, nil},
		{"two tops of one name", append(frames[:3:3], node(-1, driver.RoleDialog, "One")), one, []driver.Window{one, two}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := separate(tt.all, tt.w, tt.others)
			if tt.want == nil {
				require.ErrorIs(t, err, driver.ErrIncomplete)
				return
			}
			require.NoError(t, err)
			labels := make([]string, len(got))
			for i := range got {
				labels[i] = got[i].Label
				require.Less(t, got[i].Parent, i)
			}
			require.Equal(t, tt.want, labels)
		})
	}
	kept, err := separate(frames, one, []driver.Window{one, two})
	require.NoError(t, err)
	require.Equal(t, []int{-1, 0, 1, 0}, []int{kept[0].Parent, kept[1].Parent, kept[2].Parent, kept[3].Parent})
}
