package redact_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/redact"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// form returns a picture that looks a little like one, for a person to compare.
func form(scale float64) *image.NRGBA {
	at := func(n int) int { return int(float64(n) * scale) }
	m := image.NewNRGBA(image.Rect(0, 0, at(400), at(300)))
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			m.SetNRGBA(x, y, color.NRGBA{R: 0xf4, G: uint8(0xe0 + y*16/m.Rect.Dy()), B: uint8(0xe0 + x*16/m.Rect.Dx()), A: 0xff})
		}
	}
	for i := range 12 {
		r := image.Rect(at(60+i*9), at(104), at(66+i*9), at(116))
		draw.Draw(m, r, image.NewUniform(secretColor), image.Point{}, draw.Src)
	}
	draw.Draw(m, image.Rect(at(60), at(200), at(120), at(224)), image.NewUniform(color.NRGBA{G: 0x80, A: 0xff}), image.Point{}, draw.Src)
	return m
}

func TestPC04GoldenPictures(t *testing.T) {
	for _, c := range []struct {
		name  string
		scale float64
		opts  redact.Options
	}{
		{"plain", 1, redact.Options{}},
		{"half as large again", 1.5, redact.Options{}},
		{"scaled down after masking", 1, redact.Options{MaxSide: 200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshot(t, element(-1, "key", 60, 100, 110, 20), element(-1, "Save", 60, 200, 60, 24))
			setPicture(t, s, form(c.scale))
			p := plan(s)
			p.Verdicts[0] = redact.Hide
			o, _, err := redact.Redact(s, p, c.opts)
			require.NoError(t, err)
			file := filepath.Join("testdata", filepath.Base(t.Name())+".png")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, o.PNG(), 0o644))
			}
			f, err := os.Open(file)
			require.NoError(t, err)
			defer f.Close()
			want, err := png.Decode(f)
			require.NoError(t, err)
			got, golden := pixels(t, o), image.NewNRGBA(want.Bounds())
			draw.Draw(golden, golden.Rect, want, image.Point{}, draw.Src)
			require.Equal(t, golden.Rect, got.Rect)
			require.True(t, bytes.Equal(golden.Pix, got.Pix))
			for i := 0; i < len(got.Pix); i += 4 {
				if [4]byte(got.Pix[i:]) == [4]byte{secretColor.R, secretColor.G, secretColor.B, secretColor.A} {
					require.Failf(t, "leak", "at %d", i/4)
				}
			}
			require.Equal(t, got.Rect.Size(), o.Size())
		})
	}
}

func TestPC04PadAndSlackGrowMasks(t *testing.T) {
	for _, c := range []struct{ pad, slack, want int }{{0, 0, 5}, {4, 0, 5}, {3, -9, 5}, {20, 0, 21}, {0, 20, 25}, {6, 2, 9}} {
		s := snapshot(t, element(-1, "key", 100, 100, 50, 20))
		s.Slack = c.slack
		p := plan(s)
		p.Verdicts[0], p.Pad = redact.Hide, c.pad
		o, _, err := redact.Redact(s, p, redact.Options{})
		require.NoError(t, err)
		m, mask := pixels(t, o), image.Rect(100, 100, 150, 120).Inset(-c.want)
		flat(t, m, mask)
		require.NotEqual(t, redact.MaskColor(), m.NRGBAAt(mask.Min.X-1, mask.Min.Y))
		require.NotEqual(t, redact.MaskColor(), m.NRGBAAt(mask.Max.X, mask.Max.Y-1))
	}
}

func TestPC04ScaledDownPicturesKeepPlacesTrue(t *testing.T) {
	s := snapshot(t, element(-1, "key", 100, 100, 80, 40), element(-1, "Save", 200, 200, 100, 50), element(-1, "outside", 900, 900, 10, 10))
	p := plan(s)
	p.Verdicts[0] = redact.Hide
	o, _, err := redact.Redact(s, p, redact.Options{MaxSide: 200})
	require.NoError(t, err)
	require.Equal(t, image.Pt(200, 150), o.Size())
	e, _ := o.Element(0)
	require.Equal(t, image.Rect(100, 100, 150, 125), e.Bounds)
	e, _ = o.Element(1)
	require.Empty(t, e.Bounds)
	flat(t, pixels(t, o), image.Rect(50, 50, 90, 70))

	o, _, err = redact.Redact(s, p, redact.Options{MaxSide: 4000})
	require.NoError(t, err)
	require.Equal(t, image.Pt(400, 300), o.Size(), "never larger")
}

func TestPC48WhatMayBeOfAnotherWindowIsMasked(t *testing.T) {
	s := snapshot(t)
	p := plan(s)
	p.Covers = []image.Rectangle{image.Rect(0, 0, 200, 100), image.Rect(5000, 5000, 6000, 6000), {}}
	o, _, err := redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	flat(t, pixels(t, o), image.Rect(0, 0, 101, 51))
	require.Equal(t, color.NRGBA{R: 255, G: 255, B: 255, A: 255}, pixels(t, o).NRGBAAt(102, 10))
	require.Zero(t, o.Covered())
}

func TestPC12PicturesThatDisagreeAreWithheld(t *testing.T) {
	for name, change := range map[string]func(*driver.Snapshot){
		"none":                  func(s *driver.Snapshot) { s.Image = nil },
		"no picture":            func(s *driver.Snapshot) { s.Image = []byte("GIF89a") },
		"cut short":             func(s *driver.Snapshot) { s.Image = s.Image[:len(s.Image)/2] },
		"no JPEG":               func(s *driver.Snapshot) { s.Image = []byte{0xff, 0xd8, 0xff, 0xe0} },
		"size 0":                func(s *driver.Snapshot) { s.Size = image.Point{} },
		"negative size":         func(s *driver.Snapshot) { s.Size.X = -s.Size.X },
		"another size":          func(s *driver.Snapshot) { s.Size = s.Size.Mul(2) },
		"huge":                  func(s *driver.Snapshot) { s.Size = image.Pt(1<<20, 1<<20) },
		"another shape":         func(s *driver.Snapshot) { s.Frame.Max.Y += 60 },
		"no place":              func(s *driver.Snapshot) { s.Frame, s.Window.Bounds = image.Rectangle{}, image.Rectangle{} },
		"place of a minimised":  func(s *driver.Snapshot) { s.Frame = s.Frame.Sub(s.Frame.Min).Add(image.Pt(-32000, -32000)) },
		"turned by a quarter":   func(s *driver.Snapshot) { s.Size = image.Pt(s.Size.Y, s.Size.X) },
		"header of another one": func(s *driver.Snapshot) { s.Image[18]++ },
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, element(-1, "Save", 100, 100, 50, 20))
			change(s)
			o, _, err := redact.Redact(s, plan(s), redact.Options{})
			require.ErrorIs(t, err, redact.ErrWithheld)
			require.Nil(t, o)
		})
	}
}

func TestFrameDefaultsToTheWindow(t *testing.T) {
	s := snapshot(t, element(-1, "Save", 100, 100, 50, 20))
	s.Frame = image.Rectangle{}
	o, _, err := redact.Redact(s, plan(s), redact.Options{})
	require.NoError(t, err)
	e, _ := o.Element(0)
	require.Equal(t, image.Rect(100, 100, 150, 120), e.Bounds)

	s.Image, s.Size = nil, image.Point{}
	o, _, err = redact.Redact(s, plan(s), redact.Options{NoImage: true})
	require.NoError(t, err)
	e, _ = o.Element(0)
	require.Equal(t, image.Rect(100, 100, 150, 120), e.Bounds)
	require.Equal(t, window.Size(), o.Size())
	require.Nil(t, o.PNG())

	s.Window.Bounds = image.Rectangle{}
	o, _, err = redact.Redact(s, plan(s), redact.Options{NoImage: true})
	require.NoError(t, err)
	e, _ = o.Element(0)
	require.Empty(t, e.Bounds)
}

func TestPC03MetadataDoesNotPass(t *testing.T) {
	s := snapshot(t)
	const canary = "CANARY in a chunk"
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len("Title\x00"+canary)))
	body := "tEXtTitle\x00" + canary
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE([]byte(body)))
	const header = 8 + 25
	s.Image = append(append(append([]byte{}, s.Image[:header]...), chunk...), s.Image[header:]...)
	s.Image = append(s.Image, canary...)
	o, _, err := redact.Redact(s, plan(s), redact.Options{})
	require.NoError(t, err)
	require.NotContains(t, string(o.PNG()), "CANARY")
	require.NotEqual(t, s.Image, o.PNG())
}

func TestPC04TransparentPixelsLoseTheirColor(t *testing.T) {
	m := image.NewNRGBA(image.Rectangle{Max: window.Size()})
	for i := 0; i < len(m.Pix); i += 4 {
		copy(m.Pix[i:], []byte{255, 0, 255, 0})
	}
	s := snapshot(t)
	setPicture(t, s, m)
	o, _, err := redact.Redact(s, plan(s), redact.Options{})
	require.NoError(t, err)
	got := pixels(t, o)
	require.True(t, got.Opaque())
	require.Equal(t, color.NRGBA{A: 255}, got.NRGBAAt(7, 7))
}

func TestPictureForms(t *testing.T) {
	rect := image.Rectangle{Max: window.Size()}
	gray, deep := image.NewGray(rect), image.NewNRGBA64(rect)
	paletted := image.NewPaletted(rect, color.Palette{color.White, color.Black, secretColor})
	rgba := image.NewRGBA(rect)
	draw.Draw(rgba, rect, image.White, image.Point{}, draw.Src)
	for name, m := range map[string]image.Image{"gray": gray, "deep": deep, "paletted": paletted, "rgba": rgba} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, element(-1, "key", 100, 100, 50, 20))
			setPicture(t, s, m)
			p := plan(s)
			p.Verdicts[0] = redact.Hide
			o, _, err := redact.Redact(s, p, redact.Options{})
			require.NoError(t, err)
			flat(t, pixels(t, o), image.Rect(95, 95, 155, 125))
			require.NotEqual(t, redact.MaskColor(), pixels(t, o).NRGBAAt(0, 0))
		})
	}
}

func TestPC04JPEGBlocksAreMaskedWhole(t *testing.T) {
	s := snapshot(t, element(-1, "key", 100, 100, 50, 20))
	m := image.NewNRGBA(image.Rectangle{Max: window.Size()})
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(m, image.Rect(95, 95, 155, 125), image.NewUniform(secretColor), image.Point{}, draw.Src)
	jpegOf(t, s, m)
	p := plan(s)
	p.Verdicts[0] = redact.Hide
	o, _, err := redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(o.PNG(), []byte("\x89PNG")))
	got := pixels(t, o)
	flat(t, got, image.Rect(80, 80, 160, 128))
	for y := range got.Rect.Dy() {
		for x := range got.Rect.Dx() {
			if c := got.NRGBAAt(x, y); c != redact.MaskColor() && c.G <= 250 {
				require.Failf(t, "leak", "the key's colour spread to %d,%d", x, y)
			}
		}
	}
}
