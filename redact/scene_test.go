package redact_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/redact"
)

// window is where test snapshots stand on the screen.
var window = image.Rect(100, 50, 500, 350)

// snapshot returns a reading with a white picture at one image pixel for one
// of the screen.
func snapshot(t testing.TB, elements ...driver.Element) *driver.Snapshot {
	s := &driver.Snapshot{
		Window: driver.Window{
			Ref: driver.WindowRef{PID: 4242, ID: 77}, Start: 1, App: "Chromium", Exe: "chromium",
			Title: "Admin Console", Bounds: window,
		},
		Elements: elements, AllText: true, Frame: window,
	}
	picture := image.NewNRGBA(image.Rectangle{Max: window.Size()})
	draw.Draw(picture, picture.Rect, image.White, image.Point{}, draw.Src)
	setPicture(t, s, picture)
	return s
}

func setPicture(t testing.TB, s *driver.Snapshot, picture image.Image) {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, picture))
	s.Image, s.Size = b.Bytes(), picture.Bounds().Size()
}

// element returns a button with a place of its own in window.
func element(parent int, label string, x, y, w, h int) driver.Element {
	return driver.Element{
		Token: "s00000001:1", Parent: parent, Role: driver.RoleButton, RawRole: "push button", Label: label,
		Bounds: image.Rect(x, y, x+w, y+h).Add(window.Min),
	}
}

// plan returns one that shows everything at the level ask.
func plan(s *driver.Snapshot) redact.Plan {
	p := redact.Plan{Default: driver.LevelAsk}
	for range s.Elements {
		p.Verdicts, p.Levels = append(p.Verdicts, redact.Show), append(p.Levels, driver.LevelAsk)
	}
	return p
}

func pixels(t testing.TB, o *redact.Observation) *image.NRGBA {
	m, err := png.Decode(bytes.NewReader(o.PNG()))
	require.NoError(t, err)
	out := image.NewNRGBA(m.Bounds())
	draw.Draw(out, out.Rect, m, image.Point{}, draw.Src)
	return out
}

// flat fails unless all of r has the mask's colour.
func flat(t testing.TB, m *image.NRGBA, r image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if m.NRGBAAt(x, y) != redact.MaskColor() {
				require.Failf(t, "not masked", "pixel %d,%d is %v", x, y, m.NRGBAAt(x, y))
			}
		}
	}
}

// all is every text of an observation.
func all(o *redact.Observation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n%s\n", o.Window(), o.Text())
	for e := range o.Elements() {
		fmt.Fprintf(&b, "%+v\n", e)
	}
	b.Write(o.PNG())
	return b.String()
}

func jpegOf(t testing.TB, s *driver.Snapshot, picture image.Image) {
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, picture, &jpeg.Options{Quality: 60}))
	s.Image, s.Size = b.Bytes(), picture.Bounds().Size()
}

var secretColor = color.NRGBA{R: 255, G: 0, B: 255, A: 255}
