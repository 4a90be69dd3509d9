package control_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// preview looks at a window, which must work.
func (b *bench) preview(t *testing.T, ref driver.WindowRef) *control.Preview {
	t.Helper()
	p, err := b.Preview(t.Context(), ref)
	require.NoError(t, err)
	return p
}

// numbered is the number of the control that has this label.
func numbered(t *testing.T, p *control.Preview, label string) int {
	t.Helper()
	for _, c := range p.Controls {
		if c.Label == label {
			return c.Number
		}
	}
	require.Fail(t, "no control is called "+label)
	return 0
}

// files are all that lies in the data directory, as one text.
func (b *bench) files(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			all.Write(data)
		}
		return err
	}))
	return all.String()
}

func TestPC20PreviewTakesTheDesktop(t *testing.T) {
	b := open(t)
	b.choose(t, b.console, false)
	_, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	p := b.preview(t, b.console)
	require.True(t, b.State().Paused)
	require.Contains(t, notes(p.Notes), "Agents are paused now")
	_, err = b.Preview(t.Context(), driver.WindowRef{PID: 1, ID: 1})
	require.Error(t, err)
}

func TestBX05NumbersHoldNoSecret(t *testing.T) {
	const canary = "9f2a77c1b0"
	b := open(t)
	p := b.preview(t, b.console)
	n := numbered(t, p, "sk-test-"+canary)
	_, err := b.SetNumbered(t.Context(), control.LevelHide, []int{n}, "")
	var text *control.TextError
	require.ErrorAs(t, err, &text)
	require.Len(t, text.Offers, 3)
	for _, as := range []control.As{control.AsShape, control.AsContainer, control.AsFingerprint} {
		done, err := b.SetNumbered(t.Context(), control.LevelHide, []int{n}, as)
		require.NoError(t, err, as)
		require.Len(t, done.Rules, 1)
	}
	require.NotContains(t, b.files(t), canary)
	p = b.preview(t, b.console)
	for _, c := range p.Controls {
		require.NotContains(t, c.Label+c.Value, canary)
	}
	require.True(t, p.Controls[n-1].Hidden)
	require.Equal(t, 18, p.Controls[n-1].Veiled)
	require.NotContains(t, b.files(t), "Customer", "nor any other word of the screen")

	b.preview(t, b.login)
	require.NotContains(t, b.files(t), "correct-horse-7")
}

func TestPreviewShowsNoPassword(t *testing.T) {
	b := open(t)
	p := b.preview(t, b.login)
	c := p.Controls[numbered(t, p, "Password")-1]
	require.Empty(t, c.Value)
	require.Equal(t, len("correct-horse-7"), c.Veiled)
}

func TestNumbersAreOfTheSameControls(t *testing.T) {
	b := open(t)
	_, err := b.SetNumbered(t.Context(), control.LevelHide, []int{1}, "")
	require.ErrorContains(t, err, "look first")
	p := b.preview(t, b.console)
	save, name := numbered(t, p, "Save"), numbered(t, p, "Name")

	t.Run("a control that changed is refused", func(t *testing.T) {
		b.desktop.Relabel(b.console, "Save", "Send")
		_, err := b.SetNumbered(t.Context(), control.LevelAllow, []int{name, save}, "")
		require.ErrorContains(t, err, "is not there any more as the preview had it")
		doc, err := b.Rules()
		require.NoError(t, err)
		require.Empty(t, doc.Rules, "all or none")
		b.desktop.Relabel(b.console, "Send", "Save")
	})
	t.Run("one that moved is the same", func(t *testing.T) {
		_, err := b.SetNumbered(t.Context(), control.LevelAllow, []int{name, save}, "")
		require.NoError(t, err)
	})
	t.Run("another window under the same number is not", func(t *testing.T) {
		again := openIn(t, b.dir)
		again.Attach(restarted{again.desktop})
		_, err := again.SetNumbered(t.Context(), control.LevelAllow, []int{save}, "")
		require.ErrorContains(t, err, "that window is gone")
	})
	t.Run("a broken file", func(t *testing.T) {
		b.write(t, "preview.json", "{}{}")
		_, err := b.SetNumbered(t.Context(), control.LevelHide, []int{1}, "")
		require.ErrorContains(t, err, "look again")
	})
	b.Attach(nil)
	_, err = b.Preview(t.Context(), b.console)
	require.Error(t, err)
}

// restarted is the simulated desktop whose applications were started again.
type restarted struct{ *sim.Desktop }

func (d restarted) Windows(ctx context.Context) ([]driver.Window, error) {
	all, err := d.Desktop.Windows(ctx)
	for i := range all {
		all[i].Start++
	}
	return all, err
}

func (d restarted) Snapshot(ctx context.Context, w driver.WindowRef, o driver.SnapshotOptions) (*driver.Snapshot, error) {
	s, err := d.Desktop.Snapshot(ctx, w, o)
	if s != nil {
		s.Window.Start++
	}
	return s, err
}

func TestBX06AllowWakesByOneGesture(t *testing.T) {
	b := open(t)
	b.choose(t, b.console, false)
	p := b.preview(t, b.console)
	done, err := b.SetNumbered(t.Context(), control.LevelAllow, []int{numbered(t, p, "Name"), numbered(t, p, "Save"), numbered(t, p, "Delete")}, "")
	require.NoError(t, err)
	ids := []string{done.Rules[0].ID, done.Rules[1].ID, done.Rules[2].ID}
	asleep, err := b.Sleeping(t.Context(), b.console)
	require.NoError(t, err)
	require.Empty(t, asleep, "they are awake")

	b.Attach(restarted{b.desktop})
	b.choose(t, b.console, false)
	b.rule(t, b.console, control.LevelAsk, "button", "Delete")
	b.desktop.Relabel(b.console, "Save", "Send")
	asleep, err = b.Sleeping(t.Context(), b.console)
	require.NoError(t, err)
	require.Len(t, asleep, 3)
	require.Empty(t, asleep[0].Why)
	require.Equal(t, "it fits 0 controls here", asleep[1].Why)
	require.Equal(t, "another rule is stricter: Ask first", asleep[2].Why)
	other, err := b.Sleeping(t.Context(), b.login)
	require.NoError(t, err)
	require.Empty(t, other, "of another application nothing wakes")

	_, err = b.Wake(t.Context(), b.console, ids)
	require.ErrorContains(t, err, "stays asleep")
	_, err = b.Wake(t.Context(), b.console, []string{"r99"})
	require.ErrorContains(t, err, "does not sleep")
	woken, err := b.Wake(t.Context(), b.console, ids[:1])
	require.NoError(t, err)
	require.EqualValues(t, 81238, woken[0].Match.Start)
	p = b.preview(t, b.console)
	require.Equal(t, control.LevelAllow, p.Controls[numbered(t, p, "Name")-1].Level)
	none, err := b.Wake(t.Context(), b.console, nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestBX06ARuleForAPageWakesOnThatPageOnly(t *testing.T) {
	b := open(t)
	p := b.preview(t, b.browser)
	done, err := b.SetNumbered(t.Context(), control.LevelAllow, []int{numbered(t, p, "Pay now")}, "")
	require.NoError(t, err)
	r := done.Rules[0]
	r.Match.Start, r.Match.Site = 1, "https://other.example"
	require.NoError(t, b.SetRule(t.Context(), r))
	asleep, err := b.Sleeping(t.Context(), b.browser)
	require.NoError(t, err)
	require.Empty(t, asleep)
	r.Match.Site = "https://acme.example"
	require.NoError(t, b.SetRule(t.Context(), r))
	asleep, err = b.Sleeping(t.Context(), b.browser)
	require.NoError(t, err)
	require.Len(t, asleep, 1)
	require.Equal(t, policy.Match{App: "sim-browser", Site: "https://acme.example", Role: "button", Label: "Pay now",
		PID: b.browser.PID, Start: 82950, WindowID: b.browser.ID}, asleep[0].Awake.Match)
}
