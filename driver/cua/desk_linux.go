package cua

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"github.com/permission-canvas/permission-canvas/driver"
)

// askLimit bounds one question to the X server.
const askLimit = 5 * time.Second

// desk is the X server, asked over a connection of ours. On a Wayland desktop
// X knows only a part of the windows, so nothing is asked there.
type desk struct {
	display string
	wayland bool
	place   chan struct{} // holds one: the right to ask

	mu     sync.Mutex
	x      *xserver
	closed bool
}

// xserver is one connection and what was learnt on it.
type xserver struct {
	conn   *xgb.Conn
	root   xproto.Window
	shaped bool
	owners bool // the X-Resource extension says who owns a window
	atoms  map[string]xproto.Atom
}

func newDesk(env []string) *desk {
	return &desk{
		display: lookup(env, "DISPLAY"), wayland: lookup(env, "WAYLAND_DISPLAY") != "",
		place: make(chan struct{}, 1),
	}
}

func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.hangUp()
}

// hangUp ends the connection; d.mu is held.
func (d *desk) hangUp() {
	if d.x != nil {
		d.x.conn.Close()
		d.x = nil
	}
}

// ask runs f on the connection, making one where there is none, and ends it
// where f fails: the next question starts on a new one.
func (d *desk) ask(ctx context.Context, f func(*xserver) error) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	if d.display == "" || d.wayland {
		return fmt.Errorf("%w: no X server", driver.ErrUnsupported)
	}
	if err := take(ctx, d.place); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		defer release(d.place)
		x, err := d.connection()
		if err == nil {
			err = f(x)
		}
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		d.mu.Lock()
		d.hangUp()
		d.mu.Unlock()
		return fmt.Errorf("%w: %w", driver.ErrUnsupported, err)
	}
	return nil
}

func (d *desk) connection() (*xserver, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.New("closed")
	}
	if d.x != nil {
		return d.x, nil
	}
	xgb.Logger.SetOutput(io.Discard) // it would tell standard error that there is no authority file
	conn, err := xgb.NewConnDisplay(d.display)
	if err != nil {
		return nil, errors.New("no connection to the X server")
	}
	x := &xserver{conn: conn, root: xproto.Setup(conn).DefaultScreen(conn).Root, atoms: map[string]xproto.Atom{}}
	x.shaped = x.enable("SHAPE")
	x.owners = x.enable("X-Resource")
	d.x = x
	return x, nil
}

// enable does what the Init of xgb's extension packages does, but for this
// connection alone: theirs also changes maps of the package that the readers
// of other connections look at. We ask for no events, which those are for.
func (x *xserver) enable(extension string) bool {
	r, err := xproto.QueryExtension(x.conn, uint16(len(extension)), extension).Reply()
	if err != nil || !r.Present {
		return false
	}
	x.conn.ExtLock.Lock()
	defer x.conn.ExtLock.Unlock()
	x.conn.Extensions[extension] = r.MajorOpcode
	return true
}

// margins reads what the application declares as its window's margins.
func (d *desk) margins(id uint64) margins {
	var m margins
	err := d.ask(context.Background(), func(x *xserver) error {
		v, err := x.cardinals(xproto.Window(id), "_GTK_FRAME_EXTENTS", xproto.AtomCardinal)
		if err != nil {
			return err
		}
		m.known = true
		if len(v) == 4 && max(v[0], v[1], v[2], v[3]) < 1<<12 {
			m.left, m.right, m.top, m.bottom = int(v[0]), int(v[1]), int(v[2]), int(v[3])
		}
		return nil
	})
	if err != nil {
		return margins{}
	}
	return m
}

// screen returns the screen's rectangle, all monitors together; false where it
// is not known.
func (d *desk) screen() (image.Rectangle, bool) {
	var r image.Rectangle
	err := d.ask(context.Background(), func(x *xserver) error {
		g, err := xproto.GetGeometry(x.conn, xproto.Drawable(x.root)).Reply()
		if err == nil {
			r = image.Rect(0, 0, int(g.Width), int(g.Height))
		}
		return err
	})
	return r, err == nil && !r.Empty()
}

// hit finds the window that the real pointer would press at p.
func (d *desk) hit(ctx context.Context, p image.Point) (driver.Hit, error) {
	var hit driver.Hit
	err := d.ask(ctx, func(x *xserver) error {
		top, err := x.topAt(p)
		if err == nil && top != 0 {
			hit, err = x.owner(top)
		}
		return err
	})
	return hit, err
}

func (x *xserver) atom(name string) (xproto.Atom, error) {
	if a, ok := x.atoms[name]; ok {
		return a, nil
	}
	r, err := xproto.InternAtom(x.conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		return 0, err
	}
	x.atoms[name] = r.Atom
	return r.Atom, nil
}

// cardinals reads a property of 32-bit values; none where there is none, or
// where the window is gone.
func (x *xserver) cardinals(w xproto.Window, name string, kind xproto.Atom) ([]uint32, error) {
	a, err := x.atom(name)
	if err != nil {
		return nil, err
	}
	r, err := xproto.GetProperty(x.conn, false, w, a, kind, 0, 64).Reply()
	if err != nil {
		return nil, gone(err)
	}
	if r.Format != 32 {
		return nil, nil
	}
	v := make([]uint32, r.ValueLen)
	for i := range v {
		v[i] = xgb.Get32(r.Value[4*i:])
	}
	return v, nil
}

// gone drops the error of a window that ended meanwhile.
func gone(err error) error {
	switch err.(type) {
	case xproto.WindowError, xproto.DrawableError:
		return nil
	}
	return err
}
