package approval_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/review"
)

// entry is what the model knows of a request.
type entry struct {
	id             string
	ask            approval.Ask
	state          approval.State
	asked, changed time.Time
	lifted         bool
}

func (e *entry) open() bool {
	return e.state == approval.StatePending || e.state == approval.StateGranted
}

func (e *entry) move(s approval.State) { e.state, e.changed = s, time.Now() }

// model is the rules of PC19 and PC39 said once more, in the plainest way,
// over the real thing.
type model struct {
	dir     string
	store   *approval.Store
	inbox   *review.Inbox
	entries []*entry
}

// pick draws one of the requests so far.
func (m *model) pick(t *rapid.T) *entry {
	if len(m.entries) == 0 {
		t.Skip("nothing asked yet")
	}
	return m.entries[rapid.IntRange(0, len(m.entries)-1).Draw(t, "request")]
}

// expire ends what the time has ended.
func (m *model) expire() {
	for _, e := range m.entries {
		if e.open() && time.Since(e.changed) >= approval.Lifetime {
			e.state, e.changed = approval.StateExpired, e.changed.Add(approval.Lifetime)
		}
	}
}

// blocked reports whether a person's no stands against a.
func (m *model) blocked(a approval.Ask) bool {
	var denials []time.Time
	for _, e := range m.entries {
		if e.state != approval.StateDenied || e.lifted {
			continue
		}
		if e.ask.Same == a.Same && time.Since(e.changed) < 2*time.Minute {
			return true
		}
		if e.ask.Target == a.Target {
			denials = append(denials, e.changed)
		}
	}
	for _, last := range denials {
		n := 0
		for _, d := range denials {
			if !d.After(last) && last.Sub(d) <= 10*time.Minute {
				n++
			}
		}
		if n >= 3 && time.Since(last) < 10*time.Minute {
			return true
		}
	}
	return false
}

func (m *model) request(t *rapid.T) {
	kind, snapshot := rapid.IntRange(0, 2).Draw(t, "kind"), rapid.IntRange(0, 2).Draw(t, "snapshot")
	session := rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "session")
	a := ask(fmt.Sprint(kind))
	a.Session, a.Snapshot, a.Same = session, fmt.Sprint("n", snapshot), fmt.Sprint(kind, session)
	a.Digest = digest(fmt.Sprint(kind, snapshot, session))
	p, err := m.store.Request(background, a)
	for _, e := range m.entries {
		if e.open() && e.ask.Digest == a.Digest {
			require.NoError(t, err)
			require.Equal(t, e.id, p.ID)
			require.Equal(t, e.state, p.State)
			require.WithinDuration(t, e.changed.Add(approval.Lifetime), p.Expires, 0)
			return
		}
	}
	if m.blocked(a) {
		var denied *approval.DeniedError
		require.ErrorAs(t, err, &denied)
		return
	}
	require.NoError(t, err)
	for _, e := range m.entries {
		require.NotEqual(t, e.id, p.ID)
		if e.open() && e.ask.Same == a.Same {
			e.move(approval.StateWithdrawn)
		}
	}
	m.entries = append(m.entries, &entry{id: p.ID, ask: a, state: approval.StatePending, asked: time.Now(), changed: time.Now()})
}

func (m *model) approve(t *rapid.T) {
	e := m.pick(t)
	err := m.inbox.Approve(background, e.id, "terminal")
	if e.state == approval.StatePending {
		require.NoError(t, err)
		e.move(approval.StateGranted)
		return
	}
	require.Error(t, err)
}

func (m *model) deny(t *rapid.T) {
	e := m.pick(t)
	err := m.inbox.Deny(background, e.id, "terminal", "")
	if e.open() {
		require.NoError(t, err)
		e.move(approval.StateDenied)
		return
	}
	require.Error(t, err)
}

func (m *model) consume(t *rapid.T) {
	e, with := m.pick(t), m.pick(t)
	err := m.store.Consume(background, e.id, with.ask.Digest, with.ask.Session)
	if e.state == approval.StateGranted && e.ask.Digest == with.ask.Digest {
		require.NoError(t, err)
		e.move(approval.StateExecuting)
		return
	}
	require.Error(t, err)
}

func (m *model) finish(t *rapid.T) {
	e := m.pick(t)
	err := m.store.Finish(background, e.id)
	if e.state == approval.StateExecuting {
		require.NoError(t, err)
		e.move(approval.StateConsumed)
		return
	}
	require.Error(t, err)
}

func (m *model) withdraw(t *rapid.T) {
	e := m.pick(t)
	f := rapid.SampledFrom([]approval.Filter{{ID: e.id}, {Session: e.ask.Session}, {Snapshot: e.ask.Snapshot},
		{Session: e.ask.Session, Snapshot: e.ask.Snapshot}}).Draw(t, "filter")
	want := 0
	for _, o := range m.entries {
		if o.open() && (f.ID == "" || f.ID == o.id) && (f.Session == "" || f.Session == o.ask.Session) &&
			(f.Snapshot == "" || f.Snapshot == o.ask.Snapshot) {
			o.move(approval.StateWithdrawn)
			want++
		}
	}
	n, err := m.store.Withdraw(background, f)
	require.NoError(t, err)
	require.Equal(t, want, n)
}

func (m *model) edit(t *rapid.T) {
	byPerson := rapid.Bool().Draw(t, "by the person")
	if byPerson {
		require.NoError(t, m.inbox.ClearAll(background, "policy edit"))
	} else {
		require.NoError(t, m.store.ClearAll(background, "policy edit"))
	}
	for _, e := range m.entries {
		if e.open() {
			e.move(approval.StateWithdrawn)
		}
		e.lifted = e.lifted || byPerson && e.state == approval.StateDenied
	}
}

func (m *model) wait(t *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{time.Second, 40 * time.Second, 119 * time.Second, approval.Lifetime,
		5 * time.Minute}).Draw(t, "time"))
	m.expire()
}

// restart is the agent's process again: it knows nothing but the ledger.
func (m *model) restart(t *rapid.T) {
	var err error
	m.store, err = approval.Open(m.dir, nil)
	require.NoError(t, err)
}

// check compares every request and the list.
func (m *model) check(t *rapid.T) {
	open := map[string]bool{}
	for _, e := range m.entries {
		c, err := m.inbox.Get(background, e.id)
		require.NoError(t, err)
		require.Equal(t, e.state, c.State)
		require.Equal(t, e.open(), c.Arguments != "")
		if e.state == approval.StatePending {
			open[e.id] = true
		}
	}
	cards, err := m.inbox.Pending(background)
	require.NoError(t, err)
	require.Len(t, cards, len(open))
	for i, c := range cards {
		require.True(t, open[c.ID])
		require.True(t, i == 0 || !c.First.Before(cards[i-1].First))
	}
}

// memory is a directory that needs no disk, where the system has one.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "approval")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestPC19Model(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		base := memory(t)
		// Not a *testing.T to rapid, which would ask it for a deadline in
		// real time.
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			n++
			dir := filepath.Join(base, fmt.Sprint(n))
			m := &model{dir: dir}
			m.restart(rt)
			var err error
			m.inbox, err = review.Open(dir)
			require.NoError(rt, err)
			rt.Repeat(map[string]func(*rapid.T){
				"": m.check, "request": m.request, "request more": m.request, "approve": m.approve, "deny": m.deny,
				"consume": m.consume, "finish": m.finish, "withdraw": m.withdraw, "edit": m.edit, "wait": m.wait, "restart": m.restart,
			})
			require.NoError(rt, errors.Join(os.RemoveAll(dir)))
		})
	})
}
