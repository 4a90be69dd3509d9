package cua

import (
	"image"

	"github.com/jezek/xgb/res"
	"github.com/jezek/xgb/shape"
	"github.com/jezek/xgb/xproto"

	"github.com/permission-canvas/permission-canvas/driver"
)

// topAt returns the root's topmost child that takes input at p, 0 where there
// is none.
func (x *xserver) topAt(p image.Point) (xproto.Window, error) {
	tree, err := xproto.QueryTree(x.conn, x.root).Reply()
	if err != nil {
		return 0, err
	}
	n := len(tree.Children)
	attributes := make([]xproto.GetWindowAttributesCookie, n)
	places := make([]xproto.GetGeometryCookie, n)
	for i, w := range tree.Children { // all questions first, then all answers
		attributes[i] = xproto.GetWindowAttributes(x.conn, w)
		places[i] = xproto.GetGeometry(x.conn, xproto.Drawable(w))
	}
	found := xproto.Window(0)
	for i := n - 1; i >= 0; i-- { // the last child is the topmost
		a, aerr := attributes[i].Reply()
		g, gerr := places[i].Reply()
		if found != 0 || aerr != nil || gerr != nil || a.MapState != xproto.MapStateViewable {
			continue
		}
		border := int(g.BorderWidth)
		size := image.Pt(int(g.Width)+2*border, int(g.Height)+2*border)
		origin := image.Pt(int(g.X), int(g.Y))
		if !p.In(image.Rectangle{Min: origin, Max: origin.Add(size)}) {
			continue
		}
		inside := p.Sub(origin).Sub(image.Pt(border, border))
		takes, err := x.takesInput(tree.Children[i], inside)
		if err != nil {
			return 0, err
		}
		if takes {
			found = tree.Children[i]
		}
	}
	return found, nil
}

// takesInput asks the SHAPE extension whether w is there at p at all: its own
// outline, and the region in which it takes input. cua-driver's overlay covers
// the screen with an empty one (M11).
func (x *xserver) takesInput(w xproto.Window, p image.Point) (bool, error) {
	if !x.shaped {
		return true, nil
	}
	for _, kind := range []shape.Kind{shape.SkBounding, shape.SkInput} {
		r, err := shape.GetRectangles(x.conn, w, kind).Reply()
		if err != nil {
			return false, gone(err)
		}
		in := false
		for _, b := range r.Rectangles {
			at := image.Pt(int(b.X), int(b.Y))
			in = in || p.In(image.Rectangle{Min: at, Max: at.Add(image.Pt(int(b.Width), int(b.Height)))})
		}
		if !in {
			return false, nil
		}
	}
	return true, nil
}

// owner turns a child of the root, often a window manager's frame, into the
// application's window that drivers list.
func (x *xserver) owner(top xproto.Window) (driver.Hit, error) {
	client, err := x.client(top, 3)
	if err != nil {
		return driver.Hit{}, err
	}
	above := false
	if client == 0 {
		client, above = top, true // a popup or panel that no window manager stacks
	}
	pid, err := x.pid(client)
	if err != nil || pid == 0 {
		return driver.Hit{Above: above}, err
	}
	if !above {
		if above, err = x.staysAbove(client); err != nil {
			return driver.Hit{}, err
		}
	}
	return driver.Hit{Window: driver.WindowRef{PID: pid, ID: uint64(client)}, Above: above}, nil
}

// client finds the managed window within w, which has WM_STATE (ICCCM 4.1.3.1).
func (x *xserver) client(w xproto.Window, depth int) (xproto.Window, error) {
	kind, err := x.atom("WM_STATE")
	if err != nil {
		return 0, err
	}
	state, err := x.cardinals(w, "WM_STATE", kind)
	if err != nil {
		return 0, err
	}
	if len(state) > 0 {
		return w, nil
	}
	if depth == 0 {
		return 0, nil
	}
	tree, err := xproto.QueryTree(x.conn, w).Reply()
	if err != nil {
		return 0, gone(err)
	}
	for _, c := range tree.Children {
		found, err := x.client(c, depth-1)
		if found != 0 || err != nil {
			return found, err
		}
	}
	return 0, nil
}

// pid returns the process that says it owns w, else the one that the server
// knows to own it.
func (x *xserver) pid(w xproto.Window) (int, error) {
	v, err := x.cardinals(w, "_NET_WM_PID", xproto.AtomCardinal)
	if err != nil {
		return 0, err
	}
	if len(v) == 1 && v[0] > 0 && v[0] < 1<<31 {
		return int(v[0]), nil
	}
	if !x.owners {
		return 0, nil
	}
	spec := res.ClientIdSpec{Client: uint32(w), Mask: res.ClientIdMaskLocalClientPID}
	r, err := res.QueryClientIds(x.conn, 1, []res.ClientIdSpec{spec}).Reply()
	if err != nil {
		return 0, nil // an old server; nobody knows then
	}
	for _, id := range r.Ids {
		if len(id.Value) == 1 && id.Value[0] > 0 && id.Value[0] < 1<<31 {
			return int(id.Value[0]), nil
		}
	}
	return 0, nil
}

// staysAbove reports whether the window manager keeps w over others.
func (x *xserver) staysAbove(w xproto.Window) (bool, error) {
	for property, values := range map[string][]string{
		"_NET_WM_STATE":       {"_NET_WM_STATE_ABOVE"},
		"_NET_WM_WINDOW_TYPE": {"_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_NOTIFICATION"},
	} {
		has, err := x.cardinals(w, property, xproto.AtomAtom)
		if err != nil {
			return false, err
		}
		for _, v := range values {
			a, err := x.atom(v)
			if err != nil {
				return false, err
			}
			for _, h := range has {
				if xproto.Atom(h) == a {
					return true, nil
				}
			}
		}
	}
	return false, nil
}
