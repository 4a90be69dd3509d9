package main_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/fixture"
)

// once requires that no session dispatched more acts than yeses it was given,
// and that each outcome on record belongs to an intent.
func (d *desk) once() {
	d.t.Helper()
	intents, outcomes, yeses := map[string]int{}, map[string]int{}, map[string]int{}
	for _, e := range d.entries("intent") {
		intents[e.Session]++
	}
	for _, e := range d.entries("outcome") {
		outcomes[e.Session]++
	}
	for _, e := range d.entries("answered") {
		switch e.Fields["answer"] {
		case "approve":
			yeses[e.Fields["session"]]++
		case "void":
			yeses[e.Fields["session"]]--
		}
	}
	for session, n := range intents {
		require.LessOrEqual(d.t, n, yeses[session], "acts of session %s", session)
		require.LessOrEqual(d.t, outcomes[session], n)
	}
}

// recovered requires that the next start reads what a crash left: the record
// is whole, nothing of the old session acts, and a new session asks anew and
// acts once.
func (d *desk) recovered(w window) {
	d.t.Helper()
	d.verified()
	d.once()
	before := d.acts()
	h := d.host("after")
	click := map[string]any{"element_token": h.capture(w).token("button", "Save"), asks: "1"}
	old := d.ids() // of the session that is gone; they end by themselves
	call := h.start("click", click)
	ask := call.asks(d, old...)
	require.Equal(d.t, before, d.acts(), "an old yes is not this one's")
	d.approve(ask.ID)
	call.wait().done()
	require.Equal(d.t, before+1, d.acts())
	h.ends(2 * time.Second)
	d.verified()
	d.once()
}

// begin starts pc with args and returns it, running.
func (d *desk) begin(args ...string) *exec.Cmd {
	d.t.Helper()
	cmd := d.command(args...)
	require.NoError(d.t, cmd.Start())
	return cmd
}

// TestPC24Crash kills each side at each step. Whatever is left is read by the
// next start, and one yes is never two acts.
func TestPC24Crash(t *testing.T) {
	t.Parallel()
	// The host is killed while its ask waits; the person says yes to the dead.
	t.Run("the host's side while an ask waits", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e")
		call := h.start("click", map[string]any{"element_token": h.capture(w).token("button", "Save"), asks: "1"})
		ask := call.asks(d)
		h.kill()
		call.failed()
		_, _ = d.pc("approve", ask.ID)
		time.Sleep(300 * time.Millisecond)
		require.Zero(t, d.acts())
		d.recovered(w)
	})
	t.Run("the host's side after the yes, before the act", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e")
		h.call("click", map[string]any{"element_token": h.capture(w).token("button", "Save")}).refused("approval_required")
		d.approve(d.asked().ID)
		h.kill()
		require.Zero(t, d.acts())
		d.recovered(w)
	})
	t.Run("the host's side about the act", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		for round := range 6 {
			h := d.host("e2e")
			before, old := d.acts(), d.ids()
			call := h.start("click", map[string]any{"element_token": h.capture(w).token("button", "Save"), asks: "1"})
			d.approve(call.asks(d, old...).ID)
			d.moment(round/2, before)
			h.kill()
			require.LessOrEqual(t, d.acts(), before+1, "round %d", round)
			d.verified()
			d.once()
		}
		d.recovered(w)
	})
	t.Run("pc while it approves", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e")
		for round := range 6 {
			before := d.acts()
			call := h.start("click", map[string]any{"element_token": h.capture(w).token("button", "Save"), asks: "1"})
			ask := call.asks(d)
			cmd := d.begin("approve", ask.ID)
			time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			d.verified()
			// It is open, and can be answered, or the yes counts once.
			_, _ = d.pc("approve", ask.ID)
			call.wait().done()
			require.Equal(t, before+1, d.acts(), "round %d", round)
		}
		d.verified()
		d.recovered(w)
	})
	t.Run("pc while it edits, selects and resumes", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e")
		for round := range 4 {
			for _, args := range [][]string{
				{"rule", "add", "ask", "--window", w.ref(), "--role", "textbox", "--label", "Notes"},
				{"select", w.ref()}, {"resume", "--yes"},
			} {
				cmd := d.begin(args...)
				time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				// The rules are the old or the new ones, whole, and hide the key.
				r := h.call("get_window_state", w.args())
				if r.failed {
					require.Contains(t, []string{"paused", "no_window_selected"}, r.code(), "round %d, %v", round, args)
				} else {
					require.NotContains(t, r.text, shownKey)
				}
				d.verified()
			}
		}
		d.resume()
		d.recovered(w)
	})
	t.Run("stopped in between, it does not keep the person out", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e")
		call := h.start("click", map[string]any{"element_token": h.capture(w).token("button", "Save"), asks: "1"})
		ask := call.asks(d)
		require.NoError(t, syscall.Kill(h.pid(), syscall.SIGSTOP))
		began := time.Now()
		do[any](d, "pause")
		require.Less(t, time.Since(began), 15*time.Second)
		_, _ = d.pc("approve", ask.ID)
		require.NoError(t, syscall.Kill(h.pid(), syscall.SIGCONT))
		call.wait().refused("paused")
		require.Zero(t, d.acts())
		d.resume()
		h.ends(2 * time.Second)
		d.verified()
	})
}

// ids are those of the asks that are open now.
func (d *desk) ids() []string {
	d.t.Helper()
	var ids []string
	for _, c := range d.pending() {
		ids = append(ids, c.ID)
	}
	return ids
}

// TestPC24RealCrash kills the host's side and the driver about the act on a
// real page, which counts by itself what reached it.
func TestPC24RealCrash(t *testing.T) {
	fixture.Each(t, func(t *testing.T, screen fixture.Desktop) {
		p := open(t, screen)
		for round := range 6 {
			before, acts := p.saves(), p.acts()
			click := p.click(p.see().token("button", "Save"))
			old, ids := p.driverPID(), p.ids()
			call := p.start("click", click)
			p.approve(call.asks(p.desk, ids...).ID)
			p.moment(round/2, acts)
			victim := "the driver"
			if round%2 == 0 {
				require.NoError(t, syscall.Kill(old, syscall.SIGKILL))
				r := call.wait()
				if r.failed {
					require.Contains(t, []string{"stale_snapshot", "driver_failed", "effect_uncertain", "element_changed", "window_changed"}, r.code())
					if r.code() != "effect_uncertain" {
						p.settled()
						require.Equal(t, before, p.saves(), "%s: nothing was done, it says", r.code())
					}
				}
				victim += ", " + r.code()
			} else {
				victim = "the host's side"
				p.child.kill()
				<-call.answer
				ended(t, []int{old}, 10*time.Second) // no driver is left behind
				p.host = p.desk.host("e2e")
			}
			time.Sleep(2 * p.longest())
			saved, dispatched := p.saves()-before, p.acts()-acts
			t.Logf("%s, round %d: killed %s; %d dispatched, %d reached the page", screen.Version, round, victim, dispatched, saved)
			require.LessOrEqual(t, saved, dispatched)
			require.LessOrEqual(t, dispatched, 1)
			p.verified()
			p.once()
			s := p.see() // the next capture works
			s.hides(fixture.KeyButton, "sk-live-4711")
			require.Zero(t, magenta(s.picture()))
			p.call("click", click).refused("stale_token")
		}
		before := p.saves()
		p.approved("click", p.click(p.see().token("button", "Save")), nil).done()
		p.server.Await(t, "/saved", before+1)
		p.settled()
		require.Equal(t, before+1, p.saves())
		pids := descendants(p.pid())
		p.ends(2 * time.Second)
		ended(t, pids, 2*time.Second)
		p.verified()
		p.once()
	})
}

// moment waits after a yes for one of three: the time in which the call sees
// the yes and looks at the window again; the act's own beginning; some time
// within it or after.
func (d *desk) moment(which, acts int) {
	d.t.Helper()
	if which == 0 {
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		return
	}
	// The record is read as a file: a pc would take too long.
	path := filepath.Join(d.dir, "audit", "audit-000001.jsonl")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		log, err := os.ReadFile(path)
		require.NoError(d.t, err)
		if bytes.Count(log, []byte(`"kind":"intent"`)) > acts {
			break
		}
	}
	if which > 1 {
		time.Sleep(time.Duration(rand.IntN(800)) * time.Millisecond)
	}
}

// longest is how long what a driver was given may take to reach the page.
func (p *page) longest() time.Duration { return time.Second }
