package cua

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPC12WhatAPictureShows(t *testing.T) {
	width := func(n int) *int { return &n }
	tests := []struct {
		name          string
		size, frame   image.Point
		original      *int
		modern, known bool
		want          bool
	}{
		{"as it is", image.Pt(900, 700), image.Pt(900, 700), nil, true, true, true},
		{"as it is, and said", image.Pt(900, 700), image.Pt(900, 700), width(900), true, true, true},
		{"another width said", image.Pt(900, 700), image.Pt(900, 700), width(1600), true, true, false},
		{"0.37 made smaller", image.Pt(1347, 853), image.Pt(1500, 950), width(1500), true, true, true},
		{"0.37 made smaller, of a part", image.Pt(1356, 848), image.Pt(1600, 1000), width(1600), true, true, true},
		{"0.37 made smaller, of something else", image.Pt(1347, 853), image.Pt(1500, 950), width(1600), true, true, false},
		{"0.37 smaller, unsaid: half the window is off the screen", image.Pt(450, 350), image.Pt(900, 700), nil, true, false, false},
		{"0.21 made smaller", image.Pt(1568, 980), image.Pt(1600, 1000), nil, false, true, true},
		{"0.21 made smaller, upright", image.Pt(980, 1568), image.Pt(1000, 1600), nil, false, true, true},
		{"0.21 smaller without need", image.Pt(450, 350), image.Pt(900, 700), nil, false, false, false},
		{"a part", image.Pt(800, 700), image.Pt(900, 700), nil, true, true, false},
		{"a pixel less", image.Pt(899, 700), image.Pt(900, 700), nil, true, true, false},
		{"twice as many pixels", image.Pt(1800, 1400), image.Pt(900, 700), nil, true, false, true},
		{"twice as many pixels on X", image.Pt(1800, 1400), image.Pt(900, 700), nil, true, true, false},
		{"made smaller where the screen has more pixels", image.Pt(1215, 945), image.Pt(1350, 1050), width(2700), true, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, explained(tt.size, tt.frame, tt.original, tt.modern, tt.known))
		})
	}
}
