package approval_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

func TestPC19OneTime(t *testing.T) {
	d := newDesk(t)
	a := ask("Save")
	p := d.request(a)
	require.Equal(t, approval.StatePending, p.State)
	require.Regexp(t, "^[0-9a-f]{16}$", p.ID)
	require.ErrorIs(t, d.consume(a, p.ID), approval.ErrPending)
	require.ErrorIs(t, d.store.Finish(background, p.ID), approval.ErrPending)
	d.approve(p.ID)
	require.ErrorIs(t, d.store.Finish(background, p.ID), approval.ErrSpent, "not spent, so not finished")
	require.NoError(t, d.consume(a, p.ID))
	require.Equal(t, approval.StateExecuting, d.state(p.ID))
	require.ErrorIs(t, d.consume(a, p.ID), approval.ErrSpent)
	require.NoError(t, d.store.Finish(background, p.ID))
	require.Equal(t, approval.StateConsumed, d.state(p.ID))
	require.ErrorIs(t, d.consume(a, p.ID), approval.ErrSpent)
	require.ErrorIs(t, d.store.Finish(background, p.ID), approval.ErrSpent)

	again := d.request(a)
	require.NotEqual(t, p.ID, again.ID, "a spent ask is asked afresh")
	require.Equal(t, 1, approval.Marks(d.store), "nothing is remembered of what is over")
	require.ErrorIs(t, d.store.Finish(background, "0000000000000000"), approval.ErrUnknown)
}

// What was approved is what is spent: another digest, session or id is not
// (public report 44).
func TestPC19Binds(t *testing.T) {
	d := newDesk(t)
	a := ask("Save")
	p := d.request(a)
	d.approve(p.ID)
	for _, tt := range []struct {
		name, id, digest, session string
		want                      error
	}{
		{"other digest", p.ID, digest("Delete"), a.Session, approval.ErrMismatch},
		{"no digest", p.ID, "", a.Session, approval.ErrMismatch},
		{"other session", p.ID, a.Digest, "s2", approval.ErrUnknown},
		{"other id", "0000000000000000", a.Digest, a.Session, approval.ErrUnknown},
		{"prefix", p.ID[:15], a.Digest, a.Session, approval.ErrUnknown},
		{"longer", p.ID + "0", a.Digest, a.Session, approval.ErrUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.ErrorIs(t, d.store.Consume(background, tt.id, tt.digest, tt.session), tt.want)
		})
	}
	require.NoError(t, d.consume(a, p.ID))
}

// Both clocks are asked, and a wall that went back ends the request (D36).
func TestPC19Clocks(t *testing.T) {
	const almost = approval.Lifetime - 20*time.Second
	for _, tt := range []struct {
		name       string
		grant      bool
		wall, mono time.Duration
		want       error // of Consume; nil only where granted
	}{
		{"pending", false, almost, almost, approval.ErrPending},
		{"pending, both say over", false, approval.Lifetime, approval.Lifetime, approval.ErrExpired},
		{"pending, wall set forward", false, approval.Lifetime, 0, approval.ErrExpired},
		{"pending, wall stood still", false, 0, approval.Lifetime, approval.ErrExpired},
		{"pending, only our own clock says over", false, approval.Lifetime - 900*time.Millisecond, approval.Lifetime, approval.ErrExpired},
		{"pending, wall set back before the ask", false, -time.Hour, 0, approval.ErrExpired},
		{"pending, wall set back a little", false, 58 * time.Second, time.Minute, approval.ErrExpired},
		{"pending, wall slewed", false, 59500 * time.Millisecond, time.Minute, approval.ErrPending},
		{"pending, machine slept", false, almost, time.Second, approval.ErrPending},
		{"granted", true, almost, almost, nil},
		{"granted, both say over", true, approval.Lifetime, approval.Lifetime, approval.ErrExpired},
		{"granted, wall set forward", true, approval.Lifetime + time.Second, 0, approval.ErrExpired},
		{"granted, wall stood still", true, 0, approval.Lifetime, approval.ErrExpired},
		{"granted, only our own clock says over", true, approval.Lifetime - 900*time.Millisecond, approval.Lifetime, approval.ErrExpired},
		{"granted, wall set back before the ask", true, -time.Hour, 0, approval.ErrExpired},
		{"granted, wall set back a little", true, 58 * time.Second, time.Minute, approval.ErrExpired},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			a := ask("Save")
			p := d.request(a)
			if tt.grant {
				d.approve(p.ID)
				state, err := d.store.Wait(background, p.ID) // sees the yes
				require.NoError(t, err)
				require.Equal(t, approval.StateGranted, state)
			}
			d.wall, d.mono = tt.wall, tt.mono
			if err := d.consume(a, p.ID); tt.want != nil {
				require.ErrorIs(t, err, tt.want)
			} else {
				require.NoError(t, err)
			}
			d.wall, d.mono = 0, 0 // nothing brings it back
			if errors.Is(tt.want, approval.ErrExpired) {
				require.Equal(t, approval.StateExpired, d.state(p.ID))
				require.ErrorIs(t, d.consume(a, p.ID), approval.ErrExpired)
			}
		})
	}
}

// A yes that the agent sees late is not older than it can be.
func TestPC19NeverOutlivesItsSnapshot(t *testing.T) {
	d := newDesk(t)
	a := ask("Save")
	a.NotAfter = time.Now().Add(-time.Second)
	_, err := d.store.Request(background, a)
	require.ErrorIs(t, err, approval.ErrExpired)

	a.NotAfter = time.Now().Add(30 * time.Second)
	p, err := d.store.Request(background, a)
	require.NoError(t, err)
	require.WithinDuration(t, a.NotAfter, p.Expires, time.Millisecond)
	require.NoError(t, d.inbox.Approve(background, p.ID, "me"))
	cards, err := d.inbox.Granted(background)
	require.NoError(t, err)
	require.WithinDuration(t, a.NotAfter, cards[0].Expires, time.Millisecond, "a yes extends nothing")
	d.wall, d.mono = 31*time.Second, 31*time.Second
	require.ErrorIs(t, d.store.Consume(background, p.ID, a.Digest, a.Session), approval.ErrExpired)
}

func TestPC19GrantSeenLate(t *testing.T) {
	d := newDesk(t)
	a := ask("Save")
	p := d.request(a)
	d.approve(p.ID)
	d.wall, d.mono = approval.Lifetime-20*time.Second, approval.Lifetime-20*time.Second
	require.NoError(t, d.consume(a, p.ID))

	d.wall, d.mono = 0, 0
	p = d.request(ask("Open"))
	d.approve(p.ID)
	other := d.open() // another process of the agent's, which did not ask
	require.NoError(t, other.Consume(background, p.ID, digest("Open"), "s1"))
}

// Who joins late knows how old the request is.
func TestPC19JoinedLate(t *testing.T) {
	d := newDesk(t)
	a := ask("Save")
	d.request(a)
	d.wall, d.mono = time.Minute, time.Minute
	other := d.open()
	p, err := other.Request(background, a)
	require.NoError(t, err)
	d.mono += time.Minute // the wall stands still
	require.ErrorIs(t, other.Consume(background, p.ID, a.Digest, a.Session), approval.ErrExpired)
}

func TestPC19WaitAnswers(t *testing.T) {
	for _, tt := range []struct {
		want   approval.State
		answer func(d *desk, p approval.Pending)
	}{
		{approval.StateGranted, func(d *desk, p approval.Pending) { d.approve(p.ID) }},
		{approval.StateDenied, func(d *desk, p approval.Pending) { d.deny(p.ID, "wrong control") }},
		{approval.StateWithdrawn, func(d *desk, p approval.Pending) { require.NoError(d.t, d.store.ClearAll(background, "policy edit")) }},
		{approval.StateWithdrawn, func(d *desk, p approval.Pending) { require.NoError(d.t, d.inbox.ClearAll(background, "policy edit")) }},
		{approval.StateExpired, func(*desk, approval.Pending) {}},
	} {
		t.Run(string(tt.want), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				p := d.request(ask("Save"))
				begin := time.Now()
				go func() {
					time.Sleep(30 * time.Second)
					tt.answer(d, p)
				}()
				state, err := d.store.Wait(background, p.ID)
				require.NoError(t, err)
				require.Equal(t, tt.want, state)
				took := time.Since(begin)
				if tt.want == approval.StateExpired {
					require.InDelta(t, approval.Lifetime, took, float64(2*time.Second))
				} else {
					require.InDelta(t, 30*time.Second, took, float64(200*time.Millisecond))
				}
				require.Equal(t, tt.want, d.state(p.ID))
			})
		})
	}
}

// Waiting holds no lock that listing, answering or another session needs, and
// a deadline leaves the question open.
func TestPC19WaitHoldsNoLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		p := d.request(ask("Save"))
		ctx, cancel := context.WithTimeout(background, 40*time.Second)
		defer cancel()
		done := make(chan error)
		go func() {
			_, err := d.store.Wait(ctx, p.ID)
			done <- err
		}()
		synctest.Wait()
		lock, free, err := statefile.TryLock(filepath.Join(d.dir, "ledger.lock"))
		require.NoError(t, err)
		require.True(t, free)
		time.Sleep(10 * time.Second) // and it needs none
		require.NoError(t, lock.Unlock())
		require.Equal(t, []string{p.ID}, d.pending())
		require.ErrorIs(t, <-done, context.DeadlineExceeded)
		require.Equal(t, approval.StatePending, d.state(p.ID))

		joined := d.request(ask("Save"))
		require.Equal(t, p.ID, joined.ID)
	})
}

func TestPC19WaitErrors(t *testing.T) {
	d := newDesk(t)
	_, err := d.store.Wait(background, "0000000000000000")
	require.ErrorIs(t, err, approval.ErrUnknown)
	p := d.request(ask("Save"))
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "ledger.jsonl"), []byte("x\n"), 0o600))
	_, err = d.store.Wait(background, p.ID)
	require.ErrorContains(t, err, "ledger.jsonl, line 1")
	_, err = d.store.Withdraw(background, approval.Filter{ID: p.ID})
	require.ErrorContains(t, err, "ledger.jsonl, line 1")
	_, err = approval.Open(d.dir, nil)
	require.ErrorContains(t, err, "ledger.jsonl, line 1")
	_, err = approval.Open("", nil)
	require.Error(t, err)
}

func TestPC19Withdraw(t *testing.T) {
	for _, tt := range []struct {
		name   string
		filter approval.Filter
		want   []int // which of the four are withdrawn
	}{
		{"session", approval.Filter{Session: "s1"}, []int{0, 1, 2}},
		{"snapshot", approval.Filter{Snapshot: "n2"}, []int{1, 3}},
		{"session and snapshot", approval.Filter{Session: "s1", Snapshot: "n2"}, []int{1}},
		{"nobody", approval.Filter{Session: "s9"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			asks := []approval.Ask{ask("a"), ask("b"), ask("c"), ask("d")}
			asks[1].Snapshot, asks[3].Snapshot, asks[3].Session = "n2", "n2", "s2"
			var ids []string
			for _, a := range asks {
				ids = append(ids, d.request(a).ID)
			}
			d.approve(ids[2]) // an answer does not protect it
			n, err := d.store.Withdraw(background, tt.filter)
			require.NoError(t, err)
			require.Equal(t, len(tt.want), n)
			var got []int
			for i, id := range ids {
				if d.state(id) == approval.StateWithdrawn {
					got = append(got, i)
					require.ErrorIs(t, d.consume(asks[i], id), approval.ErrWithdrawn)
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
	d := newDesk(t)
	p := d.request(ask("Save"))
	_, err := d.store.Withdraw(background, approval.Filter{})
	require.Error(t, err)
	n, err := d.store.Withdraw(background, approval.Filter{ID: p.ID})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = d.store.Withdraw(background, approval.Filter{ID: p.ID})
	require.NoError(t, err)
	require.Zero(t, n, "it is over already")
	require.NoError(t, d.store.ClearAll(background, "policy edit"))
}
