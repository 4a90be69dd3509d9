package control_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// A bench is a person's desk at a simulated desktop.
type bench struct {
	*control.Desk
	desktop *sim.Desktop
	dir     string
	console driver.WindowRef
	login   driver.WindowRef
	browser driver.WindowRef
}

func open(t *testing.T) *bench { return openIn(t, filepath.Join(t.TempDir(), "data")) }

func openIn(t *testing.T, dir string) *bench {
	t.Helper()
	d := sim.New(nil)
	desk, err := control.Open(dir, &control.Options{Driver: d, By: "ada@test"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, desk.Close()) })
	return &bench{Desk: desk, desktop: d, dir: desk.Dir(),
		console: d.Window("Admin Console"), login: d.Window("Staff Login"), browser: d.Window("Orders - Acme")}
}

func (b *bench) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
}

func (b *bench) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	require.NoError(t, err)
	return string(data)
}

// choose selects a window, which must work.
func (b *bench) choose(t *testing.T, ref driver.WindowRef, add bool) control.Selected {
	t.Helper()
	s, err := b.Select(t.Context(), ref, add)
	require.NoError(t, err)
	return s
}

// rule makes a rule on a control of a window and saves it.
func (b *bench) rule(t *testing.T, ref driver.WindowRef, l control.Level, role, label string) control.Rule {
	t.Helper()
	r, err := b.RuleOn(t.Context(), ref, l, control.Want{Role: role, Label: label})
	require.NoError(t, err)
	r, err = b.AddRule(t.Context(), r)
	require.NoError(t, err)
	return r
}

// raw saves a rule that is written by hand.
func (b *bench) raw(t *testing.T, l control.Level, match string) control.Rule {
	t.Helper()
	m, err := control.ParseMatch(match)
	require.NoError(t, err)
	r, err := b.AddRule(t.Context(), control.NewRule(l, m, ""))
	require.NoError(t, err)
	return r
}

// digest is what an agent's ask is bound to.
var digest = strings.Repeat("ab", 32)

// asks is an agent that waits for an answer.
func (b *bench) asks(t *testing.T) (*approval.Store, approval.Pending) {
	t.Helper()
	s, err := approval.Open(filepath.Join(b.dir, "approvals"), nil)
	require.NoError(t, err)
	p, err := s.Request(t.Context(), approval.Ask{
		Digest: digest, Session: "s1", Agent: "robot", Verb: "CLICK", Target: "button Save",
		Window: "sim-console", Place: "Admin Console", Arguments: `{"count":1}`,
	})
	require.NoError(t, err)
	return s, p
}

// records are the entries of one kind.
func (b *bench) records(t *testing.T, kind string) []audit.Entry {
	t.Helper()
	all, err := b.Tail(1000)
	require.NoError(t, err)
	var some []audit.Entry
	for _, e := range all {
		if e.Kind == kind {
			some = append(some, e)
		}
	}
	return some
}

func notes(s []string) string { return strings.Join(s, "\n") }

// Another desktop is the simulated one with more windows on it.
type anotherDesktop struct {
	driver.Driver
	more []driver.Window
}

func (d anotherDesktop) Windows(ctx context.Context) ([]driver.Window, error) {
	all, err := d.Driver.Windows(ctx)
	return append(all, d.more...), err
}

func TestPC01ANewProfile(t *testing.T) {
	t.Run("asks, is paused and has nothing selected", func(t *testing.T) {
		b := open(t)
		doc, err := b.Rules()
		require.NoError(t, err)
		require.Equal(t, control.LevelAsk, doc.DefaultLevel)
		require.Empty(t, doc.Windows)
		require.Empty(t, doc.Rules)
		require.True(t, b.State().Paused)
		require.True(t, b.State().NeverSetUp)
	})
	t.Run("a policy that is there is not touched", func(t *testing.T) {
		dir := t.TempDir()
		text := `{"version": 1, "rules": []}`
		require.NoError(t, os.WriteFile(filepath.Join(dir, profile.PolicyFile), []byte(text), 0o600))
		b := openIn(t, dir)
		require.Equal(t, text, b.read(t, profile.PolicyFile))
		doc, err := b.Rules()
		require.NoError(t, err)
		require.Equal(t, control.LevelAsk, doc.DefaultLevel, "omitted means ask")
	})
	t.Run("one that is not known is refused and left, and pausing works", func(t *testing.T) {
		dir := t.TempDir()
		text := `{"version": 2}`
		require.NoError(t, os.WriteFile(filepath.Join(dir, profile.PolicyFile), []byte(text), 0o600))
		b := openIn(t, dir)
		for name, do := range map[string]func() error{
			"rules":  func() error { _, err := b.Rules(); return err },
			"add":    func() error { _, err := b.AddRule(t.Context(), control.Rule{}); return err },
			"select": func() error { _, err := b.Select(t.Context(), b.console, false); return err },
			"look": func() error {
				_, err := b.RuleOn(t.Context(), b.console, control.LevelHide, control.Want{Label: "Notes"})
				return err
			},
			"preview":  func() error { _, err := b.Preview(t.Context(), b.console); return err },
			"forecast": func() error { _, err := b.Forecast(t.Context()); return err },
			"resume":   func() error { _, err := b.Resume(t.Context(), nil); return err },
		} {
			require.ErrorContains(t, do(), "version", name)
		}
		_, err := b.Pause(t.Context(), "broken")
		require.NoError(t, err)
		require.Equal(t, "broken", b.State().Reason)
		require.Equal(t, text, b.read(t, profile.PolicyFile))
	})
	t.Run("rules that were lost are not made anew", func(t *testing.T) {
		b := open(t)
		b.choose(t, b.console, false)
		require.NoError(t, os.Remove(filepath.Join(b.dir, profile.PolicyFile)))
		again := openIn(t, b.dir)
		_, err := again.Rules()
		require.ErrorContains(t, err, "missing")
		_, err = again.Resume(t.Context(), nil)
		require.Error(t, err)
		require.True(t, again.State().Paused)
	})
}

func TestPC01AGreenDefaultEndsWithASelectionOrAPreview(t *testing.T) {
	for name, do := range map[string]func(*bench) []string{
		"select": func(b *bench) []string { return b.choose(t, b.console, false).Notes },
		"preview": func(b *bench) []string {
			p, err := b.Preview(t.Context(), b.console)
			require.NoError(t, err)
			require.NotEmpty(t, p.Look.Snapshot.Image)
			return p.Notes
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			b.write(t, profile.PolicyFile, `{"version": 1, "default_level": "green"}`)
			require.Contains(t, notes(do(b)), "asks first now")
			doc, err := b.Rules()
			require.NoError(t, err)
			require.Equal(t, control.LevelAsk, doc.DefaultLevel)
			require.True(t, b.State().Paused)
		})
	}
}

func TestPC20PausesLast(t *testing.T) {
	b := open(t)
	_, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	require.False(t, b.State().Paused)
	gate := handoff.Open(b.dir)
	leave, err := gate.Enter()
	require.NoError(t, err)
	leave()

	p, err := b.Pause(t.Context(), "lunch")
	require.NoError(t, err)
	require.Equal(t, "lunch", p.Pause.Reason)
	require.Equal(t, "ada@test", p.Pause.By)
	require.Contains(t, notes(p.Notes), "paused now")
	_, err = handoff.Open(b.dir).Enter()
	require.ErrorIs(t, err, handoff.ErrPaused, "nobody holds a lock any more, and it is paused")

	_, err = b.Resume(t.Context(), nil)
	require.NoError(t, err)
	s := b.choose(t, b.console, false)
	require.Contains(t, notes(s.Notes), "paused now")
	require.True(t, openIn(t, b.dir).State().Paused, "choosing takes the desktop and does not give it back")
	require.Equal(t, "choosing a window", b.State().Reason)
}

func TestPC20AnEditPausesNobody(t *testing.T) {
	b := open(t)
	_, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	b.rule(t, b.console, control.LevelHide, "textbox", "Notes")
	require.False(t, b.State().Paused)
}

func TestPC20WatchingTakesNothing(t *testing.T) {
	b := open(t)
	_, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	leave, err := handoff.Open(b.dir).Enter()
	require.NoError(t, err)
	defer leave()
	_, ask := b.asks(t)
	began := time.Now()
	cards, err := b.Pending(t.Context())
	require.NoError(t, err)
	require.Len(t, cards, 1)
	require.NoError(t, b.Approve(t.Context(), ask.ID))
	require.NoError(t, b.Deny(t.Context(), ask.ID, ""))
	_, err = b.Rules()
	require.NoError(t, err)
	_, err = b.Verify()
	require.NoError(t, err)
	require.False(t, b.State().Paused)
	require.Less(t, time.Since(began), 4*time.Second, "an agent in a call holds none of these up")
}

func TestD16AnAgentThatHangsHoldsNobodyUpForEver(t *testing.T) {
	for name, do := range map[string]func(*bench) ([]string, error){
		"pause": func(b *bench) ([]string, error) {
			p, err := b.Pause(t.Context(), "")
			return p.Notes, err
		},
		"select": func(b *bench) ([]string, error) {
			s, err := b.Select(t.Context(), b.console, false)
			return s.Notes, err
		},
		"edit": func(b *bench) ([]string, error) {
			m, err := control.ParseMatch(`{"label":"Notes"}`)
			require.NoError(t, err)
			_, err = b.AddRule(t.Context(), control.NewRule(control.LevelHide, m, ""))
			return []string{"still in a call"}, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			_, err := b.Resume(context.Background(), nil)
			require.NoError(t, err)
			leave, err := handoff.Open(b.dir).Enter()
			require.NoError(t, err)
			defer leave()
			said, err := do(b)
			require.NoError(t, err)
			require.Contains(t, notes(said), "still in a call")
		})
	}
}

func TestD35APersonWasThere(t *testing.T) {
	for name, do := range map[string]func(*bench) error{
		"pending": func(b *bench) error { _, err := b.Pending(t.Context()); return err },
		"select":  func(b *bench) error { _, err := b.Select(t.Context(), b.console, false); return err },
		"resume":  func(b *bench) error { _, err := b.Resume(t.Context(), nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			gate := handoff.Open(b.dir)
			require.False(t, gate.EverAnswered())
			require.NoError(t, do(b))
			require.True(t, gate.EverAnswered())
			require.False(t, gate.Answering(), "only for the moment")
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := control.Open(t.TempDir(), &control.Options{By: strings.Repeat("x", 65)})
	require.Error(t, err)
	dir := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	_, err = control.Open(dir, nil)
	require.Error(t, err)
}

func TestWithoutADriver(t *testing.T) {
	desk, err := control.Open(t.TempDir(), nil)
	require.NoError(t, err)
	_, err = desk.Windows(t.Context())
	require.ErrorIs(t, err, control.ErrNoDriver)
	_, err = desk.Select(t.Context(), driver.WindowRef{PID: 1, ID: 1}, false)
	require.ErrorIs(t, err, control.ErrNoDriver)
	_, err = desk.Find(t.Context(), "x")
	require.ErrorIs(t, err, control.ErrNoDriver)
	_, err = desk.RuleOn(t.Context(), driver.WindowRef{PID: 1, ID: 1}, control.LevelHide, control.Want{})
	require.ErrorIs(t, err, control.ErrNoDriver)
	f, err := desk.Resume(t.Context(), nil)
	require.NoError(t, err, "what a person can do without looking, she can")
	require.Contains(t, notes(f.Remains), "No window is selected")
	desk.Attach(sim.New(nil))
	all, err := desk.Windows(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 3)
}
