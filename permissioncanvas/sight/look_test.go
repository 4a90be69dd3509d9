package sight_test

import (
	"context"
	"fmt"
	"image"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
	"github.com/permission-canvas/permission-canvas/redact"
)

func TestLookShowsWhatRulesLeave(t *testing.T) {
	d := newDesk(t, form()...)
	look, err := sight.Take(t.Context(), d, rules(t, nil, hideBox), ref, sight.Options{})
	require.NoError(t, err)
	require.Equal(t, []redact.Verdict{redact.Bare, redact.Hide, redact.Hide, redact.Show, redact.Omit, redact.Show}, look.Plan.Verdicts)
	require.Equal(t, driver.LevelAsk, look.Plan.Default)
	require.Equal(t, 2, d.readings)
	require.Equal(t, 1, d.pictures)
	require.Equal(t, token(2, 3), look.Snapshot.Elements[3].Token, "the second tree's tokens live")
	require.NotNil(t, look.Snapshot.Image)
	require.Equal(t, look.Snapshot.Window, look.Window)

	o, rows, err := redact.Redact(look.Snapshot, look.Plan, redact.Options{})
	require.NoError(t, err)
	require.Equal(t, []int{0, 3, 5}, rows)
	require.Equal(t, 1, o.Covered())
	m := pixels(t, o)
	for y := 5; y < 55; y++ {
		for x := 5; x < 215; x++ {
			require.Equal(t, redact.MaskColor(), m.NRGBAAt(x, y))
		}
	}
}

func TestD22TreeIsReadAgainOnlyWhereItMatters(t *testing.T) {
	password := append(form(), element(0, driver.RolePassword, "PIN", 10, 150, 100, 20))
	for _, c := range []struct {
		name     string
		elements []driver.Element
		policy   *policy.Policy
		opts     sight.Options
		readings int
	}{
		{"nothing to hide", form(), rules(t, nil), sight.Options{}, 1},
		{"a rule of another application", form(), rules(t, nil, policy.Match{App: "other", Label: "API key"}), sight.Options{}, 1},
		{"a hide rule", form(), rules(t, nil, hideBox), sight.Options{}, 2},
		{"a pattern that finds nothing", form(), rules(t, nil, policy.Match{TextRegex: "never-[0-9]+"}), sight.Options{}, 2},
		{"a password", password, rules(t, nil), sight.Options{}, 2},
		{"no picture", form(), rules(t, nil, hideBox), sight.Options{NoImage: true}, 1},
		{"the person's own look", form(), rules(t, nil, hideBox), sight.Options{Unselected: true}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, c.elements...)
			look, err := sight.Take(t.Context(), d, c.policy, ref, c.opts)
			require.NoError(t, err)
			require.Equal(t, c.readings, d.readings)
			require.Equal(t, c.opts.NoImage, look.Snapshot.Image == nil)
			require.Len(t, look.Judgement.Verdicts, len(c.elements))
		})
	}
}

func TestPC38WhatChangesUnderThePictureIsReadAgainThenWithheld(t *testing.T) {
	shift := func(i, by int) func(*desk) {
		return func(d *desk) { d.snapshot.Elements[i].Bounds = d.snapshot.Elements[i].Bounds.Add(image.Pt(0, by)) }
	}
	for _, c := range []struct {
		name   string
		change func(*desk)
		moved  bool
	}{
		{"the hidden box moves", shift(1, 3), true},
		{"what is hidden with it leaves the box", shift(2, 100), true},
		{"what is hidden with it moves within the box", shift(2, 1), false},
		{"the hidden text changes", func(d *desk) { d.snapshot.Elements[2].Label += "1" }, false},
		{"a neighbour moves", shift(4, 1), true},
		{"a neighbour is renamed", func(d *desk) { d.snapshot.Elements[0].Label, d.snapshot.Elements[4].Label = "x", "Cut" }, false},
		{"far away something moves", shift(3, 20), false},
		{"the root moves", shift(0, 1), true},
		{"another box appears", func(d *desk) {
			d.snapshot.Elements = append(d.snapshot.Elements, element(0, driver.RoleGroup, "API key", 300, 200, 50, 20))
		}, true},
		{"the box is no longer hidden", func(d *desk) { d.snapshot.Elements[1].Label = "Notes" }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, form()...)
			d.onReading = func(n int, d *desk) error {
				if n == 2 {
					c.change(d)
				}
				return nil
			}
			accepted := sight.Options{Accepted: func(string) bool { return true }}
			look, err := sight.Take(t.Context(), d, rules(t, nil, hideBox), ref, accepted)
			require.NoError(t, err, "it rests after that")
			require.Equal(t, map[bool]int{false: 2, true: 4}[c.moved], d.readings)
			require.Equal(t, token(d.readings, 0), look.Snapshot.Elements[0].Token)
		})
	}
	t.Run("without end", func(t *testing.T) {
		d := newDesk(t, form()...)
		d.onReading = func(_ int, d *desk) error { shift(1, 1)(d); return nil }
		_, err := sight.Take(t.Context(), d, rules(t, nil, hideBox), ref, sight.Options{})
		require.ErrorIs(t, err, sight.ErrWithheld)
		require.Equal(t, 6, d.readings)
	})
	t.Run("a password", func(t *testing.T) {
		d := newDesk(t, element(-1, driver.RolePassword, "PIN", 10, 150, 100, 20))
		d.snapshot.Elements[0].Value = "hunter2"
		d.onReading = func(n int, d *desk) error {
			d.snapshot.Elements[0].Value += "x" // typing goes on
			if n == 2 {
				shift(0, 1)(d)
			}
			return nil
		}
		look, err := sight.Take(t.Context(), d, rules(t, nil), ref, sight.Options{})
		require.NoError(t, err)
		require.Equal(t, 4, d.readings)
		require.Equal(t, redact.Veil, look.Plan.Verdicts[0])
	})
}

func TestPC08UnmatchedRulesWithhold(t *testing.T) {
	missing := policy.Match{App: "console", Label: "Licence"}
	d := newDesk(t, form()...)
	_, err := sight.Take(t.Context(), d, rules(t, nil, missing), ref, sight.Options{})
	var unmatched *sight.UnmatchedError
	require.ErrorAs(t, err, &unmatched)
	require.Equal(t, "r1", unmatched.Rule)
	require.NotContains(t, err.Error(), "Licence")

	var asked []string
	_, err = sight.Take(t.Context(), d, rules(t, nil, hideBox, missing), ref, sight.Options{Accepted: func(id string) bool {
		asked = append(asked, id)
		return true
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"r2"}, asked)

	_, err = sight.Take(t.Context(), d, rules(t, nil, missing), ref, sight.Options{Accepted: func(string) bool { return false }})
	require.ErrorAs(t, err, &unmatched)
	_, err = sight.Take(t.Context(), d, rules(t, nil, missing), ref, sight.Options{Unselected: true})
	require.NoError(t, err)
}

func TestPC08PatternsNeedACompleteReading(t *testing.T) {
	p := rules(t, nil, policy.Match{TextRegex: "sk-live-[0-9]+"})
	d := newDesk(t, form()...)
	_, err := sight.Take(t.Context(), d, p, ref, sight.Options{})
	require.NoError(t, err)
	d.snapshot.AllText = false
	for _, noImage := range []bool{false, true} {
		_, err = sight.Take(t.Context(), d, p, ref, sight.Options{NoImage: noImage})
		require.ErrorIs(t, err, sight.ErrWithheld)
		require.NotContains(t, err.Error(), "sk-live")
	}
	_, err = sight.Take(t.Context(), d, p, ref, sight.Options{Unselected: true})
	require.NoError(t, err)
}

func TestStrictIsWithheldUntilItCanBeKept(t *testing.T) {
	d := newDesk(t, form()...)
	p := rules(t, func(d *policy.Document) { d.Strict = true })
	_, err := sight.Take(t.Context(), d, p, ref, sight.Options{})
	require.ErrorIs(t, err, sight.ErrWithheld)
	_, err = sight.Take(t.Context(), d, p, ref, sight.Options{Unselected: true})
	require.NoError(t, err)
}

func TestPC11BrowsersNeedAPage(t *testing.T) {
	page := element(0, driver.RoleDocument, "Orders", 0, 40, 400, 260)
	page.Web = true
	browser := rules(t, func(d *policy.Document) { d.Windows[0].App = "chromium" })
	set := func(exe string, elements ...driver.Element) *desk {
		d := newDesk(t, elements...)
		d.change(func(w *driver.Window) { w.Exe = exe })
		return d
	}
	chrome := form()[:1]
	frameless, outside := page, page
	frameless.Bounds = image.Rectangle{}
	outside.Bounds = outside.Bounds.Add(image.Pt(5000, 0))
	for name, c := range map[string]struct {
		d  *desk
		ok bool
	}{
		"chrome only":                {set("chromium", chrome...), false},
		"page":                       {set("chromium", append(slices.Clone(chrome), page)...), true},
		"page without a place":       {set("Chromium", append(slices.Clone(chrome), frameless)...), false},
		"page at an honest distance": {set("CHROMIUM", append(slices.Clone(chrome), outside)...), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sight.Take(t.Context(), c.d, browser, ref, sight.Options{})
			if c.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, sight.ErrPageUnavailable)
			require.Equal(t, 3, c.d.readings, "at most two fresh reads")
		})
	}
	t.Run("late page", func(t *testing.T) {
		d := set("chromium", chrome...)
		d.onReading = func(n int, d *desk) error {
			if n == 3 {
				d.snapshot.Elements = append(d.snapshot.Elements, page)
			}
			return nil
		}
		_, err := sight.Take(t.Context(), d, browser, ref, sight.Options{})
		require.NoError(t, err)
	})
	t.Run("page lost in the second tree", func(t *testing.T) {
		d := set("chromium", append(slices.Clone(chrome), page)...)
		d.onReading = func(n int, d *desk) error {
			if n > 1 {
				d.snapshot.Elements = d.snapshot.Elements[:1]
			}
			return nil
		}
		_, err := sight.Take(t.Context(), d, rules(t, func(d *policy.Document) { d.Windows[0].App = "chromium" },
			policy.Match{TextRegex: "never-[0-9]+"}), ref, sight.Options{})
		require.ErrorIs(t, err, sight.ErrPageUnavailable)
	})
	t.Run("unknown application with a page", func(t *testing.T) {
		_, err := sight.Take(t.Context(), newDesk(t, frameless), rules(t, nil), ref, sight.Options{})
		require.ErrorIs(t, err, sight.ErrPageUnavailable)
		_, err = sight.Take(t.Context(), newDesk(t, page), rules(t, nil), ref, sight.Options{})
		require.NoError(t, err)
	})
}

func TestPC13HiddenTitles(t *testing.T) {
	tab := element(0, driver.RoleTab, "Admin Console", 0, 0, 120, 20)
	d := newDesk(t, append(form(), tab)...)
	p := rules(t, func(d *policy.Document) { d.HideWindowTitleRegex = "Admin" })
	look, err := sight.Take(t.Context(), d, p, ref, sight.Options{})
	require.NoError(t, err)
	require.True(t, look.Plan.HideTitle)
	require.Equal(t, redact.Bare, look.Plan.Verdicts[0], "the window's own name does not take the window with it")
	require.Equal(t, redact.Hide, look.Plan.Verdicts[6])
	o, _, err := redact.Redact(look.Snapshot, look.Plan, redact.Options{})
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%s %+v", o.Text(), o.Window()), "Admin")
}

func TestPC48WindowsAboveAreMasked(t *testing.T) {
	d := newDesk(t, form()...)
	w := d.windows[0]
	above := func(id uint64, z int, r image.Rectangle, change func(*driver.Window)) {
		o := driver.Window{Ref: driver.WindowRef{PID: 9, ID: id}, App: "Mail", Bounds: r, Z: z}
		if change != nil {
			change(&o)
		}
		d.windows = append(d.windows, o)
	}
	over := image.Rect(300, 200, 700, 700)
	above(1, w.Z+1, over, nil)
	above(2, w.Z-1, image.Rect(0, 0, 300, 300), nil)
	above(3, w.Z+2, image.Rect(0, 0, 310, 300), func(o *driver.Window) { o.Hidden = true })
	above(4, w.Z+3, image.Rect(0, 0, 1600, 1000), func(o *driver.Window) { o.Title = "Cua.AgentCursorOverlay" })
	above(5, w.Z+4, image.Rect(900, 900, 1600, 1000), nil)
	d.onList = func(n int, d *desk) error {
		if n == 2 {
			above(6, w.Z+5, image.Rect(100, 50, 120, 60), nil) // came meanwhile
		}
		return nil
	}
	look, err := sight.Take(t.Context(), d, rules(t, nil), ref, sight.Options{})
	require.NoError(t, err)
	require.Equal(t, []image.Rectangle{over.Intersect(w.Bounds), image.Rect(100, 50, 120, 60)}, look.Plan.Covers)
	o, _, err := redact.Redact(look.Snapshot, look.Plan, redact.Options{})
	require.NoError(t, err)
	require.Equal(t, redact.MaskColor(), pixels(t, o).NRGBAAt(250, 200))
	require.Zero(t, o.Covered())
}

func TestDriverErrorsPassAsTheyAre(t *testing.T) {
	for _, want := range []error{driver.ErrIncomplete, driver.ErrUnavailable, driver.ErrSessionEnded, driver.ErrWindowGone} {
		for n := 1; n <= 2; n++ {
			d := newDesk(t, form()...)
			d.onReading = func(m int, _ *desk) error {
				if m == n {
					return fmt.Errorf("told: %w", want)
				}
				return nil
			}
			_, err := sight.Take(t.Context(), d, rules(t, nil, hideBox), ref, sight.Options{})
			require.ErrorIs(t, err, want)
			require.Equal(t, n, d.readings, "it is not read again")

			d = newDesk(t, form()...)
			d.onList = func(m int, _ *desk) error {
				if m == n {
					return want
				}
				return nil
			}
			_, err = sight.Take(t.Context(), d, rules(t, nil, hideBox), ref, sight.Options{})
			require.ErrorIs(t, err, want)
		}
	}
}

func TestTakeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	d := newDesk(t, form()...)
	d.onReading = func(_ int, d *desk) error {
		d.snapshot.Elements[1].Bounds = d.snapshot.Elements[1].Bounds.Add(image.Pt(1, 0))
		return nil
	}
	look, err := sight.Take(ctx, d, rules(t, nil, hideBox), ref, sight.Options{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Nil(t, look)
	require.LessOrEqual(t, d.readings, 2)
}
