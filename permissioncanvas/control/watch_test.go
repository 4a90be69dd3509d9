package control_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
)

func TestPC20WatchTakesNothing(t *testing.T) {
	b := open(t)
	gate := handoff.Open(b.dir)
	b.choose(t, b.console, false)
	_, err := b.Resume(t.Context(), nil)
	require.NoError(t, err)
	w, err := b.Watch()
	require.NoError(t, err)
	require.True(t, gate.Answering())
	require.False(t, b.State().Paused)
	require.False(t, gate.CardOpen())

	before := w.Stamp()
	require.Equal(t, before, w.Stamp())
	store, p := b.asks(t)
	require.NotEqual(t, before, w.Stamp())
	seen := w.Look(t.Context(), nil)
	require.Empty(t, seen.Problem)
	require.Equal(t, p.ID, seen.Cards[0].ID)
	require.Equal(t, 1, seen.Windows)

	require.NoError(t, w.Open())
	require.NoError(t, w.Open())
	require.True(t, gate.CardOpen(), "an open card holds input")
	w.Fold()
	w.Fold()
	require.False(t, gate.CardOpen())

	require.NoError(t, b.Deny(t.Context(), p.ID, "no"))
	seen = w.Look(t.Context(), []string{p.ID, "0123456789abcdef"})
	require.Empty(t, seen.Cards)
	require.Equal(t, map[string]string{p.ID: "denied by ada@test", "0123456789abcdef": "over"}, seen.Ended)

	other, err := store.Request(t.Context(), approval.Ask{Digest: digest[:62] + "cd", Session: "s2", Verb: "CLICK", Window: "w", Arguments: "{}"})
	require.NoError(t, err)
	require.NoError(t, b.Approve(t.Context(), other.ID))
	require.Equal(t, "approved by ada@test", w.Look(t.Context(), []string{other.ID}).Ended[other.ID])

	require.NoError(t, w.Open())
	require.NoError(t, w.Close())
	require.False(t, gate.Answering())
	require.False(t, gate.CardOpen())
}

func TestWatchSaysWhatItCannotRead(t *testing.T) {
	b := open(t)
	b.write(t, "policy.json", "{")
	w, err := b.Watch()
	require.NoError(t, err)
	require.Contains(t, w.Look(t.Context(), nil).Problem, "policy.json")
	require.NoError(t, w.Close())
}
