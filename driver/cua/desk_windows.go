package cua

import (
	"context"
	"image"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/permission-canvas/permission-canvas/driver"
)

// desk is the window manager of this process's desktop.
type desk struct {
	windowFromPoint, getAncestor, getWindowLong *windows.LazyProc
}

func newDesk([]string) *desk {
	user32 := windows.NewLazySystemDLL("user32.dll")
	return &desk{
		windowFromPoint: user32.NewProc("WindowFromPoint"),
		getAncestor:     user32.NewProc("GetAncestor"),
		getWindowLong:   user32.NewProc("GetWindowLongW"),
	}
}

func (*desk) close() {}

func (*desk) screen() (image.Rectangle, bool) { return image.Rectangle{}, false }

// margins: an application's shadow is not part of its window here.
func (*desk) margins(uint64) margins { return margins{known: true} }

// hit finds the window that the real pointer would press at p. WindowFromPoint
// passes over windows that let input through.
func (d *desk) hit(ctx context.Context, p image.Point) (driver.Hit, error) {
	const root = 2 // GA_ROOT
	if err := ctx.Err(); err != nil {
		return driver.Hit{}, err
	}
	if d.windowFromPoint.Find() != nil || d.getAncestor.Find() != nil || d.getWindowLong.Find() != nil {
		return driver.Hit{}, driver.ErrUnsupported
	}
	h, _, _ := d.windowFromPoint.Call(point(p)...)
	if h == 0 {
		return driver.Hit{}, nil
	}
	if r, _, _ := d.getAncestor.Call(h, root); r != 0 {
		h = r
	}
	var pid uint32
	if _, err := windows.GetWindowThreadProcessId(windows.HWND(h), &pid); err != nil || pid == 0 {
		return driver.Hit{}, nil
	}
	return driver.Hit{Window: driver.WindowRef{PID: int(pid), ID: uint64(h)}, Above: d.topmost(h)}, nil
}

func (d *desk) topmost(h uintptr) bool {
	const extendedStyle, topmost = -20, 0x8 // GWL_EXSTYLE, WS_EX_TOPMOST
	index := int32(extendedStyle)
	style, _, _ := d.getWindowLong.Call(h, uintptr(index))
	return uint32(style)&topmost != 0
}

// point passes a POINT by value: one register where it fits, else two words.
func point(p image.Point) []uintptr {
	x, y := uint32(int32(p.X)), uint32(int32(p.Y))
	if unsafe.Sizeof(uintptr(0)) == 8 {
		return []uintptr{uintptr(uint64(y)<<32 | uint64(x))}
	}
	return []uintptr{uintptr(x), uintptr(y)}
}
