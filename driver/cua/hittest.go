package cua

import (
	"context"
	"image"

	"github.com/permission-canvas/permission-canvas/driver"
)

// WindowAt asks the window system itself, not the driver.
func (d *Driver) WindowAt(ctx context.Context, p image.Point) (driver.Hit, error) {
	return d.desk.hit(ctx, p)
}
