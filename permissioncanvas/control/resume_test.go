package control_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

func TestPC08AcceptingIsASecondExplicitStep(t *testing.T) {
	b := open(t)
	b.choose(t, b.console, false)
	b.choose(t, b.login, true)
	gone := b.raw(t, control.LevelHide, `{"app":"sim-console","role":"button","label":"Gone"}`)
	there := b.rule(t, b.console, control.LevelHide, "textbox", "Notes")

	f, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, []string{gone.ID}, f.Missing())
	require.Contains(t, notes(f.Remains), "until you accept that")
	reviews, err := profileOf(t, b).Reviews()
	require.NoError(t, err)
	require.Empty(t, reviews, "resuming accepts nothing by itself")

	_, err = b.Resume(t.Context(), []string{there.ID})
	require.ErrorContains(t, err, "nothing to accept")
	_, err = b.Resume(t.Context(), []string{"r77"})
	require.ErrorContains(t, err, "r77")
	f, err = b.Resume(t.Context(), []string{gone.ID})
	require.NoError(t, err)
	require.Empty(t, f.Missing())
	require.Equal(t, []string{gone.ID}, window(t, f, b.console).Accepted)
	require.Empty(t, window(t, f, b.login).Accepted, "it was missing in one window only")
	reviews, err = profileOf(t, b).Reviews()
	require.NoError(t, err)
	require.Len(t, reviews, 1)

	_, err = b.Resume(t.Context(), []string{gone.ID})
	require.NoError(t, err, "again")
	reviews, err = profileOf(t, b).Reviews()
	require.NoError(t, err)
	require.Len(t, reviews, 1)

	t.Run("an edit of the rule ends it", func(t *testing.T) {
		gone.Match.Label = "Gone too"
		require.NoError(t, b.SetRule(t.Context(), gone))
		f, err := b.Forecast(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{gone.ID}, f.Missing())
	})
	t.Run("so does the window's end, and the file forgets", func(t *testing.T) {
		_, err = b.Resume(t.Context(), []string{gone.ID})
		require.NoError(t, err)
		b.desktop.Relaunch(b.console)
		b.choose(t, b.console, false)
		f, err := b.Forecast(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{gone.ID}, f.Missing())
		_, err = b.Resume(t.Context(), []string{gone.ID})
		require.NoError(t, err)
		reviews, err := profileOf(t, b).Reviews()
		require.NoError(t, err)
		require.Len(t, reviews, 1)
	})
}

func profileOf(t *testing.T, b *bench) *profile.Profile {
	t.Helper()
	p, err := profile.Open(b.dir)
	require.NoError(t, err)
	return p
}

func window(t *testing.T, f control.Forecast, ref driver.WindowRef) control.WindowForecast {
	t.Helper()
	for _, w := range f.Windows {
		if w.Window.Ref == ref {
			return w
		}
	}
	require.Fail(t, "not in the forecast")
	return control.WindowForecast{}
}

func TestPC20ResumeSaysWhatItMeans(t *testing.T) {
	b := open(t)
	b.choose(t, b.console, false)
	b.rule(t, b.console, control.LevelHide, "textbox", "Notes")
	b.rule(t, b.console, control.LevelAllow, "textbox", "Name")
	b.rule(t, b.console, control.LevelReadOnly, "button", "Delete")
	f, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, control.LevelAsk, f.Default)
	require.Empty(t, f.Remains)
	w := f.Windows[0]
	require.Equal(t, []int{1, 3, 1, 1}, []int{w.Allow, w.Ask, w.ReadOnly, w.Hidden})
	require.False(t, b.State().Paused)
	require.Equal(t, "ada@test", b.records(t, "resumed")[0].Fields["by"])
}

// dead is a driver that answers nothing.
type dead struct{ driver.Driver }

func (dead) Windows(context.Context) ([]driver.Window, error) { return nil, errors.New("it is gone") }

func TestResumeWithoutAWorkingDriver(t *testing.T) {
	b := open(t)
	b.choose(t, b.console, false)
	b.Attach(dead{b.desktop})
	f, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	require.Contains(t, notes(f.Remains), "not known")
	require.False(t, b.State().Paused)
	_, err = b.Resume(t.Context(), []string{"r1"})
	require.Error(t, err, "nothing is accepted unseen")
}

// blind leaves texts out.
type blind struct{ driver.Driver }

func (d blind) Snapshot(ctx context.Context, w driver.WindowRef, o driver.SnapshotOptions) (*driver.Snapshot, error) {
	s, err := d.Driver.Snapshot(ctx, w, o)
	if err == nil {
		s.AllText = false
	}
	return s, err
}

func TestAPatternThatNeedsAllTextIsSaid(t *testing.T) {
	b := open(t)
	b.Attach(blind{b.desktop})
	b.choose(t, b.console, false)
	b.raw(t, control.LevelHide, `{"text_regex":"nowhere-[0-9]+"}`)
	f, err := b.Forecast(t.Context())
	require.NoError(t, err)
	require.Contains(t, f.Windows[0].Problem, "all text")
}

func TestRulesInWords(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		rule  control.Rule
		what  string
		where string
	}{
		{control.Rule{Level: control.LevelHide, Match: policy.Match{App: "chromium", Site: "https://acme.example", Role: "textbox", Label: "Key"}},
			`textbox "Key"`, "In every chromium window on https://acme.example, today and later."},
		{control.Rule{Level: control.LevelHide, Match: policy.Match{Label: "Key"}}, `whatever is called "Key"`, "In every window, today and later."},
		{control.Rule{Level: control.LevelAsk, Match: policy.Match{Site: "https://acme.example", LabelRegex: "^S"}},
			`anything called something like "^S"`, "In every window on https://acme.example, today and later."},
		{control.Rule{Level: control.LevelHide, Match: policy.Match{TextRegex: "sk-+", InWebContent: &yes}},
			`anything with a text like "sk-+" of a page`, "In every window, today and later."},
		{control.Rule{Level: control.LevelHide, Match: policy.Match{ValueRegex: "v", InWebContent: &no, WindowTitleRegex: "t"}},
			`anything with a value like "v" outside of pages`, `In every window while it is called something like "t", today and later.`},
		{control.Rule{Level: control.LevelHide, Match: policy.Match{TextDigest: "00ff"}}, `anything with the text of fingerprint "00ff"`, "In every window, today and later."},
		{control.Rule{Level: control.LevelReadOnly, Match: policy.Match{Role: "button", PID: 1, WindowID: 2}}, "button",
			"In the window pinned by its process or number (1:2); it does not outlive it."},
		{control.Rule{Level: control.LevelAllow, Match: policy.Match{Role: "button", Label: "S", App: "a", PID: 1, Start: 3, WindowID: 2, WindowTitle: "T",
			Within: &policy.Match{Role: "form", Label: "F"}}}, `button "S" in form "F"`,
			`Only in this live window (a, 1:2) while it is called "T"; over when that closes.`},
		{control.Rule{Level: control.LevelAllow, Match: policy.Match{Label: "S"}}, `whatever is called "S"`, "Nowhere: allowing needs app, place and live window."},
	} {
		d := control.Describe(test.rule)
		require.Equal(t, test.what, d.What)
		require.Equal(t, test.where, d.Where)
	}
	require.Empty(t, control.Expects(control.Rule{Level: control.LevelAsk}))
	require.Contains(t, control.Expects(control.Rule{Level: control.LevelHide, Match: policy.Match{Label: "x"}}), "until you accept")
	require.Contains(t, control.Expects(control.Rule{Level: control.LevelHide, Match: policy.Match{TextRegex: "x"}}), "nowhere")
	marks := ""
	for _, l := range []control.Level{control.LevelAllow, control.LevelReadOnly, control.LevelAsk, control.LevelHide, "pink"} {
		marks += control.Mark(l)
	}
	require.Equal(t, "✓○?■ ", marks)
	l, err := control.LevelOf("readonly")
	require.NoError(t, err)
	require.Equal(t, control.LevelReadOnly, l)
}
