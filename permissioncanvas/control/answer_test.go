package control_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
)

func TestPC24AnswersAreOnRecord(t *testing.T) {
	b := open(t)
	store, ask := b.asks(t)
	require.NoError(t, b.Approve(t.Context(), ask.ID))
	state, err := store.Wait(t.Context(), ask.ID)
	require.NoError(t, err)
	require.Equal(t, approval.StateGranted, state)
	require.NoError(t, b.Deny(t.Context(), ask.ID, "changed my mind"), "a yes that is not spent can be taken back")
	answers := b.records(t, "answered")
	require.Len(t, answers, 2)
	require.Equal(t, "approve", answers[0].Fields["answer"])
	require.Equal(t, "deny", answers[1].Fields["answer"])
	for _, e := range answers {
		require.Equal(t, ask.ID, e.Fields["approval"])
		require.Equal(t, "ada@test", e.Fields["by"])
		require.Equal(t, digest, e.Fields["digest"])
		require.NotContains(t, e.Fields, "reply")
	}
}

func TestPC19OnlyTheExactIDIsAnswered(t *testing.T) {
	b := open(t)
	_, ask := b.asks(t)
	for _, id := range []string{"", ask.ID[:8], strings.ToUpper(ask.ID) + "x", ask.ID + " ", strings.Repeat("0", 16), strings.Repeat("a", 100)} {
		require.Error(t, b.Approve(t.Context(), id), id)
		require.Error(t, b.Deny(t.Context(), id, ""), id)
		_, _, err := b.Show(t.Context(), id)
		require.Error(t, err, id)
	}
	require.Empty(t, b.records(t, "answered"))
	require.Error(t, b.Deny(t.Context(), ask.ID, "two\nlines"))
	require.NoError(t, b.Deny(t.Context(), ask.ID, "no"))
	require.Error(t, b.Approve(t.Context(), ask.ID), "a no is a no")
	answers := b.records(t, "answered")
	require.Equal(t, "void", answers[len(answers)-1].Fields["answer"])
}

func TestPC20AnOpenCardHoldsInput(t *testing.T) {
	b := open(t)
	_, ask := b.asks(t)
	gate := handoff.Open(b.dir)
	card, done, err := b.Show(t.Context(), ask.ID)
	require.NoError(t, err)
	require.Equal(t, "CLICK", card.Verb)
	require.Len(t, card.Code, 2)
	require.True(t, gate.CardOpen())
	done()
	require.False(t, gate.CardOpen())
}
