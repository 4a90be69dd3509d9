package redact

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"sync"

	"github.com/disintegration/imaging"

	"github.com/permission-canvas/permission-canvas/driver"
)

const (
	// leastPad is how far toolkits paint outside of what they say: focus
	// rings and shadows, in screen pixels.
	leastPad = 4
	// smear is how far, in pixels of the image, a colour can spread when a
	// picture was scaled: three lobes of the widest usual filter. Where it was
	// not scaled, one pixel for an offset of half a one.
	smear, unscaledSmear = 3, 1
	// block is how far a JPEG spreads colours: its blocks with halved chroma.
	block = 16
	// most pixels and longest side of a picture.
	mostPixels, longestSide = 1 << 26, 1 << 15
	// far is beyond any desktop; sentinel marks a minimised window's places.
	far, sentinel = 1 << 24, -32000
)

// MaskColor is the colour of what is masked.
func MaskColor() color.NRGBA { return color.NRGBA{R: 0x33, G: 0x36, B: 0x3d, A: 0xff} }

// reliable reports whether r can be a place on a desktop.
func reliable(r image.Rectangle) bool {
	return !r.Empty() && r.Min.X > -far && r.Min.Y > -far && r.Max.X < far && r.Max.Y < far &&
		r.Min != image.Pt(sentinel, sentinel)
}

// frame returns what the image shows, or would show, in screen pixels.
func frame(s *driver.Snapshot) image.Rectangle {
	if s.Frame.Empty() {
		return s.Window.Bounds
	}
	return s.Frame
}

// view takes screen pixels to those of an image.
type view struct {
	from image.Rectangle // in screen pixels
	size image.Point
}

// rect returns where r, grown by pad, is in the image, grown to whole pixels.
func (v view) rect(r image.Rectangle, pad int) image.Rectangle {
	if !reliable(v.from) {
		return image.Rectangle{}
	}
	r = r.Inset(-pad).Sub(v.from.Min)
	w, h := v.from.Dx(), v.from.Dy()
	return image.Rect(
		floor(r.Min.X*v.size.X, w), floor(r.Min.Y*v.size.Y, h),
		-floor(-r.Max.X*v.size.X, w), -floor(-r.Max.Y*v.size.Y, h))
}

// floor divides, rounding down; b is positive.
func floor(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// masks returns what must go, in pixels of the image, for a picture that was
// not compressed with loss.
func masks(s *driver.Snapshot, t settled, p Plan) []image.Rectangle {
	v := view{from: frame(s), size: s.Size}
	whole := image.Rectangle{Max: s.Size}
	radius := smear
	if v.from.Size() == v.size {
		radius = unscaledSmear
	}
	pad := max(p.Pad, leastPad) + max(s.Slack, 0)
	var out []image.Rectangle
	add := func(r image.Rectangle, pad int) {
		if r = v.rect(r, pad).Inset(-radius).Intersect(whole); !r.Empty() {
			out = append(out, r)
		}
	}
	for i, masked := range t.masked {
		if b := s.Elements[i].Bounds; masked && reliable(b) {
			add(b, pad)
		}
	}
	for _, r := range p.Covers {
		if !r.Empty() {
			add(r.Intersect(v.from.Inset(-pad)), 0)
		}
	}
	return out
}

// picture returns the snapshot's image without what masks cover, and its size.
func picture(s *driver.Snapshot, masks []image.Rectangle, maxSide int) ([]byte, image.Point, error) {
	if err := fits(s); err != nil {
		return nil, image.Point{}, err
	}
	img, lossy, err := decode(s)
	if err != nil {
		return nil, image.Point{}, err
	}
	fill := image.NewUniform(MaskColor())
	for _, m := range masks {
		if lossy {
			m = blocks(m).Intersect(img.Rect)
		}
		draw.Draw(img, m, fill, image.Point{}, draw.Src)
	}
	if maxSide > 0 && max(s.Size.X, s.Size.Y) > maxSide {
		img = imaging.Fit(img, maxSide, maxSide, imaging.Lanczos)
	}
	var b bytes.Buffer
	b.Grow(img.Rect.Dx() * img.Rect.Dy() / 2)
	encoder := png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &buffers}
	if err := encoder.Encode(&b, img); err != nil {
		return nil, image.Point{}, withheld("the picture cannot be encoded")
	}
	return b.Bytes(), img.Rect.Size(), nil
}

// fits checks that the image is of the whole frame, at one scale.
func fits(s *driver.Snapshot) error {
	f := frame(s)
	switch {
	case len(s.Image) == 0:
		return withheld("the snapshot has no picture")
	case s.Size.X <= 0 || s.Size.Y <= 0 || max(s.Size.X, s.Size.Y) > longestSide || s.Size.X*s.Size.Y > mostPixels:
		return withheld("a picture of %v", s.Size)
	case !reliable(f):
		return withheld("the picture's place is not known")
	}
	// Both sides of Size are those of f times one number, each rounded.
	if d := s.Size.X*f.Dy() - s.Size.Y*f.Dx(); max(d, -d) > f.Dx()+f.Dy() {
		return withheld("a picture of %v for a frame of %v", s.Size, f.Size())
	}
	return nil
}

// decode returns the snapshot's image, opaque, and whether it was compressed
// with loss. It checks the size before it takes memory for the pixels.
func decode(s *driver.Snapshot) (*image.NRGBA, bool, error) {
	read, size, lossy := png.Decode, png.DecodeConfig, false
	if bytes.HasPrefix(s.Image, []byte{0xff, 0xd8, 0xff}) {
		read, size, lossy = jpeg.Decode, jpeg.DecodeConfig, true
	}
	c, err := size(bytes.NewReader(s.Image))
	if err != nil {
		return nil, false, withheld("the picture cannot be decoded")
	}
	if c.Width != s.Size.X || c.Height != s.Size.Y {
		return nil, false, withheld("a picture of %dx%d where the snapshot says %v", c.Width, c.Height, s.Size)
	}
	img, err := read(bytes.NewReader(s.Image))
	if err != nil {
		return nil, false, withheld("the picture cannot be decoded")
	}
	return opaque(img), lossy, nil
}

// opaque returns img on black, with its corner at zero. A transparent pixel
// may hold a colour that nobody saw.
func opaque(img image.Image) *image.NRGBA {
	switch m := img.(type) {
	case *image.NRGBA:
		if m.Opaque() {
			return m
		}
	case *image.RGBA:
		if m.Opaque() {
			return &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
		}
	}
	// Premultiplied colours are those on black.
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	for i := 3; i < len(out.Pix); i += 4 {
		out.Pix[i] = 0xff
	}
	return &image.NRGBA{Pix: out.Pix, Stride: out.Stride, Rect: out.Rect}
}

// blocks grows r to whole blocks of a JPEG.
func blocks(r image.Rectangle) image.Rectangle {
	return image.Rect(floor(r.Min.X, block)*block, floor(r.Min.Y, block)*block,
		-floor(-r.Max.X, block)*block, -floor(-r.Max.Y, block)*block)
}

// buffers keeps the encoder's working memory from picture to picture. It holds
// nothing but masked pixels.
var buffers pool

type pool struct{ sync.Pool }

func (p *pool) Get() *png.EncoderBuffer {
	b, _ := p.Pool.Get().(*png.EncoderBuffer)
	return b
}

func (p *pool) Put(b *png.EncoderBuffer) { p.Pool.Put(b) }
