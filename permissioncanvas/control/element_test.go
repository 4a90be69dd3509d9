package control_test

import (
	"context"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// renamed gives one window of a desktop another application.
type renamed struct {
	driver.Driver
	as driver.Window
}

func (d renamed) Windows(ctx context.Context) ([]driver.Window, error) {
	all, err := d.Driver.Windows(ctx)
	for i := range all {
		if all[i].Ref == d.as.Ref {
			d.as.Z = all[i].Z
			all[i] = d.as
		}
	}
	return all, err
}

func (d renamed) Snapshot(ctx context.Context, w driver.WindowRef, o driver.SnapshotOptions) (*driver.Snapshot, error) {
	s, err := d.Driver.Snapshot(ctx, w, o)
	if err == nil && w == d.as.Ref {
		s.Window = d.as
	}
	return s, err
}

func bounds(t *testing.T, b *bench, ref driver.WindowRef) image.Rectangle {
	t.Helper()
	all, err := b.desktop.Windows(t.Context())
	require.NoError(t, err)
	for _, w := range all {
		if w.Ref == ref {
			return w.Bounds
		}
	}
	require.Fail(t, "no such window")
	return image.Rectangle{}
}

func TestBX06HideTravelsAndAllowStays(t *testing.T) {
	b := open(t)
	b.choose(t, b.console, false)
	for _, level := range []control.Level{control.LevelHide, control.LevelReadOnly, control.LevelAsk} {
		r, err := b.RuleOn(t.Context(), b.console, level, control.Want{Label: "Notes"})
		require.NoError(t, err)
		require.Equal(t, policy.Match{App: "sim-console", Role: "textbox", Label: "Notes"}, r.Match, level)
	}
	r, err := b.RuleOn(t.Context(), b.browser, control.LevelHide, control.Want{Label: "Search orders"})
	require.NoError(t, err)
	require.Equal(t, "https://acme.example", r.Match.Site)
	require.False(t, r.Pinned())
	r, err = b.RuleOn(t.Context(), b.console, control.LevelAllow, control.Want{Role: "entry", Label: "Name"})
	require.NoError(t, err)
	require.Equal(t, policy.Match{App: "sim-console", Role: "textbox", Label: "Name", PID: 4242, Start: 81237, WindowID: 77,
		WindowTitle: "Admin Console"}, r.Match)

	t.Run("over a restart", func(t *testing.T) {
		b.rule(t, b.console, control.LevelHide, "textbox", "Notes")
		b.rule(t, b.console, control.LevelAllow, "textbox", "Name")
		f, err := b.Resume(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, 1, f.Windows[0].Hidden)
		require.Equal(t, 1, f.Windows[0].Allow)

		b.desktop.Relaunch(b.console)
		b.choose(t, b.console, false)
		f, err = b.Resume(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, 1, f.Windows[0].Hidden, "hidden in the new window without anybody doing anything")
		require.Zero(t, f.Windows[0].Allow, "allowed is nothing there")
		doc, err := b.Rules()
		require.NoError(t, err)
		require.Equal(t, uint64(81237), doc.Rules[1].Match.Start, "the rule that allowed sleeps")
	})
}

func TestBX05ARuleNeverHoldsTheSecret(t *testing.T) {
	const secret = "sk-test-9f2a77c1b0"
	b := open(t)
	b.choose(t, b.console, false)
	want := control.Want{Label: secret}
	_, err := b.RuleOn(t.Context(), b.console, control.LevelHide, want)
	require.ErrorIs(t, err, policy.ErrHoldsText)
	var text *control.TextError
	require.ErrorAs(t, err, &text)
	require.NotContains(t, err.Error(), secret)

	for _, o := range text.Offers {
		want.As = o.Kind
		r, err := b.RuleOn(t.Context(), b.console, control.LevelHide, want)
		require.NoError(t, err, o.Kind)
		r, err = b.AddRule(t.Context(), r)
		require.NoError(t, err, o.Kind)
		d := control.Describe(r)
		require.NotContains(t, d.What+d.Where+control.Expects(r)+o.Hint, secret)
	}
	require.Len(t, text.Offers, 3)
	_, err = b.RuleOn(t.Context(), b.console, control.LevelAllow, want)
	require.ErrorContains(t, err, "there is no")
	f, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	require.Positive(t, f.Windows[0].Hidden)

	err = filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		require.NotContains(t, string(data), secret, path)
		return err
	})
	require.NoError(t, err)
}

func TestExactlyOneControlIsMeant(t *testing.T) {
	b := open(t)
	for _, test := range []struct {
		name  string
		ref   driver.WindowRef
		want  control.Want
		label string // of the rule
		fault string
	}{
		{"by label", b.console, control.Want{Label: "Notes"}, "Notes", ""},
		{"by label in other letters", b.console, control.Want{Label: " notes "}, "Notes", ""},
		{"by the toolkit's role", b.console, control.Want{Role: "Combo Box"}, "Plan", ""},
		{"by our role", b.console, control.Want{Role: "combobox"}, "Plan", ""},
		{"by number", b.console, control.Want{Role: "button", Index: 2}, "Save", ""},
		{"nothing", b.console, control.Want{}, "", "say which control"},
		{"by number alone", b.console, control.Want{Index: 4}, "Reveal key", ""},
		{"unknown label", b.console, control.Want{Label: "Note"}, "", `control "Note" fits no control`},
		{"unknown role", b.console, control.Want{Role: "starship"}, "", "starship fits no control"},
		{"several", b.console, control.Want{Role: "button"}, "", "button fits 3 controls"},
		{"no such number", b.console, control.Want{Role: "button", Index: 4}, "", "no number 4"},
		{"below nothing", b.console, control.Want{Role: "button", Index: -1}, "", "no number -1"},
		{"hostile words", b.console, control.Want{Label: "\x1b]0;x\a"}, "", `\u{001B}]0;x\u{0007}`},
		{"no window", driver.WindowRef{PID: 1, ID: 2}, control.Want{Label: "x"}, "", "cannot be read"},
		{"the zero window", driver.WindowRef{}, control.Want{Label: "x"}, "", "no window is 0:0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := b.RuleOn(t.Context(), test.ref, control.LevelReadOnly, test.want)
			if test.fault != "" {
				require.ErrorContains(t, err, test.fault)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.label, r.Match.Label)
		})
	}
	_, err := b.RuleOn(t.Context(), b.console, control.LevelHide, control.Want{Role: "button"})
	var choice *control.ChoiceError
	require.ErrorAs(t, err, &choice)
	require.Equal(t, []string{`[1] button "Reveal key" in group "Credentials"`, `[2] button "Save" in form "Customer"`,
		`[3] button "Delete" in form "Customer"`}, choice.Choices)
	require.Contains(t, err.Error(), "[2] button")
}

func TestPC26WordsOfThePageAreEscaped(t *testing.T) {
	b := open(t)
	b.desktop.Relabel(b.console, "Save", "Save\x1b[2J\u202e")
	b.desktop.Retitle(b.console, "Admin\u202e\nConsole")
	_, err := b.RuleOn(t.Context(), b.console, control.LevelHide, control.Want{Role: "button"})
	require.Contains(t, err.Error(), `"Save\u{001B}[2J\u{202E}"`)
	_, err = b.Find(t.Context(), "sim-")
	require.Contains(t, err.Error(), `"Admin\u{202E}\nConsole"`)
	r := b.rule(t, b.console, control.LevelHide, "button", "Save\x1b[2J\u202e")
	require.NotContains(t, control.Describe(r).What, "\x1b")
	f, err := b.Forecast(t.Context())
	require.NoError(t, err)
	require.NotContains(t, notes(f.Remains), "\u202e")
}

func TestManyControlsAreCounted(t *testing.T) {
	b := open(t)
	d := crowded{b.desktop, 100}
	b.Attach(d)
	_, err := b.RuleOn(t.Context(), b.console, control.LevelHide, control.Want{Role: "button"})
	var choice *control.ChoiceError
	require.ErrorAs(t, err, &choice)
	require.Len(t, choice.Choices, 31)
	require.Equal(t, "and up to 73 more", choice.Choices[30])
}

// crowded adds buttons to every window.
type crowded struct {
	driver.Driver
	n int
}

func (d crowded) Snapshot(ctx context.Context, w driver.WindowRef, o driver.SnapshotOptions) (*driver.Snapshot, error) {
	s, err := d.Driver.Snapshot(ctx, w, o)
	if err == nil {
		for range d.n {
			s.Elements = append(s.Elements, driver.Element{Parent: 0, Role: driver.RoleButton, Label: strings.Repeat("x", 80)})
		}
	}
	return s, err
}
