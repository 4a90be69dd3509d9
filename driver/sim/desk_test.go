package sim_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
)

// desk is a desktop with one of its windows before it.
type desk struct {
	*sim.Desktop
	t   *testing.T
	ref driver.WindowRef
}

func open(t *testing.T, title string) *desk {
	t.Helper()
	d := sim.New(nil)
	ref := d.Window(title)
	require.False(t, ref.IsZero(), "no window %q", title)
	return &desk{d, t, ref}
}

func (d *desk) read() *driver.Snapshot { return d.readWindow(d.ref) }

func (d *desk) readWindow(ref driver.WindowRef) *driver.Snapshot {
	d.t.Helper()
	s, err := d.Snapshot(d.t.Context(), ref, driver.SnapshotOptions{})
	require.NoError(d.t, err)
	return s
}

// find returns the last element called label; captions stand before their
// controls.
func find(s *driver.Snapshot, label string) *driver.Element {
	for i := len(s.Elements) - 1; i >= 0; i-- {
		if s.Elements[i].Label == label {
			return &s.Elements[i]
		}
	}
	return nil
}

// token is label's in a fresh snapshot.
func (d *desk) token(label string) driver.Token {
	d.t.Helper()
	s, err := d.Snapshot(d.t.Context(), d.ref, driver.SnapshotOptions{NoImage: true})
	require.NoError(d.t, err)
	e := find(s, label)
	require.NotNil(d.t, e, "no element %q", label)
	return driver.Token(e.Token)
}

func (d *desk) do(a driver.Action) driver.Result {
	d.t.Helper()
	res, err := d.Do(d.t.Context(), d.ref, a)
	require.NoError(d.t, err)
	return res
}

func (d *desk) click(label string) driver.Result {
	d.t.Helper()
	return d.do(driver.Click{Target: d.token(label)})
}

func (d *desk) typeText(label, text string) driver.Result {
	d.t.Helper()
	return d.do(driver.TypeText{Target: d.token(label), Text: text})
}

func (d *desk) press(keys ...driver.Key) driver.Result {
	d.t.Helper()
	return d.do(driver.PressKeys{Window: d.ref, Keys: keys})
}

// choose clicks an item of a popup.
func (d *desk) choose(popup driver.WindowRef, item string) {
	d.t.Helper()
	require.False(d.t, popup.IsZero(), "no popup")
	e := find(d.readWindow(popup), item)
	require.NotNil(d.t, e, "no item %q", item)
	_, err := d.Do(d.t.Context(), popup, driver.Click{Target: driver.Token(e.Token)})
	require.NoError(d.t, err)
}

func decode(t *testing.T, s *driver.Snapshot) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(s.Image))
	require.NoError(t, err)
	return m
}
