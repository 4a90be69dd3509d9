package control_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

func TestPC19APolicyEditClearsAsks(t *testing.T) {
	for name, edit := range map[string]func(*bench, control.Rule) error{
		"add": func(b *bench, _ control.Rule) error {
			b.raw(t, control.LevelHide, `{"label":"x"}`)
			return nil
		},
		"set": func(b *bench, r control.Rule) error {
			r.Note = "new"
			return b.SetRule(t.Context(), r)
		},
		"level": func(b *bench, r control.Rule) error {
			_, err := b.SetLevel(t.Context(), r.ID, control.LevelAsk)
			return err
		},
		"remove": func(b *bench, r control.Rule) error { _, err := b.RemoveRule(t.Context(), r.ID); return err },
		"select": func(b *bench, _ control.Rule) error { b.choose(t, b.console, false); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			r := b.rule(t, b.console, control.LevelHide, "textbox", "Notes")
			store, ask := b.asks(t)
			require.NoError(t, edit(b, r))
			state, err := store.Wait(t.Context(), ask.ID)
			require.NoError(t, err)
			require.Equal(t, approval.StateWithdrawn, state)
			require.Error(t, b.Approve(t.Context(), ask.ID))
		})
	}
	t.Run("a yes that is not spent", func(t *testing.T) {
		b := open(t)
		store, ask := b.asks(t)
		require.NoError(t, b.Approve(t.Context(), ask.ID))
		b.raw(t, control.LevelHide, `{"label":"x"}`)
		require.ErrorIs(t, store.Consume(t.Context(), ask.ID, digest, "s1"), approval.ErrWithdrawn)
	})
	t.Run("a refused edit clears nothing", func(t *testing.T) {
		b := open(t)
		store, ask := b.asks(t)
		_, err := b.AddRule(t.Context(), control.Rule{Level: control.LevelHide})
		require.Error(t, err)
		require.NoError(t, b.Approve(t.Context(), ask.ID))
		state, err := store.Wait(t.Context(), ask.ID)
		require.NoError(t, err)
		require.Equal(t, approval.StateGranted, state)
	})
}

func TestRulesAreEdited(t *testing.T) {
	b := open(t)
	first := b.raw(t, control.LevelHide, `{"label":"API key"}`)
	require.Equal(t, "r1", first.ID)
	_, err := b.AddRule(t.Context(), control.Rule{Level: control.LevelHide, Match: first.Match})
	var twice *policy.DuplicateError
	require.ErrorAs(t, err, &twice)
	_, err = b.SetLevel(t.Context(), "r9", control.LevelHide)
	var unknown *policy.UnknownRuleError
	require.ErrorAs(t, err, &unknown)
	_, err = b.RemoveRule(t.Context(), "r9")
	require.ErrorAs(t, err, &unknown)
	require.Error(t, b.SetRule(t.Context(), control.Rule{ID: "r1", Level: "pink", Match: first.Match}))

	for _, bad := range []string{`{"labl":"x"}`, `{"label":"x","label":"y"}`, `{"LABEL":"x"}`, `[]`, ``, `{"label":1}`} {
		_, err := control.ParseMatch(bad)
		require.ErrorContains(t, err, "match", bad)
	}
	m, err := control.ParseMatch(`{"text_regex":"("}`)
	require.NoError(t, err)
	_, err = b.AddRule(t.Context(), control.NewRule(control.LevelHide, m, ""))
	require.Error(t, err)
	_, err = b.AddRule(t.Context(), control.NewRule(control.LevelHide, first.Match, "sometimes"))
	require.ErrorContains(t, err, "here or anywhere")

	removed, err := b.RemoveRule(t.Context(), "r1")
	require.NoError(t, err)
	require.Equal(t, first, removed)
	doc, err := b.Rules()
	require.NoError(t, err)
	require.Empty(t, doc.Rules)
}

func TestALevelChanges(t *testing.T) {
	b := open(t)
	green := b.rule(t, b.console, control.LevelAllow, "textbox", "Name")
	r, err := b.SetLevel(t.Context(), green.ID, control.LevelHide)
	require.NoError(t, err)
	require.Equal(t, policy.Match{App: "sim-console", Role: "textbox", Label: "Name"}, r.Match, "a restriction is for every window")
	require.Equal(t, policy.ExpectHere, r.Expect)
	r, err = b.SetLevel(t.Context(), green.ID, control.LevelAsk)
	require.NoError(t, err)
	require.Equal(t, control.LevelAsk, r.Level)
	_, err = b.SetLevel(t.Context(), green.ID, control.LevelAllow)
	require.ErrorContains(t, err, "one live window")
	doc, err := b.Rules()
	require.NoError(t, err)
	require.Equal(t, []control.Rule{r}, doc.Rules)
}

func TestEditsOfManyProgramsAreAllKept(t *testing.T) {
	b := open(t)
	var group sync.WaitGroup
	for i := range 8 {
		desk := openIn(t, b.dir)
		group.Go(func() {
			for n := range 3 {
				m := policy.Match{Label: fmt.Sprintf("control %d %d", i, n)}
				if _, err := desk.AddRule(t.Context(), control.NewRule(control.LevelHide, m, "")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	doc, err := b.Rules()
	require.NoError(t, err)
	require.Len(t, doc.Rules, 24)
	report, err := b.Verify()
	require.NoError(t, err)
	require.Nil(t, report.Broken)
	require.Equal(t, 24, report.Entries)
}

func TestPC25NothingIsWrittenOverWhatCannotBeRead(t *testing.T) {
	b := open(t)
	b.write(t, profile.PolicyFile, "{")
	_, err := b.AddRule(t.Context(), control.NewRule(control.LevelHide, policy.Match{Label: "x"}, ""))
	require.ErrorContains(t, err, profile.PolicyFile)
	require.Equal(t, "{", b.read(t, profile.PolicyFile))
}

func TestPC24WhatCannotBeRecordedIsNotDone(t *testing.T) {
	broken := func(t *testing.T) *bench {
		b := open(t)
		b.raw(t, control.LevelHide, `{"label":"x"}`)
		segment := filepath.Join(b.dir, "audit", "audit-000001.jsonl")
		data, err := os.ReadFile(segment)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(segment, data[:len(data)/2], 0o600))
		return openIn(t, b.dir)
	}
	t.Run("an edit", func(t *testing.T) {
		b := broken(t)
		_, err := b.AddRule(t.Context(), control.NewRule(control.LevelHide, policy.Match{Label: "y"}, ""))
		require.ErrorContains(t, err, "nothing was changed")
		doc, err := b.Rules()
		require.NoError(t, err)
		require.Len(t, doc.Rules, 1)
	})
	t.Run("a resume", func(t *testing.T) {
		b := broken(t)
		_, err := b.Resume(t.Context(), nil)
		require.ErrorContains(t, err, "stays paused")
		require.True(t, b.State().Paused)
	})
	t.Run("a selection", func(t *testing.T) {
		b := broken(t)
		_, err := b.Select(t.Context(), b.console, false)
		require.ErrorContains(t, err, "record")
		doc, err := b.Rules()
		require.NoError(t, err)
		require.Empty(t, doc.Windows)
	})
	t.Run("an approval", func(t *testing.T) {
		b := broken(t)
		store, ask := b.asks(t)
		require.ErrorContains(t, b.Approve(t.Context(), ask.ID), "nothing was approved")
		require.ErrorIs(t, store.Consume(t.Context(), ask.ID, digest, "s1"), approval.ErrPending)
	})
	t.Run("but what only takes away is done", func(t *testing.T) {
		b := broken(t)
		store, ask := b.asks(t)
		require.ErrorContains(t, b.Deny(t.Context(), ask.ID, "no"), "it is denied, but")
		state, err := store.Wait(t.Context(), ask.ID)
		require.NoError(t, err)
		require.Equal(t, approval.StateDenied, state)
		_, err = b.Pause(t.Context(), "hm")
		require.ErrorContains(t, err, "the desktop is paused, but")
		require.Equal(t, "hm", b.State().Reason)
	})
}

func TestPC03NoRecordHoldsWhatARuleHides(t *testing.T) {
	b := open(t)
	b.choose(t, b.console, false)
	b.rule(t, b.console, control.LevelHide, "textbox", "Notes")
	b.raw(t, control.LevelHide, `{"text_regex":"tok_live_[0-9a-f]+"}`)
	_, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	entries, err := b.Tail(100)
	require.NoError(t, err)
	for _, e := range entries {
		for _, value := range e.Fields {
			require.NotContains(t, value, "Notes")
			require.NotContains(t, value, "tok_live")
			require.NotContains(t, value, "Admin Console")
		}
	}
}
