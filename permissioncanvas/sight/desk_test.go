package sight_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/redact"
)

var ref = driver.WindowRef{PID: 4242, ID: 77}

var secretColor = color.NRGBA{R: 255, G: 0, B: 255, A: 255}

// desk is a driver that tells what a test wants, call by call.
type desk struct {
	driver.Driver

	mu        sync.Mutex
	windows   []driver.Window
	snapshot  driver.Snapshot
	lists     int
	readings  int
	pictures  int
	onList    func(n int, d *desk) error
	onReading func(n int, d *desk) error // before the nth reading, from 1
}

func (d *desk) Windows(ctx context.Context) ([]driver.Window, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lists++
	if d.onList != nil {
		if err := d.onList(d.lists, d); err != nil {
			return nil, err
		}
	}
	return slices.Clone(d.windows), ctx.Err()
}

func (d *desk) Snapshot(ctx context.Context, _ driver.WindowRef, o driver.SnapshotOptions) (*driver.Snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readings++
	if d.onReading != nil {
		if err := d.onReading(d.readings, d); err != nil {
			return nil, err
		}
	}
	s := d.snapshot
	s.Elements = slices.Clone(s.Elements)
	for i := range s.Elements {
		s.Elements[i].Token = token(d.readings, i)
	}
	if o.NoImage {
		s.Image, s.Size, s.Frame = nil, image.Point{}, image.Rectangle{}
	} else {
		d.pictures++
	}
	return &s, ctx.Err()
}

func token(reading, i int) string { return string(rune('0'+reading)) + ":" + string(rune('0'+i)) }

// newDesk shows one window with the elements, none of which has a place in the
// picture unless paint gives it one.
func newDesk(t testing.TB, elements ...driver.Element) *desk {
	w := driver.Window{
		Ref: ref, Start: 81237, App: "Console", Exe: "console", Title: "Admin Console", Bounds: image.Rect(100, 50, 500, 350), Z: 3,
	}
	d := &desk{windows: []driver.Window{w}}
	d.snapshot = driver.Snapshot{Window: w, Elements: elements, AllText: true, Frame: w.Bounds}
	m := image.NewNRGBA(image.Rectangle{Max: w.Bounds.Size()})
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	d.paint(t, m)
	return d
}

func (d *desk) paint(t testing.TB, m image.Image) {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	d.snapshot.Image, d.snapshot.Size = b.Bytes(), m.Bounds().Size()
}

// change replaces the window's description everywhere.
func (d *desk) change(f func(*driver.Window)) {
	f(&d.windows[0])
	f(&d.snapshot.Window)
	d.snapshot.Frame = d.snapshot.Window.Bounds
}

// element returns one in window coordinates.
func element(parent int, role driver.Role, label string, x, y, w, h int) driver.Element {
	return driver.Element{Parent: parent, Role: role, Label: label, Bounds: image.Rect(100+x, 50+y, 100+x+w, 50+y+h)}
}

// form is a window with a key in a box and two buttons.
func form() []driver.Element {
	return []driver.Element{
		element(-1, driver.RoleWindow, "Admin Console", 0, 0, 400, 300), // 0
		element(0, driver.RoleGroup, "API key", 10, 10, 200, 40),        // 1
		element(1, driver.RoleText, "sk-test-9f2a77c1b0", 80, 20, 120, 20),
		element(0, driver.RoleButton, "Save", 10, 200, 60, 24),
		element(0, driver.RoleButton, "Copy", 150, 40, 60, 24), // overlaps the box
		element(0, driver.RoleTextbox, "Name", 10, 100, 200, 24),
	}
}

func entry() policy.Window {
	return policy.Window{PID: 4242, Start: 81237, WindowID: 77, App: "console", Title: "Admin Console"}
}

// rules returns a policy that selects the window and hides by the matches.
func rules(t testing.TB, change func(*policy.Document), hide ...policy.Match) *policy.Policy {
	doc := policy.New()
	doc.Windows = []policy.Window{entry()}
	for i, m := range hide {
		doc.Rules = append(doc.Rules, policy.Rule{ID: "r" + string(rune('1'+i)), Level: driver.LevelHide, Match: m})
	}
	if change != nil {
		change(&doc)
	}
	p, err := policy.Compile(doc)
	require.NoError(t, err)
	return p
}

var hideBox = policy.Match{App: "console", Role: "group", Label: "API key"}

func pixels(t testing.TB, o *redact.Observation) *image.NRGBA {
	m, err := png.Decode(bytes.NewReader(o.PNG()))
	require.NoError(t, err)
	out := image.NewNRGBA(m.Bounds())
	draw.Draw(out, out.Rect, m, image.Point{}, draw.Src)
	return out
}
