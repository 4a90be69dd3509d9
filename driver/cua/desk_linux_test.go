package cua_test

import (
	"context"
	"encoding/binary"
	"image"
	"os"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/shape"
	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/cua"
	"github.com/permission-canvas/permission-canvas/internal/fixture"
)

// painter puts windows of the test's own on the display.
type painter struct {
	t    *testing.T
	conn *xgb.Conn
	root xproto.Window
}

func newPainter(t *testing.T, desk fixture.Desktop) *painter {
	t.Helper()
	conn, err := xgb.NewConnDisplay(desk.Display)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	r, err := xproto.QueryExtension(conn, 5, "SHAPE").Reply()
	require.NoError(t, err)
	conn.ExtLock.Lock()
	conn.Extensions["SHAPE"] = r.MajorOpcode // shape.Init would change what other connections read
	conn.ExtLock.Unlock()
	return &painter{t, conn, xproto.Setup(conn).DefaultScreen(conn).Root}
}

// window maps one above all others; unmanaged is as popups are.
func (p *painter) window(at image.Rectangle, unmanaged bool, prepare func(xproto.Window)) driver.WindowRef {
	p.t.Helper()
	w, err := xproto.NewWindowId(p.conn)
	require.NoError(p.t, err)
	over := uint32(0)
	if unmanaged {
		over = 1
	}
	require.NoError(p.t, xproto.CreateWindowChecked(p.conn, 0, w, p.root, int16(at.Min.X), int16(at.Min.Y), uint16(at.Dx()), uint16(at.Dy()),
		0, xproto.WindowClassInputOutput, 0, xproto.CwOverrideRedirect, []uint32{over}).Check())
	if prepare != nil {
		prepare(w)
	}
	require.NoError(p.t, xproto.MapWindowChecked(p.conn, w).Check())
	p.t.Cleanup(func() { _ = xproto.DestroyWindowChecked(p.conn, w).Check() })
	return driver.WindowRef{PID: os.Getpid(), ID: uint64(w)}
}

func (p *painter) property(w xproto.Window, name string, kind xproto.Atom, values ...uint32) {
	p.t.Helper()
	data := make([]byte, 0, 4*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	require.NoError(p.t, xproto.ChangePropertyChecked(p.conn, xproto.PropModeReplace, w, p.atom(name), kind, 32, uint32(len(values)), data).Check())
}

func (p *painter) atom(name string) xproto.Atom {
	p.t.Helper()
	r, err := xproto.InternAtom(p.conn, false, uint16(len(name)), name).Reply()
	require.NoError(p.t, err)
	return r.Atom
}

// region limits where w is, or where it takes input.
func (p *painter) region(w xproto.Window, kind shape.Kind, parts ...xproto.Rectangle) {
	p.t.Helper()
	require.NoError(p.t, shape.RectanglesChecked(p.conn, shape.SoSet, kind, 0, w, 0, 0, parts).Check())
}

// move puts a window of another's somewhere, by way of the window manager.
func (p *painter) move(w driver.WindowRef, to image.Rectangle) {
	p.t.Helper()
	const what = xproto.ConfigWindowX | xproto.ConfigWindowY | xproto.ConfigWindowWidth | xproto.ConfigWindowHeight
	err := xproto.ConfigureWindowChecked(p.conn, xproto.Window(w.ID), what,
		[]uint32{uint32(int32(to.Min.X)), uint32(int32(to.Min.Y)), uint32(to.Dx()), uint32(to.Dy())}).Check()
	require.NoError(p.t, err)
}

// ask sends one of the window manager's protocols to a window.
func (p *painter) ask(w driver.WindowRef, what string) {
	p.t.Helper()
	message := xproto.ClientMessageEvent{
		Format: 32, Window: xproto.Window(w.ID), Type: p.atom("WM_PROTOCOLS"),
		Data: xproto.ClientMessageDataUnionData32New([]uint32{uint32(p.atom(what)), xproto.TimeCurrentTime, 0, 0, 0}),
	}
	require.NoError(p.t, xproto.SendEventChecked(p.conn, false, xproto.Window(w.ID), 0, string(message.Bytes())).Check())
}

func TestPC35WindowUnderAPoint(t *testing.T) {
	sideBySide(t, windowUnderAPoint)
}

func windowUnderAPoint(t *testing.T, desk fixture.Desktop) {
	p := newPainter(t, desk)
	d := cua.New("/nothing/is/started", &cua.Options{Env: desk.Env()})
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	at := func(x, y int) driver.Hit {
		t.Helper()
		hit, err := d.WindowAt(t.Context(), image.Pt(x, y))
		require.NoError(t, err)
		return hit
	}
	popup := p.window(image.Rect(1300, 800, 1400, 900), true, func(w xproto.Window) {
		p.property(w, "_NET_WM_PID", xproto.AtomCardinal, uint32(os.Getpid()))
	})
	require.Equal(t, driver.Hit{Window: popup, Above: true}, at(1300, 800))
	require.Equal(t, driver.Hit{Window: popup, Above: true}, at(1399, 899))
	require.NotEqual(t, popup, at(1400, 899).Window)

	// As cua-driver's own pointer overlay: over everything, for the eye only.
	p.window(image.Rect(0, 0, 1600, 1000), true, func(w xproto.Window) { p.region(w, shape.SkInput) })
	require.Equal(t, popup, at(1350, 850).Window)

	// Half a window takes input, and a quarter of that half is there.
	half := p.window(image.Rect(1300, 800, 1400, 900), true, func(w xproto.Window) {
		p.region(w, shape.SkInput, xproto.Rectangle{Width: 50, Height: 100})
		p.region(w, shape.SkBounding, xproto.Rectangle{Width: 100, Height: 50})
	})
	require.Equal(t, half, at(1310, 810).Window, "without a _NET_WM_PID the server says whose it is")
	require.Equal(t, popup, at(1360, 810).Window)
	require.Equal(t, popup, at(1310, 860).Window)

	p.window(image.Rect(1300, 800, 1400, 900), true, func(w xproto.Window) {
		p.property(w, "_NET_WM_PID", xproto.AtomCardinal, 0)
		require.NoError(t, xproto.ChangeWindowAttributesChecked(p.conn, w, xproto.CwBackPixel, []uint32{0xffffff}).Check())
	})
	require.NotEqual(t, popup, at(1350, 850).Window, "whoever it is of, it is over the popup")
	require.Equal(t, driver.Hit{}, at(-5, -5))
}

func TestPC35AWindowThatStaysAbove(t *testing.T) {
	sideBySide(t, windowThatStaysAbove)
}

func windowThatStaysAbove(t *testing.T, desk fixture.Desktop) {
	p := newPainter(t, desk)
	d := cua.New("/nothing/is/started", &cua.Options{Env: desk.Env()})
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	for _, above := range []bool{false, true} { // the second one stays, above the first
		t.Run(map[bool]string{false: "plain", true: "kept above"}[above], func(t *testing.T) {
			place := image.Rect(1100, 700, 1300, 850)
			ref := p.window(place, false, func(w xproto.Window) {
				p.property(w, "_NET_WM_PID", xproto.AtomCardinal, uint32(os.Getpid()))
				p.property(w, "WM_NORMAL_HINTS", xproto.AtomWmSizeHints, 1|2, 1100, 700, 200, 150, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
				if above {
					p.property(w, "_NET_WM_STATE", xproto.AtomAtom, uint32(p.atom("_NET_WM_STATE_ABOVE")))
				}
			})
			require.Eventually(t, func() bool {
				hit, err := d.WindowAt(t.Context(), image.Pt(1200, 800))
				return err == nil && hit == driver.Hit{Window: ref, Above: above}
			}, 20*time.Second, 20*time.Millisecond, "needs a window manager")
		})
	}
}

func TestWindowAtWithoutAServer(t *testing.T) {
	tests := map[string][]string{
		"no display":       {"DISPLAY="},
		"a Wayland desk":   {"DISPLAY=:0", "WAYLAND_DISPLAY=wayland-0"},
		"no such display":  {"DISPLAY=:7654"},
		"not a display":    {"DISPLAY=%%"},
		"a display afar":   {"DISPLAY=127.0.0.1:7654"},
		"an empty machine": {"DISPLAY=/tmp/none"},
	}
	for name, env := range tests {
		t.Run(name, func(t *testing.T) {
			d := cua.New("/nothing/is/started", &cua.Options{Env: env})
			_, err := d.WindowAt(t.Context(), image.Pt(1, 1))
			require.ErrorIs(t, err, driver.ErrUnsupported)
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = d.WindowAt(ended, image.Pt(1, 1))
			require.Error(t, err)
			require.NoError(t, d.Close())
			_, err = d.WindowAt(t.Context(), image.Pt(1, 1))
			require.ErrorIs(t, err, driver.ErrUnsupported)
		})
	}
}
