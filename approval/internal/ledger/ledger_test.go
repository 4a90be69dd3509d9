package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

// fresh is a ledger that stands at noon until the returned time is moved.
func fresh(t testing.TB) (*ledger.Ledger, *time.Time) {
	now := noon
	l, err := ledger.New(filepath.Join(t.TempDir(), "approvals"), ledger.Clock{
		Wall: func() time.Time { return now },
		Mono: func() time.Duration { return now.Sub(noon) },
	})
	require.NoError(t, err)
	return l, &now
}

func update(t testing.TB, l *ledger.Ledger, f func(*ledger.Book) error) {
	t.Helper()
	require.NoError(t, l.Update(context.Background(), f))
}

// ask adds a plain pending record.
func ask(t testing.TB, l *ledger.Ledger) (r ledger.Record) {
	t.Helper()
	update(t, l, func(b *ledger.Book) (err error) {
		r, err = b.Add(ledger.Record{Digest: strings.Repeat("ab", 32), Session: "s"}, ledger.Clear{Arguments: canary})
		return err
	})
	return r
}

func move(l *ledger.Ledger, id string, to ledger.State, c ledger.Change) error {
	return l.Update(context.Background(), func(b *ledger.Book) error { return b.Move(id, to, c) })
}

func find(t testing.TB, l *ledger.Ledger, id string) ledger.Record {
	t.Helper()
	b, _, err := l.View(context.Background())
	require.NoError(t, err)
	r, ok := b.Find(id)
	require.True(t, ok)
	return r
}

const canary = `{"text":"canary 4711"}`

var states = []ledger.State{ledger.Pending, ledger.Granted, ledger.Denied, ledger.Executing, ledger.Consumed, ledger.Expired, ledger.Withdrawn}

// way is how a record gets to each state.
var way = map[ledger.State][]ledger.State{
	ledger.Pending: {}, ledger.Granted: {ledger.Granted}, ledger.Denied: {ledger.Denied},
	ledger.Executing: {ledger.Granted, ledger.Executing}, ledger.Consumed: {ledger.Granted, ledger.Executing, ledger.Consumed},
	ledger.Expired: {ledger.Expired}, ledger.Withdrawn: {ledger.Withdrawn},
}

// change is what a move needs: only a yes needs somebody who says it.
func change(to ledger.State) ledger.Change {
	if to == ledger.Granted {
		return ledger.Change{By: "me"}
	}
	return ledger.Change{}
}

// Every pair of states: the moves of the table, and no other.
func TestPC19Moves(t *testing.T) {
	legal := map[[2]ledger.State]bool{
		{ledger.Pending, ledger.Granted}: true, {ledger.Pending, ledger.Denied}: true,
		{ledger.Pending, ledger.Expired}: true, {ledger.Pending, ledger.Withdrawn}: true,
		{ledger.Granted, ledger.Executing}: true, {ledger.Granted, ledger.Denied}: true,
		{ledger.Granted, ledger.Expired}: true, {ledger.Granted, ledger.Withdrawn}: true,
		{ledger.Executing, ledger.Consumed}: true,
	}
	for _, from := range states {
		for _, to := range append([]ledger.State{"", "allowed"}, states...) {
			t.Run(string(from+" to "+to), func(t *testing.T) {
				l, _ := fresh(t)
				r := ask(t, l)
				for _, s := range way[from] {
					require.NoError(t, move(l, r.ID, s, change(s)))
				}
				before := find(t, l, r.ID)
				require.Equal(t, from, before.State)
				err := move(l, r.ID, to, change(to))
				if !legal[[2]ledger.State{from, to}] {
					require.ErrorContains(t, err, "no way from")
					require.Equal(t, before, find(t, l, r.ID))
					return
				}
				require.NoError(t, err)
				after := find(t, l, r.ID)
				require.Equal(t, to, after.State)
				require.Equal(t, to.Open(), after.Clear != nil)
			})
		}
	}
	l, _ := fresh(t)
	update(t, l, func(b *ledger.Book) error {
		_, ok := b.Find(sampleID(1))
		require.False(t, ok)
		return nil
	})
	require.ErrorIs(t, move(l, sampleID(1), ledger.Denied, ledger.Change{}), ledger.ErrUnknown)
	r := ask(t, l)
	require.Error(t, move(l, r.ID, ledger.Granted, ledger.Change{}), "nobody said yes")
	require.Equal(t, ledger.Pending, find(t, l, r.ID).State)
}

func TestPC19AddRefuses(t *testing.T) {
	good := ledger.Record{Digest: strings.Repeat("ab", 32), Session: "s"}
	for _, tt := range []struct {
		name string
		edit func(*ledger.Record, *ledger.Clear)
		want error
	}{
		{"no digest", func(r *ledger.Record, _ *ledger.Clear) { r.Digest = "" }, ledger.ErrInvalid},
		{"no session", func(r *ledger.Record, _ *ledger.Clear) { r.Session = "" }, ledger.ErrInvalid},
		{"not text", func(_ *ledger.Record, c *ledger.Clear) { c.Arguments = "\xff" }, ledger.ErrInvalid},
		{"too large", func(_ *ledger.Record, c *ledger.Clear) { c.Arguments = strings.Repeat("a", ledger.MaxRecord) }, ledger.ErrTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, _ := fresh(t)
			r, c := good, ledger.Clear{}
			tt.edit(&r, &c)
			err := l.Update(context.Background(), func(b *ledger.Book) error {
				_, err := b.Add(r, c)
				return err
			})
			require.ErrorIs(t, err, tt.want)
			require.False(t, l.Exists())
		})
	}
}

// Codes of open records differ, and none is half an answer.
func TestEX5Codes(t *testing.T) {
	l, _ := fresh(t)
	seen := map[string]bool{}
	update(t, l, func(b *ledger.Book) error {
		for range 150 {
			r, err := b.Add(ledger.Record{Digest: strings.Repeat("ab", 32), Session: "s"}, ledger.Clear{})
			require.NoError(t, err)
			require.Regexp(t, `^[a-z]{2}$`, r.Clear.Code)
			require.NotContains(t, []string{"no", "ok", "yy"}, r.Clear.Code)
			require.False(t, seen[r.Clear.Code])
			seen[r.Clear.Code] = true
		}
		return nil
	})
}

func TestPC19SweepByWall(t *testing.T) {
	for _, tt := range []struct {
		name  string
		grant bool
		after time.Duration
		want  ledger.State
	}{
		{"pending, last moment", false, ledger.Lifetime - time.Millisecond, ledger.Pending},
		{"pending, over", false, ledger.Lifetime, ledger.Expired},
		{"pending, clock set back", false, -time.Millisecond, ledger.Expired},
		{"granted, last moment", true, 100*time.Second + ledger.Lifetime - time.Millisecond, ledger.Granted},
		{"granted, over", true, 100*time.Second + ledger.Lifetime, ledger.Expired},
		{"granted, clock set back before the yes", true, 99 * time.Second, ledger.Expired},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, now := fresh(t)
			r := ask(t, l)
			if tt.grant {
				*now = noon.Add(100 * time.Second)
				require.NoError(t, move(l, r.ID, ledger.Granted, ledger.Change{By: "me"}))
			}
			*now = noon.Add(tt.after)
			b, due, err := l.View(context.Background())
			require.NoError(t, err)
			seen, _ := b.Find(r.ID)
			require.Equal(t, tt.want, seen.State)
			require.Equal(t, tt.want == ledger.Expired, due)
			update(t, l, func(*ledger.Book) error { return nil })
			*now = noon.Add(101 * time.Second)
			require.Equal(t, tt.want, find(t, l, r.ID).State, "what is over stays over")
			data, err := os.ReadFile(l.Path())
			require.NoError(t, err)
			require.Equal(t, tt.want != ledger.Expired, bytes.Contains(data, []byte("canary")))
		})
	}
}

// What has ended is forgotten, denials last; what executes is no number among
// many.
func TestPC39Forget(t *testing.T) {
	l, now := fresh(t)
	stuck, denied := ask(t, l), ask(t, l)
	require.NoError(t, move(l, stuck.ID, ledger.Granted, ledger.Change{By: "me"}))
	require.NoError(t, move(l, stuck.ID, ledger.Executing, ledger.Change{}))
	require.NoError(t, move(l, denied.ID, ledger.Denied, ledger.Change{By: "me"}))
	var last ledger.Record
	flood := func() {
		update(t, l, func(b *ledger.Book) error {
			for range 300 {
				r, err := b.Add(ledger.Record{Digest: strings.Repeat("ab", 32), Session: "s"}, ledger.Clear{})
				require.NoError(t, err)
				require.NoError(t, b.Move(r.ID, ledger.Withdrawn, ledger.Change{Reason: strings.Repeat("long ", 100)}))
				last = r
			}
			return nil
		})
	}
	count := func() map[ledger.State]int {
		b, _, err := l.View(context.Background())
		require.NoError(t, err)
		n := map[ledger.State]int{}
		for _, r := range b.Records() {
			n[r.State]++
		}
		return n
	}
	flood()
	require.Equal(t, map[ledger.State]int{ledger.Executing: 1, ledger.Denied: 1, ledger.Withdrawn: 256}, count())
	require.Len(t, find(t, l, last.ID).Reason, 200)
	*now = noon.Add(21 * time.Minute)
	flood()
	require.Equal(t, map[ledger.State]int{ledger.Executing: 1, ledger.Withdrawn: 256}, count())
	*now = noon.Add(25 * time.Hour)
	r := ask(t, l)
	require.NoError(t, move(l, r.ID, ledger.Withdrawn, ledger.Change{}))
	require.Equal(t, map[ledger.State]int{ledger.Withdrawn: 1}, count())
}

// Appends alone never let the file grow without end.
func TestD13Compaction(t *testing.T) {
	l, now := fresh(t)
	big := strings.Repeat("x", 200<<10)
	var ids []string
	for range 4 {
		update(t, l, func(b *ledger.Book) error {
			r, err := b.Add(ledger.Record{Digest: strings.Repeat("ab", 32), Session: "s"}, ledger.Clear{Arguments: big})
			ids = append(ids, r.ID)
			return err
		})
	}
	// Open records cannot be made shorter: appended to, however large.
	for range 3 {
		ask(t, l)
	}
	update(t, l, func(b *ledger.Book) error {
		_, err := b.Add(ledger.Record{Digest: strings.Repeat("ab", 32), Session: "s"}, ledger.Clear{Arguments: big})
		require.NoError(t, err)
		_, err = b.Add(ledger.Record{Digest: strings.Repeat("ab", 32), Session: "s"}, ledger.Clear{Arguments: big})
		return err
	})
	st, err := os.Stat(l.Path())
	require.NoError(t, err)
	require.Greater(t, st.Size(), int64(1<<20))
	require.NoError(t, move(l, ids[0], ledger.Withdrawn, ledger.Change{}))

	// Marks of what is over are dropped when an append passes the limit.
	*now = noon.Add(time.Hour)
	old := make([]ledger.Record, 6000)
	for i := range old {
		old[i] = sample(hexID(i), ledger.Consumed)
		old[i].First, old[i].Asked, old[i].Changed = noon.Add(-48*time.Hour), noon.Add(-48*time.Hour), noon.Add(-48*time.Hour)
	}
	require.NoError(t, os.WriteFile(l.Path(), ledger.Journal(old), 0o600))
	ask(t, l)
	st, err = os.Stat(l.Path())
	require.NoError(t, err)
	require.Less(t, st.Size(), int64(1<<10))
}

// The lock is waited for, but not for ever; reading needs none.
func TestPC25Busy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := fresh(t)
		r := ask(t, l)
		held, err := statefile.LockContext(context.Background(), filepath.Join(filepath.Dir(l.Path()), "ledger.lock"))
		require.NoError(t, err)
		begin := time.Now()
		require.ErrorIs(t, move(l, r.ID, ledger.Denied, ledger.Change{}), ledger.ErrBusy)
		require.Equal(t, 5*time.Second, time.Since(begin).Round(time.Second))
		require.Equal(t, ledger.Pending, find(t, l, r.ID).State)

		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err = l.Update(ctx, func(*ledger.Book) error { return nil })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, ledger.ErrBusy)

		time.AfterFunc(time.Second, func() { held.Unlock() })
		require.NoError(t, move(l, r.ID, ledger.Denied, ledger.Change{}))
	})
}

func TestPC25NewAndMissing(t *testing.T) {
	_, err := ledger.New("", ledger.System())
	require.Error(t, err)
	l, _ := fresh(t)
	b, due, err := l.View(context.Background())
	require.NoError(t, err)
	require.Empty(t, b.Records())
	require.False(t, due)
	require.NoDirExists(t, filepath.Dir(l.Path()), "looking makes nothing")
	refused := errors.New("refused")
	require.ErrorIs(t, l.Update(context.Background(), func(*ledger.Book) error { return refused }), refused)
	require.False(t, l.Exists())
	require.Equal(t, ledger.Version{}, l.Version())
	ask(t, l)
	require.True(t, l.Exists())
	clock := ledger.System()
	require.WithinDuration(t, time.Now(), clock.Wall(), time.Minute)
	require.GreaterOrEqual(t, clock.Mono(), time.Duration(0))
}
