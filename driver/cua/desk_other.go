//go:build !linux && !windows

package cua

import (
	"context"
	"image"

	"github.com/permission-canvas/permission-canvas/driver"
)

// desk is a window system that is not asked.
type desk struct{}

func newDesk([]string) *desk { return &desk{} }

func (*desk) close() {}

func (*desk) screen() (image.Rectangle, bool) { return image.Rectangle{}, false }

// margins: an application's shadow is not part of its window here.
func (*desk) margins(uint64) margins { return margins{known: true} }

func (*desk) hit(context.Context, image.Point) (driver.Hit, error) {
	return driver.Hit{}, driver.ErrUnsupported
}
