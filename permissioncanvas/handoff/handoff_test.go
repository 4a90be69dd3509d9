package handoff_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/stretchr/testify/require"
)

func refused(t *testing.T, g *handoff.Gate) *handoff.PausedError {
	t.Helper()
	leave, err := g.Enter()
	require.Nil(t, leave)
	require.ErrorIs(t, err, handoff.ErrPaused)
	var p *handoff.PausedError
	require.ErrorAs(t, err, &p)
	require.NotEmpty(t, p.Error())
	return p
}

// D7: whatever is wrong with the file, the desktop is not free.
func TestPC20MissingOrBrokenFileIsPaused(t *testing.T) {
	ok := `{"paused":false,"reason":"","by":"me","at":"2026-11-30T12:00:00Z"}`
	tests := []struct {
		name, content string
		paused        bool
	}{
		{"resumed", ok + "\n", false},
		{"resumed, by hand", "{\n \"paused\": false\n}", false},
		{"paused", strings.Replace(ok, "false", "true", 1), true},
		{"empty", "", true},
		{"only space", "\n", true},
		{"null", "null", true},
		{"not an object", "false", true},
		{"without paused", `{"reason":"x"}`, true},
		{"paused is null", `{"paused":null}`, true},
		{"paused is a string", `{"paused":"false"}`, true},
		{"paused is a number", `{"paused":0}`, true},
		{"unknown key", `{"paused":false,"until":"x"}`, true},
		{"another case", `{"Paused":false}`, true},
		{"twice", `{"paused":true,"paused":false}`, true},
		{"cut short", ok[:len(ok)-1], true},
		{"two values", ok + ok, true},
		{"zeros after a power failure", strings.Repeat("\x00", 80), true},
		{"far too long", ok + strings.Repeat(" ", 20<<10), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, dir := gate(t)
			write(t, dir, "pause.json", tt.content)
			require.Equal(t, tt.paused, g.State().Paused)
			require.False(t, g.State().NeverSetUp)
			if tt.paused {
				refused(t, g)
				return
			}
			leave, err := g.Enter()
			require.NoError(t, err)
			leave()
		})
	}
	t.Run("missing", func(t *testing.T) {
		g, _ := gate(t)
		require.Equal(t, handoff.Pause{Paused: true, NeverSetUp: true}, g.State())
		require.ErrorContains(t, refused(t, g), "nobody has set this profile up")
	})
	t.Run("deleted", func(t *testing.T) {
		g, dir := resumed(t)
		require.NoError(t, os.Remove(filepath.Join(dir, "pause.json")))
		refused(t, g)
	})
	t.Run("a directory", func(t *testing.T) {
		g, dir := gate(t)
		require.NoError(t, os.Mkdir(filepath.Join(dir, "pause.json"), 0o700))
		refused(t, g)
		require.Error(t, g.SetResumed("me"))
		_, err := g.Take(t.Context(), "me", "")
		require.Error(t, err, "a pause that cannot be written is no pause to rely on")
	})
	t.Run("no directory", func(t *testing.T) {
		g := handoff.Open(filepath.Join(t.TempDir(), "missing"))
		require.True(t, g.State().Paused)
		_, err := g.Enter()
		require.Error(t, err)
		require.True(t, g.CardOpen())
		require.Zero(t, g.Epoch())
		_, err = g.Input(t.Context())
		require.Error(t, err)
		_, err = g.Exclusive(t.Context())
		require.Error(t, err)
		_, err = g.Surface()
		require.Error(t, err)
		_, err = g.Reading(t.Context())
		require.Error(t, err)
	})
}

func TestPC20PauseAndResume(t *testing.T) {
	g, dir := resumed(t)
	leave, err := g.Enter()
	require.NoError(t, err)
	also, err := g.Enter() // agents share
	require.NoError(t, err)
	leave()
	leave() // harmless
	also()

	start := time.Now()
	require.NoError(t, g.SetPaused("pc", "lunch \xff"))
	p := handoff.Open(dir).State()
	require.True(t, p.Paused)
	require.Equal(t, "lunch \ufffd", p.Reason)
	require.Equal(t, "pc", p.By)
	require.WithinRange(t, p.At, start.Add(-time.Second), time.Now())
	require.Equal(t, p, refused(t, g).Pause)
	require.ErrorContains(t, refused(t, g), "lunch")

	require.NoError(t, g.SetPaused("pc", strings.Repeat("é", 600)))
	require.Equal(t, strings.Repeat("é", 500), g.State().Reason)
	require.NoError(t, g.SetPaused("pc", ""))
	require.EqualError(t, refused(t, g), "paused")

	require.NoError(t, g.SetResumed("pc"))
	require.False(t, g.State().Paused)
	leave, err = g.Enter()
	require.NoError(t, err)
	leave()
}

func TestPC20Take(t *testing.T) {
	g, _ := resumed(t)
	h, err := g.Take(t.Context(), "panel", "editing")
	require.NoError(t, err)
	require.False(t, h.Waited)
	require.False(t, h.Shared)
	require.True(t, refused(t, g).Held)

	// The pause alone would not keep them out if somebody else resumed.
	require.NoError(t, g.SetResumed("somebody"))
	p := refused(t, g)
	require.True(t, p.Held)
	require.ErrorContains(t, p, "the person's side has the desktop")

	require.NoError(t, h.Resume())
	leave, err := g.Enter()
	require.NoError(t, err)
	leave()
	require.NoError(t, h.Release()) // nothing left

	h, err = g.Take(t.Context(), "panel", "editing")
	require.NoError(t, err)
	require.NoError(t, h.Release())
	require.False(t, refused(t, g).Held)
	require.Equal(t, "editing", g.State().Reason)
}

// D16: an agent that hangs within a call does not keep the person out, and what
// it asks before it dispatches says paused from the first moment.
func TestPC20TakeGoesOnAfterFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := resumed(t)
		leave, err := g.Enter()
		require.NoError(t, err)
		start := time.Now()
		go func() {
			time.Sleep(time.Second)
			if !g.State().Paused {
				t.Error("not paused while waiting")
			}
			if _, err := g.Enter(); err == nil {
				t.Error("another call got in")
			}
		}()
		h, err := g.Take(t.Context(), "panel", "editing")
		require.NoError(t, err)
		require.True(t, h.Waited)
		require.False(t, h.Shared)
		require.InDelta(t, 5, time.Since(start).Seconds(), 0.1)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.False(t, h.Settle(ctx))
		go func() {
			time.Sleep(time.Second)
			leave()
		}()
		require.True(t, h.Settle(t.Context()))
		require.False(t, h.Waited)
		require.True(t, h.Settle(t.Context()))
		require.NoError(t, h.Resume())
	})
}

func TestPC20TakeWaitsForACallToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := resumed(t)
		leave, err := g.Enter()
		require.NoError(t, err)
		go func() {
			time.Sleep(2 * time.Second)
			leave()
		}()
		start := time.Now()
		h, err := g.Take(t.Context(), "panel", "editing")
		require.NoError(t, err)
		require.False(t, h.Waited)
		require.InDelta(t, 2, time.Since(start).Seconds(), 0.1)
		require.NoError(t, h.Release())

		require.NoError(t, g.SetResumed("me"))
		out, err := g.Enter()
		require.NoError(t, err)
		defer out()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = g.Take(ctx, "panel", "editing")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.True(t, g.State().Paused, "giving up does not resume")
	})
}

// Two surfaces of the person's do not make each other wait for five seconds.
func TestPC20TwoSurfaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := resumed(t)
		first, err := g.Take(t.Context(), "panel", "editing")
		require.NoError(t, err)
		start := time.Now()
		second, err := g.Take(t.Context(), "pc preview", "preview")
		require.NoError(t, err)
		require.True(t, second.Shared)
		require.False(t, second.Waited)
		require.Less(t, time.Since(start), time.Second)
		require.NoError(t, second.Resume())
		require.True(t, refused(t, g).Held, "the first one still has it")
		require.NoError(t, first.Release())
	})
}

// D17, D19: a policy edit has the gate for its write only, and agents that
// overlap each other do not keep it waiting.
func TestPC20Exclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := resumed(t)
		ctx, stop := context.WithCancel(t.Context())
		var agents sync.WaitGroup
		for range 4 {
			agents.Go(func() {
				for ctx.Err() == nil {
					if leave, err := g.Enter(); err == nil {
						time.Sleep(700 * time.Millisecond)
						leave()
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
		time.Sleep(3 * time.Second)
		start := time.Now()
		release, err := g.Exclusive(t.Context())
		require.NoError(t, err)
		require.Less(t, time.Since(start), time.Second)
		require.False(t, refused(t, g).Pause.Paused)
		release()
		stop()
		agents.Wait()
		leave, err := g.Enter()
		require.NoError(t, err)

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = g.Exclusive(short)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		leave()
		leave, err = g.Enter()
		require.NoError(t, err, "one who gave up keeps nobody out")
		leave()
	})
}

func TestPC20OtherProcesses(t *testing.T) {
	t.Run("a killed agent is out", func(t *testing.T) {
		g, dir := resumed(t)
		agent := process(t, dir, "enter")
		release, err := g.Exclusive(contextFor(t, 100*time.Millisecond))
		require.Error(t, err)
		require.Nil(t, release)
		agent.kill()
		release, err = g.Exclusive(contextFor(t, 5*time.Second))
		require.NoError(t, err)
		release()
	})
	t.Run("a killed surface leaves a pause that names it", func(t *testing.T) {
		g, dir := resumed(t)
		person := process(t, dir, "take")
		require.True(t, refused(t, g).Held)
		person.kill()
		p := refused(t, g)
		require.False(t, p.Held)
		require.Equal(t, "other person", p.Pause.By)
		require.Equal(t, "editing", p.Pause.Reason)
		require.False(t, p.Pause.At.IsZero())
	})
	t.Run("a card", func(t *testing.T) {
		g, dir := resumed(t)
		require.False(t, g.CardOpen())
		person := process(t, dir, "card")
		require.True(t, g.CardOpen())
		leave, err := g.Enter() // looking goes on
		require.NoError(t, err)
		leave()
		person.kill()
		require.False(t, g.CardOpen())
	})
	t.Run("input", func(t *testing.T) { // D18
		g, dir := resumed(t)
		one := process(t, dir, "input")
		_, err := g.Input(contextFor(t, 100*time.Millisecond))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		before := g.Epoch()
		require.NotZero(t, before)
		one.kill()
		in, err := g.Input(contextFor(t, 5*time.Second))
		require.NoError(t, err)
		require.Equal(t, before, in.Before())
		require.Equal(t, before+1, in.Epoch())
		in.Release()
	})
}

func contextFor(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestPC47InputIsSerial(t *testing.T) {
	_, dir := resumed(t)
	var all []*other
	for range 3 {
		all = append(all, begin(t, dir, "turns"))
	}
	var epochs []string
	for _, o := range all {
		epochs = append(epochs, slices.DeleteFunc(o.wait(), func(s string) bool { return s == "" })...)
	}
	require.Len(t, epochs, 60)
	slices.Sort(epochs)
	require.Len(t, slices.Compact(epochs), 60, "an epoch was given twice")
}

func TestPC47LostEpochs(t *testing.T) {
	for _, content := range []string{"", "x", strings.Repeat("\x00", 12), strings.Repeat("\x01", 12), strings.Repeat("\x00", 13)} {
		g, dir := resumed(t)
		in, err := g.Input(t.Context())
		require.NoError(t, err)
		require.Zero(t, in.Before())
		in.Release()
		in.Release()
		write(t, dir, "input.epoch", content)
		again, err := g.Input(t.Context())
		require.NoError(t, err)
		require.Greater(t, again.Epoch(), in.Epoch())
		require.NotEqual(t, in.Epoch(), again.Before())
		again.Release()
	}
}

func TestReading(t *testing.T) {
	g, _ := resumed(t)
	release, err := g.Reading(t.Context())
	require.NoError(t, err)
	_, err = g.Reading(contextFor(t, 50*time.Millisecond))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	release()
	release, err = g.Reading(t.Context())
	require.NoError(t, err)
	release()
}

// D35: nobody to answer until a surface has been there once.
func TestPC19Surface(t *testing.T) {
	g, dir := gate(t)
	require.False(t, g.EverAnswered())
	require.False(t, g.Answering())
	require.False(t, g.EverAnswered(), "asking does not answer")
	release, err := g.Surface()
	require.NoError(t, err)
	second, err := g.Surface()
	require.NoError(t, err)
	require.True(t, g.Answering())
	release()
	require.True(t, g.Answering())
	second()
	require.False(t, g.Answering())
	require.True(t, handoff.Open(dir).EverAnswered())
}

// Many who look at the same moment do not take each other for a card.
func TestPC20CardLookers(t *testing.T) {
	g, _ := resumed(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				if g.CardOpen() {
					t.Error("a card where none is")
				}
			}
		})
	}
	all.Wait()
	release, err := g.HoldInput()
	require.NoError(t, err)
	for range 4 {
		all.Go(func() {
			if !g.CardOpen() {
				t.Error("no card where one is")
			}
		})
	}
	all.Wait()
	release()
}
