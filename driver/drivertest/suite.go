// Package drivertest tests drivers, and lends lying ones to the tests of what
// stands on a driver. Only tests import it.
//
//   - [Test] is the suite that every driver.Driver passes. It runs on the
//     simulated desktop always and on the real driver where there is one.
//   - [Liar] wraps a driver and spoils what it answers.
//   - [Executable] makes a lying driver that is a process of its own and speaks
//     MCP on its standard streams, for the tests of driver/cua.
package drivertest

import (
	"bytes"
	"context"
	"errors"
	"image"
	_ "image/jpeg" // drivers may answer with it
	_ "image/png"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Fixture is a driver and the desktop that it is tried on. The desktop shows
// one window with a button and a text field that is empty.
type Fixture struct {
	Driver driver.Driver // the suite closes it

	Window string // the title of the window, which no other has
	Other  string // the title of another window, "" for none
	Button string // the label of the button
	Field  string // the label of the field

	// Delivery is how a click reaches the window. Text is always typed in the
	// foreground.
	Delivery driver.Delivery

	// Presses returns how often the button was pressed, and Text what the
	// field holds, both known otherwise than through the driver.
	Presses func() int
	Text    func() string

	// CloseWindow closes the window. Where it is nil a window that goes is not
	// tried.
	CloseWindow func()

	// Settle is how long an effect may take to be observed; 0 is not at all.
	Settle time.Duration
}

// prompt is how soon a call whose context has ended must have returned.
const prompt = 3 * time.Second

// Test tries a driver. It calls open for every part, which may put up one
// desktop for all of them, but opens a new driver each time and begins with an
// empty field.
func Test(t *testing.T, open func(t *testing.T) Fixture) {
	parts := []struct {
		name string
		run  func(*testing.T, *trial)
	}{
		{"PC10/windows are named exactly", windowsAreExact},
		{"PC10/no window is what no ref names", unknownWindow},
		{"PC10/a closed window is gone", closedWindow},
		{"PC05/parents stand before their children", treeIsOrdered},
		{"PC06/bounds are within reason", boundsAreSane},
		{"PC12/the picture is whole and of its size", pictureIsWhole},
		{"PC12/a tree may be read alone", treeAlone},
		{"PC14/tokens die with the next snapshot", staleToken},
		{"PC14/tokens are of one window", foreignToken},
		{"PC14/a token that was never given does nothing", madeUpToken},
		{"PC21/a click reaches the button once", clickOnce},
		{"PC32/text goes into its field", typeIntoField},
		{"PC02/a value is set exactly", setExactly},
		{"PC35/the window under a point", windowUnderPoint},
		{"TG01/tools are listed as they are", toolsAreListed},
		{"PC21/an ended context ends the call", endedContext},
		{"PC47/calls may overlap", overlappingCalls},
		{"PC21/closing ends it for good", closing},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) {
			f := open(t)
			t.Cleanup(func() { _ = f.Driver.Close() })
			p.run(t, newTrial(t, f))
		})
	}
}

// trial is a fixture whose window was found.
type trial struct {
	Fixture
	ctx context.Context
	ref driver.WindowRef
}

func newTrial(t *testing.T, f Fixture) *trial {
	tr := &trial{Fixture: f, ctx: t.Context()}
	tr.ref = tr.named(t, f.Window).Ref
	return tr
}

// named returns the one window of that title.
func (tr *trial) named(t *testing.T, title string) driver.Window {
	t.Helper()
	list, err := tr.Driver.Windows(tr.ctx)
	require.NoError(t, err)
	var found []driver.Window
	for _, w := range list {
		if w.Title == title {
			found = append(found, w)
		}
	}
	require.Len(t, found, 1, "windows of title %q", title)
	return found[0]
}

func (tr *trial) read(t *testing.T, opts driver.SnapshotOptions) *driver.Snapshot {
	t.Helper()
	s, err := tr.Driver.Snapshot(tr.ctx, tr.ref, opts)
	require.NoError(t, err)
	require.NotNil(t, s)
	return s
}

// button and field return the two controls of s.
func (tr *trial) button(t *testing.T, s *driver.Snapshot) *driver.Element {
	t.Helper()
	return find(t, s, tr.Button, func(r driver.Role) bool { return r == driver.RoleButton })
}

func (tr *trial) field(t *testing.T, s *driver.Snapshot) *driver.Element {
	t.Helper()
	return find(t, s, tr.Field, driver.Role.IsTextField)
}

func find(t *testing.T, s *driver.Snapshot, label string, is func(driver.Role) bool) *driver.Element {
	t.Helper()
	for i := range s.Elements {
		if e := &s.Elements[i]; e.Label == label && is(e.Role) {
			return e
		}
	}
	require.Failf(t, "control is not in the tree", "label %q among %d elements", label, len(s.Elements))
	return nil
}

// settled waits until ok holds or the time for it is over.
func (tr *trial) settled(ok func() bool) bool {
	for end := time.Now().Add(tr.Settle); ; time.Sleep(20 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// rest waits as long as an effect could take, so that one too many shows.
func (tr *trial) rest() { time.Sleep(tr.Settle / 2) }

func windowsAreExact(t *testing.T, tr *trial) {
	list, err := tr.Driver.Windows(tr.ctx)
	require.NoError(t, err)
	seen := map[driver.WindowRef]bool{}
	for _, w := range list {
		require.False(t, w.Ref.IsZero(), "a placeholder is not a window: %+v", w)
		require.False(t, seen[w.Ref], "%v is listed twice", w.Ref)
		seen[w.Ref] = true
	}
	w := tr.named(t, tr.Window)
	require.NotEmpty(t, w.AppName())
	require.False(t, w.Bounds.Empty())
	again := tr.named(t, tr.Window)
	again.Z = w.Z
	require.Equal(t, w, again)
	s := tr.read(t, driver.SnapshotOptions{NoImage: true})
	require.Equal(t, tr.ref, s.Window.Ref)
	require.Equal(t, tr.Window, s.Window.Title)
	require.Equal(t, w.Start, s.Window.Start)
	require.True(t, s.Window.IsApp(w.AppName()))
}

func unknownWindow(t *testing.T, tr *trial) {
	for name, ref := range map[string]driver.WindowRef{
		"none":       {},
		"negative":   {PID: -1, ID: tr.ref.ID},
		"other id":   {PID: tr.ref.PID, ID: tr.ref.ID ^ 0x5a5a5a},
		"other pid":  {PID: tr.ref.PID ^ 0x15555, ID: tr.ref.ID},
		"id missing": {PID: tr.ref.PID},
	} {
		_, err := tr.Driver.Snapshot(tr.ctx, ref, driver.SnapshotOptions{})
		require.ErrorIs(t, err, driver.ErrWindowGone, name)
		_, err = tr.Driver.Do(tr.ctx, ref, driver.Raise{Window: ref})
		require.ErrorIs(t, err, driver.ErrNoEffect, name)
	}
}

func closedWindow(t *testing.T, tr *trial) {
	if tr.CloseWindow == nil {
		return // as Fixture says
	}
	token := driver.Token(tr.button(t, tr.read(t, driver.SnapshotOptions{NoImage: true})).Token)
	tr.CloseWindow()
	gone := func() bool {
		list, err := tr.Driver.Windows(tr.ctx)
		require.NoError(t, err)
		for _, w := range list {
			if w.Ref == tr.ref {
				return false
			}
		}
		return true
	}
	require.True(t, tr.settled(gone), "the window is still listed")
	_, err := tr.Driver.Snapshot(tr.ctx, tr.ref, driver.SnapshotOptions{})
	require.ErrorIs(t, err, driver.ErrWindowGone)
	_, err = tr.Driver.Do(tr.ctx, tr.ref, driver.Click{Target: token, Delivery: tr.Delivery})
	require.ErrorIs(t, err, driver.ErrNoEffect)
}

func treeIsOrdered(t *testing.T, tr *trial) {
	s := tr.read(t, driver.SnapshotOptions{})
	require.NotEmpty(t, s.Elements)
	seen := map[string]bool{}
	for i, e := range s.Elements {
		require.GreaterOrEqual(t, e.Parent, -1)
		require.Less(t, e.Parent, i, "element %d stands before its parent", i)
		require.NotEmpty(t, e.Token)
		require.False(t, seen[e.Token], "token %s names two elements", e.Token)
		seen[e.Token] = true
	}
	tr.button(t, s)
	tr.field(t, s)
	require.WithinDuration(t, time.Now(), s.Taken, time.Minute)
}

func boundsAreSane(t *testing.T, tr *trial) {
	s := tr.read(t, driver.SnapshotOptions{})
	for i, e := range s.Elements {
		b := e.Bounds
		require.Less(t, max(b.Dx(), b.Dy()), 1<<20, "element %d", i)
		require.Less(t, max(-b.Min.X, -b.Min.Y, b.Max.X, b.Max.Y), 1<<24, "element %d", i)
	}
	grown := s.Window.Bounds.Inset(-64)
	require.True(t, tr.button(t, s).Bounds.In(grown), "the button lies outside of its window")
	require.True(t, tr.field(t, s).Bounds.In(grown), "the field lies outside of its window")
	require.True(t, tr.button(t, s).Bounds.Intersect(tr.field(t, s).Bounds).Empty())
}

func pictureIsWhole(t *testing.T, tr *trial) {
	s := tr.read(t, driver.SnapshotOptions{})
	require.NotEmpty(t, s.Image)
	m, _, err := image.Decode(bytes.NewReader(s.Image))
	require.NoError(t, err)
	require.Equal(t, s.Size, m.Bounds().Size())
	require.False(t, s.Frame.Empty())
	require.True(t, tr.button(t, s).Bounds.In(s.Frame), "the picture does not show the button")
	wide, high := float64(s.Size.X)/float64(s.Frame.Dx()), float64(s.Size.Y)/float64(s.Frame.Dy())
	require.InEpsilon(t, wide, high, 0.02, "the picture is stretched")
	require.NotEqual(t, 1, colours(m), "the picture is one flat colour")
}

// colours counts those of a picture, to two.
func colours(m image.Image) int {
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if m.At(x, y) != m.At(b.Min.X, b.Min.Y) {
				return 2
			}
		}
	}
	return 1
}

func treeAlone(t *testing.T, tr *trial) {
	s := tr.read(t, driver.SnapshotOptions{NoImage: true})
	whole := tr.read(t, driver.SnapshotOptions{})
	require.Len(t, s.Elements, len(whole.Elements), "less than all was read")
	tr.button(t, s)
}

func endedContext(t *testing.T, tr *trial) {
	token := driver.Token(tr.button(t, tr.read(t, driver.SnapshotOptions{NoImage: true})).Token)
	before := tr.Presses()
	ended, cancel := context.WithCancel(tr.ctx)
	cancel()
	var err error
	within(t, "Windows", func() { _, err = tr.Driver.Windows(ended) })
	require.Error(t, err)
	within(t, "Snapshot", func() { _, err = tr.Driver.Snapshot(ended, tr.ref, driver.SnapshotOptions{}) })
	require.Error(t, err)
	within(t, "Do", func() {
		_, err = tr.Driver.Do(ended, tr.ref, driver.Click{Target: token, Delivery: tr.Delivery})
	})
	require.Error(t, err)
	if errors.Is(err, driver.ErrNoEffect) {
		tr.rest()
		require.Equal(t, before, tr.Presses(), "proof of no effect, and an effect")
	}
	short, cancel := context.WithTimeout(tr.ctx, time.Millisecond)
	defer cancel()
	within(t, "Snapshot", func() { _, _ = tr.Driver.Snapshot(short, tr.ref, driver.SnapshotOptions{}) })
	tr.read(t, driver.SnapshotOptions{NoImage: true}) // and it goes on
}

// within fails where f takes longer than prompt.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(prompt):
		require.Failf(t, "did not return", "%s, %v after its context ended", what, prompt)
	}
}

func overlappingCalls(t *testing.T, tr *trial) {
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	for range 4 {
		wg.Go(func() {
			_, err := tr.Driver.Windows(tr.ctx)
			errs <- err
		})
		wg.Go(func() {
			s, err := tr.Driver.Snapshot(tr.ctx, tr.ref, driver.SnapshotOptions{NoImage: true})
			if err == nil && s.Window.Ref != tr.ref {
				err = errors.New("another window's snapshot")
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
}

func closing(t *testing.T, tr *trial) {
	under := make(chan struct{})
	go func() {
		defer close(under)
		_, _ = tr.Driver.Snapshot(tr.ctx, tr.ref, driver.SnapshotOptions{})
	}()
	require.NoError(t, tr.Driver.Close())
	require.NoError(t, tr.Driver.Close())
	select {
	case <-under:
	case <-time.After(prompt):
		require.Fail(t, "a call under way did not return")
	}
	_, err := tr.Driver.Windows(tr.ctx)
	require.ErrorIs(t, err, driver.ErrUnavailable)
	_, err = tr.Driver.Do(tr.ctx, tr.ref, driver.Raise{Window: tr.ref})
	require.ErrorIs(t, err, driver.ErrNoEffect)
}
