package sim

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/permission-canvas/permission-canvas/driver"
)

// tone is how prominent a control is painted.
type tone uint8

const (
	plain tone = iota
	primary
	danger
)

// The palette.
var (
	white  = color.RGBA{0xff, 0xff, 0xff, 0xff}
	black  = color.RGBA{0x00, 0x00, 0x00, 0xff}
	ink    = color.RGBA{0x1f, 0x24, 0x30, 0xff}
	muted  = color.RGBA{0x5c, 0x66, 0x77, 0xff}
	line   = color.RGBA{0xc4, 0xcb, 0xd6, 0xff}
	shade  = color.RGBA{0xf2, 0xf4, 0xf8, 0xff}
	accent = color.RGBA{0x1d, 0x5f, 0xc4, 0xff}
	alarm  = color.RGBA{0xb3, 0x26, 0x1e, 0xff}
)

const (
	glyph      = 7  // width of a letter
	lineHeight = 16 // from one line of text to the next
)

// textWidth is the width of a static text's place.
func textWidth(s string) int { return glyph*len([]rune(s)) + 2 }

// brush paints within one node's place and nowhere else.
type brush struct {
	dst draw.Image
	box image.Rectangle
}

// paint draws w at scale 1, and black what another process has put over it.
func (d *Desktop) paint(w *window) *image.RGBA {
	area := w.info.Bounds
	dst := image.NewRGBA(image.Rectangle{Max: area.Size()})
	draw.Draw(dst, dst.Bounds(), image.NewUniform(white), image.Point{}, draw.Src)
	for _, n := range w.nodes {
		seen := w.shown(n).Sub(area.Min)
		if n.absent || seen.Empty() {
			continue
		}
		b := brush{dst: dst.SubImage(seen).(*image.RGBA), box: w.bounds(n).Sub(area.Min)}
		b.node(n, n == w.focus, w)
	}
	over := slices.Index(d.windows, w) + 1
	for _, o := range d.windows[over:] {
		if o.info.Ref.PID != w.info.Ref.PID && !o.info.Hidden {
			r := o.info.Bounds.Intersect(area).Sub(area.Min)
			draw.Draw(dst, r, image.NewUniform(black), image.Point{}, draw.Src)
		}
	}
	return dst
}

func encode(m *image.RGBA) ([]byte, error) {
	var buf bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&buf, m); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func resample(src *image.RGBA, size image.Point) *image.RGBA {
	dst := image.NewRGBA(image.Rectangle{Max: size})
	draw.ApproxBiLinear.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Src, nil)
	return dst
}

// node paints n.
func (b brush) node(n *node, focused bool, w *window) {
	switch n.role {
	case driver.RoleWindow:
		if w.owner != nil || w.top {
			b.frame(line)
		}
	case driver.RoleGroup, driver.RoleForm, driver.RoleTable:
		b.frame(line)
	case driver.RoleToolbar:
		b.fill(b.box, shade)
		b.fill(image.Rect(b.box.Min.X, b.box.Max.Y-1, b.box.Max.X, b.box.Max.Y), line)
	case driver.RoleHeading:
		b.heading(n.label)
	case driver.RoleText, driver.RoleParagraph, driver.RoleCell:
		b.text(image.Pt(1, b.middle()), n.label, ink)
	case driver.RoleLink:
		b.text(image.Pt(1, b.middle()), n.label, accent)
		b.fill(image.Rect(b.box.Min.X+1, b.box.Max.Y-2, b.box.Min.X+1+glyph*len(n.label), b.box.Max.Y-1), accent)
	case driver.RoleStatus:
		b.text(image.Pt(1, b.middle()), n.value, muted)
	case driver.RoleButton:
		b.button(n)
	case driver.RoleTextbox, driver.RolePassword:
		b.field(n)
	case driver.RoleCombobox:
		b.combobox(n)
	case driver.RoleCheckbox:
		b.checkbox(n)
	case driver.RoleSlider:
		b.slider(n)
	case driver.RoleOption, driver.RoleMenuItem:
		b.text(image.Pt(8, b.middle()), n.label, ink)
	}
	if focused && n.takesFocus() {
		b.frame(accent)
	}
}

// middle is where the line of a one-line control begins.
func (b brush) middle() int { return (b.box.Dy() - 13) / 2 }

func (b brush) fill(r image.Rectangle, c color.Color) {
	draw.Draw(b.dst, r, image.NewUniform(c), image.Point{}, draw.Over)
}

func (b brush) frame(c color.Color) {
	r := b.box
	b.fill(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+1), c)
	b.fill(image.Rect(r.Min.X, r.Max.Y-1, r.Max.X, r.Max.Y), c)
	b.fill(image.Rect(r.Min.X, r.Min.Y, r.Min.X+1, r.Max.Y), c)
	b.fill(image.Rect(r.Max.X-1, r.Min.Y, r.Max.X, r.Max.Y), c)
}

// text writes s with the upper left corner of its first letter at p from the
// corner of the box.
func (b brush) text(p image.Point, s string, c color.Color) {
	p = p.Add(b.box.Min)
	write := font.Drawer{Dst: b.dst, Src: image.NewUniform(c), Face: basicfont.Face7x13,
		Dot: fixed.P(p.X, p.Y+basicfont.Face7x13.Ascent)}
	write.DrawString(s)
}

// heading writes s twice as large.
func (b brush) heading(s string) {
	small := image.NewRGBA(image.Rect(0, 0, glyph*len([]rune(s))+1, 13))
	brush{dst: small}.text(image.Point{}, s, ink)
	big := image.Rectangle{Max: small.Bounds().Max.Mul(2)}.Add(b.box.Min)
	draw.BiLinear.Scale(b.dst, big, small, small.Bounds(), draw.Over, nil)
}

func (b brush) button(n *node) {
	face, edge, letters := color.Color(shade), color.Color(line), color.Color(ink)
	switch n.tone {
	case primary:
		face, edge, letters = accent, accent, white
	case danger:
		edge, letters = alarm, alarm
	}
	if n.disabled {
		face, letters = shade, muted
	}
	b.fill(b.box, face)
	b.frame(edge)
	b.text(image.Pt((b.box.Dx()-glyph*len([]rune(n.label)))/2, b.middle()), n.label, letters)
}

func (b brush) field(n *node) {
	b.fill(b.box, white)
	b.frame(line)
	switch {
	case n.role == driver.RolePassword:
		b.bullets(len([]rune(n.value)))
	case n.multiline:
		for i, s := range wrap(n.value, (b.box.Dx()-12)/glyph) {
			b.text(image.Pt(6, 5+i*lineHeight), s, ink)
		}
	default:
		b.text(image.Pt(6, b.middle()), n.value, ink)
	}
}

// bullets paints count round dots.
func (b brush) bullets(count int) {
	for i := range count {
		mid := image.Pt(b.box.Min.X+11+i*10, b.box.Min.Y+b.box.Dy()/2)
		for dy := -3; dy <= 3; dy++ {
			half := 3
			if dy == -3 || dy == 3 {
				half = 1
			} else if dy == -2 || dy == 2 {
				half = 2
			}
			b.fill(image.Rect(mid.X-half, mid.Y+dy, mid.X+half+1, mid.Y+dy+1), ink)
		}
	}
}

func (b brush) combobox(n *node) {
	b.fill(b.box, shade)
	b.frame(line)
	b.text(image.Pt(6, b.middle()), n.value, ink)
	for i := range 5 {
		x, y := b.box.Max.X-18+i, b.box.Min.Y+b.box.Dy()/2-2+i
		b.fill(image.Rect(x, y, b.box.Max.X-9-i, y+1), muted)
	}
}

func (b brush) checkbox(n *node) {
	square := image.Rect(0, 0, 14, 14).Add(b.box.Min).Add(image.Pt(0, (b.box.Dy()-14)/2))
	brush{dst: b.dst, box: square}.frame(muted)
	if n.checked {
		b.fill(square.Inset(3), accent)
	}
	b.text(image.Pt(22, b.middle()), n.label, ink)
}

func (b brush) slider(n *node) {
	mid := b.box.Min.Y + b.box.Dy()/2
	b.fill(image.Rect(b.box.Min.X+4, mid-1, b.box.Max.X-4, mid+1), line)
	at := b.box.Min.X + 4 + (b.box.Dx()-16)*number(n.value)/max(n.limit, 1)
	b.fill(image.Rect(at, mid-7, at+8, mid+7), accent)
}

// wrap cuts s into lines of at most width letters.
func wrap(s string, width int) []string {
	var lines []string
	for part := range strings.SplitSeq(s, "\n") {
		letters := []rune(part)
		for len(letters) > width {
			lines = append(lines, string(letters[:width]))
			letters = letters[width:]
		}
		lines = append(lines, string(letters))
	}
	return lines
}
