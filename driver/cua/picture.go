package cua

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"math"

	"github.com/permission-canvas/permission-canvas/driver"
)

// longSide is what 0.21 makes a picture's longer side at most.
const longSide = 1568

// picture decodes the image's header and proves what the image shows. A wrong
// answer would put every mask in the wrong place, so a size that is not
// explained is refused. Measured on X: both versions take the picture of the
// part of a window that is on the screen, say that it is valid, and give places
// in it as if it were of the whole window.
func (w *wireState) picture(s *driver.Snapshot, r *reply, modern bool, screen image.Rectangle, known bool) error {
	img, err := r.picture()
	if err != nil || img == nil {
		return incomplete("no image")
	}
	if isFalse(w.ImageValid) || (modern && w.ImageValid == nil) {
		return incomplete("the image is not of the window")
	}
	cfg, err := png.DecodeConfig(bytes.NewReader(img))
	if err != nil {
		cfg, err = jpeg.DecodeConfig(bytes.NewReader(img))
	}
	if err != nil {
		return incomplete("no known image")
	}
	size := image.Pt(cfg.Width, cfg.Height)
	if w.Width == nil || w.Height == nil || size != image.Pt(*w.Width, *w.Height) || size.X <= 0 || size.Y <= 0 {
		return incomplete("the image's size is not as stated")
	}
	if known {
		s.Frame = s.Frame.Intersect(screen)
	}
	if s.Frame.Empty() || !explained(size, s.Frame.Size(), w.Original, modern, known) {
		return incomplete("the image has another shape than the window")
	}
	s.Image, s.Size = img, size
	return nil
}

// explained reports whether a picture of size can be of a part of the screen
// of that many pixels. original is the width before it was made smaller, where
// the driver says that it was. Where the screen is not known there may be more
// pixels than the system's units.
func explained(size, frame image.Point, original *int, modern, known bool) bool {
	if size == frame {
		return original == nil || *original == frame.X
	}
	scale := float64(size.X) / float64(frame.X)
	if math.Abs(scale*float64(frame.Y)-float64(size.Y)) > 1 {
		return false
	}
	switch {
	case scale > 1:
		return !known
	case modern:
		return original != nil && (*original == frame.X || !known)
	}
	return max(size.X, size.Y) == longSide && max(frame.X, frame.Y) > longSide
}
