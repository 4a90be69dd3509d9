package drivertest

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Never does nothing and never answers; the call returns when its context
// ends.
func Never(ctx context.Context, _ int, _ func(context.Context) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// Unanswered does what was asked and never answers.
func Unanswered(ctx context.Context, _ int, truth func(context.Context) error) error {
	_ = truth(ctx)
	<-ctx.Done()
	return ctx.Err()
}

// Twice does what was asked twice and answers once.
func Twice(ctx context.Context, _ int, truth func(context.Context) error) error {
	_ = truth(ctx)
	return truth(ctx)
}

// Late answers after a while.
func Late(by time.Duration) Mood {
	return func(ctx context.Context, _ int, truth func(context.Context) error) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(by):
			return truth(ctx)
		}
	}
}

// Fail answers with an error and does nothing.
func Fail(err error) Mood {
	return func(context.Context, int, func(context.Context) error) error { return err }
}

// ThenFail does what was asked and answers with an error.
func ThenFail(err error) Mood {
	return func(ctx context.Context, _ int, truth func(context.Context) error) error {
		return errors.Join(truth(ctx), err)
	}
}

// Nth is in a mood at the nth call of its method only.
func Nth(nth int, mood Mood) Mood {
	return func(ctx context.Context, n int, truth func(context.Context) error) error {
		if n != nth {
			return truth(ctx)
		}
		return mood(ctx, n, truth)
	}
}

// First runs do before the truth is asked, as when the desktop changes between
// two calls.
func First(do func()) Mood {
	return func(ctx context.Context, _ int, truth func(context.Context) error) error {
		do()
		return truth(ctx)
	}
}

// Spoil is a lie about snapshots: the truth, changed by f, from the nth
// Snapshot on.
func Spoil(from int, f func(*driver.Snapshot)) Lie[Read, *driver.Snapshot] {
	return func(ctx context.Context, n int, _ Read, truth func(context.Context) (*driver.Snapshot, error)) (*driver.Snapshot, error) {
		s, err := truth(ctx)
		if err == nil && n >= from {
			f(s)
		}
		return s, err
	}
}

// The functions below return changes for Spoil.

// Cut keeps only the first n elements, as a driver does that ran out of time
// and does not say so.
func Cut(n int) func(*driver.Snapshot) {
	return func(s *driver.Snapshot) { s.Elements = s.Elements[:min(n, len(s.Elements))] }
}

// Moved puts every element called label elsewhere.
func Moved(label string, by image.Point) func(*driver.Snapshot) {
	return each(label, func(e *driver.Element) { e.Bounds = e.Bounds.Add(by) })
}

// Relabelled calls every element of one label by another, its token the same.
func Relabelled(old, new string) func(*driver.Snapshot) {
	return each(old, func(e *driver.Element) { e.Label = new })
}

// Frameless takes the bounds of every element called label.
func Frameless(label string) func(*driver.Snapshot) {
	return each(label, func(e *driver.Element) { e.Bounds = image.Rectangle{} })
}

// Orphaned takes every element's parent.
func Orphaned(s *driver.Snapshot) {
	for i := range s.Elements {
		s.Elements[i].Parent = -1
	}
}

// Without leaves out every element called label, what lies below it too.
func Without(label string) func(*driver.Snapshot) {
	return func(s *driver.Snapshot) {
		kept, index := s.Elements[:0:0], map[int]int{-1: -1}
		for i, e := range s.Elements {
			parent, ok := index[e.Parent]
			if e.Label == label || !ok {
				continue
			}
			index[i] = len(kept)
			e.Parent = parent
			kept = append(kept, e)
		}
		s.Elements = kept
	}
}

func each(label string, f func(*driver.Element)) func(*driver.Snapshot) {
	return func(s *driver.Snapshot) {
		s.Elements = slices.Clone(s.Elements)
		for i := range s.Elements {
			if s.Elements[i].Label == label {
				f(&s.Elements[i])
			}
		}
	}
}

// WindowMoved says the window stands elsewhere, its picture and elements with
// it.
func WindowMoved(by image.Point) func(*driver.Snapshot) {
	return func(s *driver.Snapshot) {
		s.Window.Bounds = s.Window.Bounds.Add(by)
		s.Frame = s.Frame.Add(by)
		s.Elements = slices.Clone(s.Elements)
		for i := range s.Elements {
			s.Elements[i].Bounds = s.Elements[i].Bounds.Add(by)
		}
	}
}

// Foreign says the reading is of another window.
func Foreign(w driver.Window) func(*driver.Snapshot) {
	return func(s *driver.Snapshot) { s.Window = w }
}

// Pixels puts another picture in the place of the true one, its size and frame
// left as they were.
func Pixels(data []byte) func(*driver.Snapshot) {
	return func(s *driver.Snapshot) { s.Image = data }
}

// OtherPixels puts the picture of another snapshot in the place of the true
// one.
func OtherPixels(of *driver.Snapshot) func(*driver.Snapshot) {
	return func(s *driver.Snapshot) { s.Image, s.Size, s.Frame = of.Image, of.Size, of.Frame }
}

// HalfPixels ends the picture in its middle.
func HalfPixels(s *driver.Snapshot) { s.Image = s.Image[:len(s.Image)/2] }

// NoPixels leaves the picture out although it was asked for.
func NoPixels(s *driver.Snapshot) { s.Image, s.Size, s.Frame = nil, image.Point{}, image.Rectangle{} }

// WrongSize says the picture has another size than it has.
func WrongSize(s *driver.Snapshot) { s.Size = s.Size.Add(image.Pt(1, 0)) }

// Everywhere puts a text in every string of every element, to see where strings go.
func Everywhere(text string) func(*driver.Snapshot) {
	return func(s *driver.Snapshot) {
		s.Elements = slices.Clone(s.Elements)
		for i := range s.Elements {
			e := &s.Elements[i]
			e.Text = append(slices.Clone(e.Text), text)
			e.Label, e.Value = strings.TrimSpace(e.Label+" "+text), e.Value+text
		}
	}
}

// Flat returns a PNG of one colour.
func Flat(size image.Point, c color.Color) []byte {
	m := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(m, m.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	var buf bytes.Buffer
	if err := png.Encode(&buf, m); err != nil {
		panic(err) // a picture in memory can be encoded
	}
	return buf.Bytes()
}
