package cua

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
)

// TestPC04Margins moves elements as they were measured to be off, and only
// those.
func TestPC04Margins(t *testing.T) {
	window := image.Rect(10, 10, 910, 710)
	at := func(x, y int, inPage bool) element {
		return element{Element: driver.Element{Bounds: image.Rect(x, y, x+50, y+20)}, inPage: inPage}
	}
	tests := []struct {
		name    string
		m       margins
		root    image.Point
		modern  bool
		want    [3]image.Point // of the root, a control of the window, one of the page
		slack   int
		nothing bool
	}{
		{"0.21 moves all", margins{known: true, left: 4, right: 4, bottom: 4}, image.Pt(14, 10), false, [3]image.Point{{10, 10}, {96, 100}, {196, 200}}, 4, false},
		{"0.37 moves the page", margins{known: true, left: 4, right: 4, bottom: 4}, image.Pt(10, 10), true, [3]image.Point{{10, 10}, {100, 100}, {196, 200}}, 4, false},
		{"0.21 with a root in its place", margins{known: true, left: 4, right: 6, bottom: 4}, image.Pt(10, 10), false, [3]image.Point{{10, 10}, {100, 100}, {200, 200}}, 6, false},
		{"a margin above", margins{known: true, left: 4, top: 9}, image.Pt(14, 19), false, [3]image.Point{{10, 10}, {96, 91}, {196, 191}}, 9, false},
		{"none", margins{known: true}, image.Pt(14, 10), false, [3]image.Point{{14, 10}, {100, 100}, {200, 200}}, 0, false},
		{"below only", margins{known: true, bottom: 7}, image.Pt(10, 10), true, [3]image.Point{{10, 10}, {100, 100}, {200, 200}}, 7, false},
		{"not known", margins{}, image.Pt(14, 10), false, [3]image.Point{{14, 10}, {100, 100}, {200, 200}}, 8, false},
		{"no elements", margins{known: true, left: 4}, image.Point{}, false, [3]image.Point{}, 4, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.slack, tt.m.slack())
			if tt.nothing {
				tt.m.place(nil, window, tt.modern)
				return
			}
			frameless := element{inPage: true}
			all := []element{at(tt.root.X, tt.root.Y, false), at(100, 100, false), at(200, 200, true), frameless}
			tt.m.place(all, window, tt.modern)
			for i, want := range tt.want {
				require.Equal(t, want, all[i].Bounds.Min)
				require.Equal(t, image.Pt(50, 20), all[i].Bounds.Size())
			}
			require.False(t, all[3].HasBounds())
		})
	}
}
