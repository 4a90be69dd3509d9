package canvastest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/canvastest"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

const asksToSave = `{"version": 1, "rules": [
	{"id": "save", "level": "yellow", "match": {"role": "button", "label": "Save"}},
	{"id": "delete", "level": "blue", "match": {"role": "button", "label": "Delete"}}
]}`

// token finds a control in a fresh look at the selected window.
func token(t *testing.T, d *canvastest.Desk, role, label string) canvas.Token {
	t.Helper()
	seen, err := d.Capture(t.Context(), d.Window(), nil)
	require.NoError(t, err)
	for e := range seen.Elements() {
		if e.Role == role && e.Label == label {
			return e.Token
		}
	}
	require.FailNow(t, "not in sight", "%s %q in\n%s", role, label, seen.Text())
	return ""
}

// act begins an act that waits for the person.
func act(t *testing.T, d *canvastest.Desk, a canvas.Action) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := d.Act(context.Background(), a)
		done <- err
	}()
	return done
}

func TestEX29ApproveEndsAWait(t *testing.T) {
	t.Parallel()
	desk, person := canvastest.New(t, asksToSave)
	done := act(t, desk, canvas.Click{Target: token(t, desk, "button", "Save")})
	asked := person.Approve()
	require.Equal(t, "CLICK", asked.Verb)
	require.Equal(t, "the agent", asked.Agent)
	require.Contains(t, asked.Target, "Save")
	require.NoError(t, <-done)
	require.Equal(t, 1, desk.Screen().Pressed("Save"))
	require.Empty(t, person.Pending())
}

func TestEX29DenyTellsTheAgent(t *testing.T) {
	t.Parallel()
	desk, person := canvastest.New(t, asksToSave)
	done := act(t, desk, canvas.Click{Target: token(t, desk, "button", "Save")})
	person.Deny("wrong customer")
	err := <-done
	require.ErrorIs(t, err, canvas.ApprovalDenied)
	require.ErrorContains(t, err, "wrong customer")
	require.Zero(t, desk.Screen().Pressed("Save"))
}

func TestEX29PauseAndResume(t *testing.T) {
	t.Parallel()
	desk, person := canvastest.New(t, asksToSave)
	person.Pause()
	_, err := desk.ListWindows(t.Context())
	require.ErrorIs(t, err, canvas.Paused)
	person.Resume()
	windows, err := desk.ListWindows(t.Context())
	require.NoError(t, err)
	require.Len(t, windows, 1)
	require.Equal(t, desk.Window(), windows[0].Ref)
}

func TestEX29OneYesForAListOfSteps(t *testing.T) {
	t.Parallel()
	desk, person := canvastest.New(t, "")
	seen, err := desk.Capture(t.Context(), desk.Window(), nil)
	require.NoError(t, err)
	var steps canvas.Steps
	for e := range seen.Elements() {
		switch {
		case e.Role == "textbox" && e.Label == "Name":
			steps = append(steps, canvas.SetValue{Target: e.Token, Value: "Ada"})
		case e.Role == "button" && e.Label == "Save":
			steps = append(steps, canvas.Click{Target: e.Token})
		}
	}
	require.Len(t, steps, 2)
	done := act(t, desk, steps)
	require.Equal(t, 2, person.Approve().Of)
	require.NoError(t, <-done)
	require.Equal(t, "Ada", desk.Screen().Value(desk.Window(), "Name"))
	require.Equal(t, 1, desk.Screen().Pressed("Save"))

	name := token(t, desk, "textbox", "Name")
	done = act(t, desk, canvas.Steps{canvas.SetValue{Target: name, Value: "Eve"}, canvas.SetValue{Target: name, Value: "Mallory"}})
	person.Deny("")
	require.ErrorIs(t, <-done, canvas.ApprovalDenied)
	require.Equal(t, "Ada", desk.Screen().Value(desk.Window(), "Name"))
}

// The policy may select windows itself: every simulated desktop has the same.
func TestEX29PolicySelects(t *testing.T) {
	t.Parallel()
	desk, person := canvastest.New(t, `{"version": 1, "default_level": "green",
		"windows": [{"pid": 4242, "start": 81237, "window_id": 77, "app": "sim-console", "title": "Admin Console"}]}`)
	require.Equal(t, desk.Screen().Window("Admin Console"), desk.Window())
	doc, err := person.Control().Rules()
	require.NoError(t, err)
	require.Equal(t, control.LevelAllow, doc.DefaultLevel)
	_, err = desk.Act(t.Context(), canvas.Click{Target: token(t, desk, "button", "Save")})
	require.NoError(t, err)
	require.Equal(t, 1, desk.Screen().Pressed("Save"))
}

// stub is a test that may fail without failing this one.
type stub struct {
	testing.TB
	dir    string
	failed chan string
	over   []func()
}

func (s *stub) Helper()                   {}
func (s *stub) TempDir() string           { return s.dir }
func (s *stub) Cleanup(f func())          { s.over = append(s.over, f) }
func (s *stub) Errorf(f string, a ...any) { s.failed <- f }

// A person who waits in vain fails the test and lets nothing hang.
func TestEX29WaitingInVainEndsTheSession(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for as long as the person does")
	}
	t.Parallel()
	s := &stub{TB: t, dir: t.TempDir(), failed: make(chan string, 8)}
	desk, person := canvastest.New(s, asksToSave)
	began := time.Now()
	require.Empty(t, person.Approve())
	require.Less(t, time.Since(began), canvastest.Patience+5*time.Second)
	require.Contains(t, <-s.failed, "could not")
	_, err := desk.ListWindows(t.Context())
	require.Error(t, err, "the session is over")
	for _, f := range s.over {
		f()
	}
}

// Every part of the profile is the real thing, on disk.
func TestEX29TheRecordIsKept(t *testing.T) {
	t.Parallel()
	desk, person := canvastest.New(t, asksToSave)
	_, err := desk.Act(t.Context(), canvas.Click{Target: token(t, desk, "button", "Delete")})
	require.ErrorIs(t, err, canvas.ReadOnly)
	report, err := person.Control().Verify()
	require.NoError(t, err)
	require.Nil(t, report.Broken)
	require.NotZero(t, report.Entries)
	_, err = os.Stat(filepath.Join(person.Control().Dir(), "policy.json"))
	require.NoError(t, err)
}
