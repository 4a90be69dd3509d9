// Package canvastest gives a host's own tests a guarded desktop and a person
// who answers, without a display and without a second program.
//
//	desk, person := canvastest.New(t, `{"version": 1, "rules": [
//		{"id": "save", "level": "yellow", "match": {"role": "button", "label": "Save"}}
//	]}`)
//	go host.Run(ctx, desk) // the code under test; desk is a permissioncanvas.Backend
//	asked := person.Approve()
//	require.Equal(t, 1, desk.Screen().Pressed("Save"))
//
// The desktop is that of package sim: real windows, trees and pixels, alike in
// every test. The rules are policy.json as a person would have it. Everything
// between the two is what runs in production: the same decisions, files, locks
// and record.
//
// # Guarantees
//
// Each New has a profile and a desktop of its own, so tests may run side by
// side. Nothing is approved unless the test says so. What goes wrong on the
// person's side fails the test and ends the session, so that no act waits for
// an answer that will not come. All of it ends with the test.
//
// # Limits
//
// A simulated desktop says nothing about a real one's timing or toolkits. The
// person here does not read what she approves: compare the [Card] that
// [Person.Approve] returns with what should have been asked.
//
// Where PERMISSION_CANVAS_HOME is set in the environment of the tests, New
// fails: it would name another profile.
//
// # Concurrency
//
// A Desk and a Person may be used from several goroutines. New belongs on the
// test's own.
package canvastest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

var _ canvas.Backend = (*Desk)(nil)

// A Desk is the agent's side: one session on a simulated desktop.
type Desk struct {
	*canvas.Canvas
	screen *sim.Desktop
	window canvas.WindowRef
}

// Screen is the desktop itself, for looking behind the rules: what was pressed,
// what a field holds, what covers what.
func (d *Desk) Screen() *sim.Desktop { return d.screen }

// Window is the front one of the selected windows.
func (d *Desk) Window() canvas.WindowRef { return d.window }

// New returns a desk and its person. Policy is the text of policy.json; ""
// stands for a new profile's, where everything asks. Where it selects no window,
// the first of the desktop is selected as a person would, which makes a green
// default level yellow. The desktop is the agent's: Pause takes it back.
func New(t testing.TB, policy string) (*Desk, *Person) {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "permission-canvas")
	if policy != "" {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal("canvastest: ", err)
		}
		if err := os.WriteFile(filepath.Join(dir, "policy.json"), []byte(policy), 0o600); err != nil {
			t.Fatal("canvastest: ", err)
		}
	}
	desk := &Desk{screen: sim.New(nil)}
	side, err := control.Open(dir, &control.Options{Driver: desk.screen, By: "person@test"})
	if err != nil {
		t.Fatal("canvastest: the person's side: ", err)
	}
	t.Cleanup(func() { _ = side.Close() })
	person := &Person{t: t, side: side, desk: desk}
	desk.window = person.choose()
	desk.Canvas, err = canvas.New(home, &canvas.Options{Agent: "the agent", Driver: desk.screen})
	if err != nil {
		t.Fatal("canvastest: ", explain(err))
	}
	t.Cleanup(func() { _ = desk.Close() })
	if _, err := side.Resume(t.Context(), nil); err != nil {
		t.Fatal("canvastest: resume: ", err)
	}
	return desk, person
}

// choose returns the front selected window, and selects one where none is.
func (p *Person) choose() canvas.WindowRef {
	p.t.Helper()
	if _, err := p.side.Rules(); err != nil {
		p.t.Fatal("canvastest: these rules cannot be used: ", err)
	}
	windows, err := p.side.Windows(p.t.Context())
	if err != nil || len(windows) == 0 {
		p.t.Fatalf("canvastest: the desktop has %d windows: %v", len(windows), err)
	}
	for _, w := range windows {
		if w.Selected {
			return w.Ref
		}
	}
	for _, w := range windows {
		if w.Changed != "" {
			p.t.Fatalf("canvastest: the policy selects a window that is not the one there: %s", w.Changed)
		}
	}
	s, err := p.side.Select(p.t.Context(), windows[0].Ref, false)
	if err != nil {
		p.t.Fatal("canvastest: select: ", err)
	}
	return s.Window.Ref
}
