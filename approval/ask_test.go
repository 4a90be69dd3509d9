package approval_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/review"
)

func TestPC19IdenticalRetryJoins(t *testing.T) {
	d := newDesk(t)
	a := ask("Save")
	p := d.request(a)
	require.Equal(t, p, d.request(a), "same id, same time, not asked again")
	require.Len(t, d.pending(), 1)

	other := a
	other.Session = "s2"
	require.NotEqual(t, p.ID, d.request(other).ID, "another session joins nothing")

	d.approve(p.ID)
	joined := d.request(a)
	require.Equal(t, p.ID, joined.ID)
	require.Equal(t, approval.StateGranted, joined.State)
	require.NoError(t, d.consume(a, joined.ID))
}

// A digest that does not cover what is shown is the caller's mistake, and no
// way to have one thing approved and another done.
func TestPC19JoinShowsTheSame(t *testing.T) {
	d := newDesk(t)
	d.request(ask("Save"))
	for name, edit := range map[string]func(*approval.Ask){
		"arguments": func(a *approval.Ask) { a.Arguments = `{"target":"Delete"}` },
		"verb":      func(a *approval.Ask) { a.Verb = "type_text" },
		"target":    func(a *approval.Ask) { a.Target = "button Delete" },
		"delivery":  func(a *approval.Ask) { a.Delivery = "foreground" },
		"policy":    func(a *approval.Ask) { a.PolicyHash = "p2" },
	} {
		a := ask("Save")
		edit(&a)
		_, err := d.store.Request(background, a)
		require.ErrorIs(t, err, approval.ErrMismatch, name)
	}
}

func TestPC19Refuses(t *testing.T) {
	d := newDesk(t)
	for name, tt := range map[string]struct {
		edit func(*approval.Ask)
		want error
	}{
		"no digest":    {func(a *approval.Ask) { a.Digest = "" }, approval.ErrInvalid},
		"other digest": {func(a *approval.Ask) { a.Digest = strings.ToUpper(a.Digest) }, approval.ErrInvalid},
		"no session":   {func(a *approval.Ask) { a.Session = "" }, approval.ErrInvalid},
		"not text":     {func(a *approval.Ask) { a.Window = "\xed\xa0\x80" }, approval.ErrInvalid},
		"too large":    {func(a *approval.Ask) { a.Arguments = strings.Repeat("a", approval.MaxAsk) }, approval.ErrTooLarge},
	} {
		a := ask("Save")
		tt.edit(&a)
		_, err := d.store.Request(background, a)
		require.ErrorIs(t, err, tt.want, name)
	}
	require.Empty(t, d.pending())
}

// A denial blocks that request for 120 s, also after a new capture.
func TestPC19DenialBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		a := ask("Save")
		a.Same = "save on acme"
		p := d.request(a)
		d.deny(p.ID, "wrong control")
		var denied *approval.DeniedError
		require.ErrorAs(t, d.consume(a, p.ID), &denied)
		require.Equal(t, "wrong control", denied.Reply)
		require.Equal(t, "approval: denied by the person", denied.Error())

		recaptured := a
		recaptured.Digest, recaptured.Snapshot = digest("Save on n2"), "n2"
		for _, again := range []approval.Ask{a, recaptured} {
			_, err := d.store.Request(background, again)
			require.ErrorAs(t, err, &denied)
			require.NotErrorIs(t, err, approval.ErrTooMany)
			require.Equal(t, approval.DeniedError{ID: p.ID, Reply: "wrong control", Until: denied.Until}, *denied)
			require.WithinDuration(t, time.Now().Add(120*time.Second), denied.Until, time.Second)
		}
		d.request(ask("Open")) // another request is not blocked
		time.Sleep(119 * time.Second)
		_, err := d.store.Request(background, a)
		require.ErrorAs(t, err, &denied)
		time.Sleep(2 * time.Second)
		require.NotEqual(t, p.ID, d.request(a).ID)
	})
}

// A clock that is set back ends no denial.
func TestPC19DenialAndClockSetBack(t *testing.T) {
	d := newDesk(t)
	a := ask("Save")
	d.deny(d.request(a).ID, "")
	d.wall = -time.Hour
	var denied *approval.DeniedError
	_, err := d.store.Request(background, a)
	require.ErrorAs(t, err, &denied)
}

// A person may take a yes back until it is spent.
func TestPC19YesTakenBack(t *testing.T) {
	d := newDesk(t)
	a := ask("Save")
	p := d.request(a)
	d.approve(p.ID)
	d.deny(p.ID, "not now")
	var denied *approval.DeniedError
	require.ErrorAs(t, d.consume(a, p.ID), &denied)
	require.Equal(t, "not now", denied.Reply)
}

// A policy edit clears all, and what a no blocked.
func TestPC19PolicyEditClearsAll(t *testing.T) {
	d := newDesk(t)
	no, yes, open := ask("a"), ask("b"), ask("c")
	d.deny(d.request(no).ID, "")
	granted, pending := d.request(yes), d.request(open)
	d.approve(granted.ID)
	require.NoError(t, d.store.ClearAll(background, "policy edit"))
	require.ErrorIs(t, d.consume(yes, granted.ID), approval.ErrWithdrawn)
	require.Equal(t, approval.StateWithdrawn, d.state(pending.ID))
	_, err := d.store.Request(background, no)
	require.Error(t, err, "the agent's side lifts no denial")
	require.NoError(t, d.inbox.ClearAll(background, "policy edit"))
	d.request(no)
}

func TestPC39EightPerSession(t *testing.T) {
	d := newDesk(t)
	var first approval.Pending
	for i := range 8 {
		p := d.request(ask(fmt.Sprint(i)))
		if i == 0 {
			first = p
		}
	}
	_, err := d.store.Request(background, ask("8"))
	require.ErrorIs(t, err, approval.ErrTooMany)
	require.Equal(t, first.ID, d.request(ask("0")).ID, "joining is not one more")
	other := ask("8")
	other.Session = "s2"
	d.request(other)
	d.approve(first.ID) // answered, so not pending
	d.request(ask("8"))
	_, err = d.store.Request(background, ask("9"))
	require.ErrorIs(t, err, approval.ErrTooMany)
}

func TestPC39SixtyFourPerProfile(t *testing.T) {
	d := newDesk(t)
	for i := range 64 {
		a := ask(fmt.Sprint(i))
		a.Session = fmt.Sprint("session ", i/8)
		d.request(a)
	}
	a := ask("one more")
	a.Session = "another"
	_, err := d.store.Request(background, a)
	require.ErrorIs(t, err, approval.ErrTooMany)
	require.ErrorContains(t, err, "64 of this profile")
	n, err := d.store.Withdraw(background, approval.Filter{Session: "session 0"})
	require.NoError(t, err)
	require.Equal(t, 8, n)
	d.request(a)
}

// Three denials on one control in ten minutes block it for ten, for every
// session and whatever is to be done with it.
func TestPC39ThreeDenials(t *testing.T) {
	for _, tt := range []struct {
		name    string
		gaps    [3]time.Duration // before each denial
		blocked bool
	}{
		{"at once", [3]time.Duration{0, time.Second, time.Second}, true},
		{"just within", [3]time.Duration{0, 5 * time.Minute, 5 * time.Minute}, true},
		{"too far apart", [3]time.Duration{0, 5 * time.Minute, 5*time.Minute + time.Second}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				text := func(i int) approval.Ask {
					a := ask("Name")
					a.Digest, a.Arguments, a.Session = digest(fmt.Sprint(i)), fmt.Sprint(i), fmt.Sprint("s", i)
					return a
				}
				for i, gap := range tt.gaps {
					time.Sleep(gap)
					d.deny(d.request(text(i)).ID, fmt.Sprint("no ", i))
				}
				begin := time.Now()
				time.Sleep(time.Second)
				d.request(ask("Other")) // another control
				if !tt.blocked {
					d.request(text(4))
					return
				}
				var denied *approval.DeniedError
				_, err := d.store.Request(background, text(4))
				require.ErrorAs(t, err, &denied)
				require.ErrorIs(t, err, approval.ErrTooMany)
				require.True(t, denied.Blocked)
				require.Equal(t, "no 2", denied.Reply)
				require.Contains(t, err.Error(), "denied three times")
				require.WithinDuration(t, begin.Add(10*time.Minute), denied.Until, time.Second)
				time.Sleep(time.Until(denied.Until) - time.Second)
				_, err = d.store.Request(background, text(4))
				require.ErrorIs(t, err, approval.ErrTooMany)
				time.Sleep(2 * time.Second)
				d.request(text(4))
			})
		})
	}
}

// The order of answers is not the order of questions.
func TestPC39DenialsOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		var ids []string
		for i := range 3 {
			a := ask("Name")
			a.Digest = digest(fmt.Sprint(i))
			ids = append(ids, d.request(a).ID)
		}
		for i := range ids {
			d.deny(ids[len(ids)-1-i], fmt.Sprint(i))
			time.Sleep(time.Second)
		}
		var denied *approval.DeniedError
		_, err := d.store.Request(background, ask("Name"))
		require.ErrorAs(t, err, &denied)
		require.Equal(t, "2", denied.Reply)
	})
}

// What counts as one control: what the caller says, else place and target,
// else window and target, else the verb.
func TestPC39Control(t *testing.T) {
	for _, tt := range []struct {
		name    string
		other   func(*approval.Ask)
		blocked bool
	}{
		{"place and target", func(a *approval.Ask) { a.Window = "Chromium (2)" }, true},
		{"another place", func(a *approval.Ask) { a.Place = "https://other.example" }, false},
		{"another target", func(a *approval.Ask) { a.Target = "button Open" }, false},
		{"said by the caller", func(a *approval.Ask) { a.Control = "mine" }, false},
		{"window and target", func(a *approval.Ask) { a.Place = "" }, false},
		{"tool", func(a *approval.Ask) { a.Target = "" }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			for i := range 3 {
				a := ask("Save")
				a.Digest = digest(fmt.Sprint(i))
				d.deny(d.request(a).ID, "")
			}
			a := ask("Save")
			tt.other(&a)
			_, err := d.store.Request(background, a)
			if tt.blocked {
				require.ErrorIs(t, err, approval.ErrTooMany)
				return
			}
			require.NoError(t, err)
		})
	}
}

// The same asked after a new capture takes the old one's card, with an id and
// a code of its own; the old yes is gone.
func TestEX25AskedAgainSameCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		same := func(n int) approval.Ask {
			a := ask("Save")
			a.Same, a.Snapshot, a.Digest = "save on acme", fmt.Sprint("n", n), digest(fmt.Sprint("Save on n", n))
			return a
		}
		first := d.request(same(1))
		time.Sleep(time.Second)
		other := d.request(ask("Open"))
		time.Sleep(time.Second)
		require.Equal(t, []string{first.ID, other.ID}, d.pending())

		before, err := d.inbox.Get(background, first.ID)
		require.NoError(t, err)
		d.approve(first.ID)
		second := d.request(same(2))
		require.Equal(t, 1, second.Again)
		require.NotEqual(t, first.ID, second.ID)
		require.Equal(t, []string{second.ID, other.ID}, d.pending(), "in place")
		require.ErrorIs(t, d.consume(same(1), first.ID), approval.ErrWithdrawn)
		require.ErrorIs(t, d.inbox.Approve(background, first.ID, "terminal"), approval.ErrWithdrawn)
		after, err := d.inbox.Get(background, second.ID)
		require.NoError(t, err)
		require.NotEqual(t, before.Code, after.Code)
		require.Equal(t, before.First, after.First)

		time.Sleep(approval.Lifetime) // nobody came
		third := d.request(same(3))
		require.Equal(t, 2, third.Again)
		d.approve(third.ID)
		require.NoError(t, d.consume(same(3), third.ID))
		require.NoError(t, d.store.Finish(background, third.ID))
		require.Zero(t, d.request(same(4)).Again, "done, so it is a new question")

		other2 := same(5)
		other2.Session = "s2"
		require.Zero(t, d.request(other2).Again, "another session replaces nothing")
		require.Len(t, d.pending(), 2)

		time.Sleep(approval.Lifetime + 11*time.Minute)
		require.Zero(t, d.request(same(6)).Again, "too long ago")
	})
}

// A card that is replaced makes room for the one that replaces it.
func TestPC39ReplacingIsNotOneMore(t *testing.T) {
	d := newDesk(t)
	for i := range 8 {
		a := ask(fmt.Sprint(i))
		a.Same = a.Target
		d.request(a)
	}
	a := ask("7")
	a.Same, a.Digest = a.Target, digest("7 on n2")
	require.Equal(t, 1, d.request(a).Again)
	require.Len(t, d.pending(), 8)
}

// However a request ends, no byte of what was asked stays in the directory.
func TestD14NothingStaysInClear(t *testing.T) {
	ends := map[string]func(d *desk, a approval.Ask, id string){
		"consumed": func(d *desk, a approval.Ask, id string) {
			d.approve(id)
			require.NoError(d.t, d.consume(a, id))
			noTrace(d.t, d.dir)
			require.NoError(d.t, d.store.Finish(background, id))
		},
		"denied":         func(d *desk, _ approval.Ask, id string) { d.deny(id, "no") },
		"yes taken back": func(d *desk, _ approval.Ask, id string) { d.approve(id); d.deny(id, "no") },
		"withdrawn": func(d *desk, a approval.Ask, id string) {
			_, err := d.store.Withdraw(background, approval.Filter{Snapshot: a.Snapshot})
			require.NoError(d.t, err)
		},
		"policy edit": func(d *desk, _ approval.Ask, _ string) { require.NoError(d.t, d.inbox.ClearAll(background, "edit")) },
		"policy edit, agent's side": func(d *desk, _ approval.Ask, _ string) {
			require.NoError(d.t, d.store.ClearAll(background, "edit"))
		},
		"expired, seen by the asker": func(d *desk, a approval.Ask, id string) {
			d.approve(id)
			d.wall = time.Hour
			require.ErrorIs(d.t, d.consume(a, id), approval.ErrExpired)
		},
		"expired, seen by the next process": func(d *desk, _ approval.Ask, _ string) {
			d.wall = time.Hour
			d.open()
		},
		"replaced": func(d *desk, a approval.Ask, _ string) {
			a.Digest, a.Target, a.Arguments = digest("2"), "t", "{}"
			a.Window, a.Place, a.Snapshot = "w", "p", "n2"
			d.request(a)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			a := ask(canary)
			a.Same, a.Control, a.Window, a.Place, a.Snapshot = "same "+canary, "control "+canary, canary, canary, canary
			p := d.request(a)
			data, err := os.ReadFile(filepath.Join(d.dir, "ledger.jsonl"))
			require.NoError(t, err)
			require.Contains(t, string(data), canary, "a person must be able to read it")
			end(d, a, p.ID)
			noTrace(t, d.dir)
		})
	}
}

const canary = "canary-4711"

func noTrace(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.Contains(t, []string{"ledger.jsonl", "ledger.lock"}, e.Name())
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		require.NotContains(t, string(data), canary)
	}
}

func TestEX14AListCountsAsOneQuestion(t *testing.T) {
	d := newDesk(t)
	list := func(session, group string, n int) error {
		for i := range n {
			a := ask(session + group + strconv.Itoa(i))
			a.Session, a.Group, a.Step, a.Of = session, group, i+1, n
			if _, err := d.store.Request(background, a); err != nil {
				return err
			}
		}
		return nil
	}
	require.NoError(t, list("s1", "g1", 12))
	require.NoError(t, list("s1", "g2", 12))
	for i := range 6 {
		_, err := d.store.Request(background, ask("alone"+strconv.Itoa(i)))
		require.NoError(t, err)
	}
	require.ErrorIs(t, list("s1", "g3", 1), approval.ErrTooMany, "8 lists and asks of one session")
	a := ask("a further step")
	a.Group, a.Step, a.Of = "g1", 12, 12
	_, err := d.store.Request(background, a)
	require.NoError(t, err, "of a list that is there already")
	cards, err := d.inbox.Pending(background)
	require.NoError(t, err)
	require.Len(t, cards, 12+12+6+1)
	for _, c := range cards {
		if c.Group != "" {
			require.Contains(t, c.Lines(), review.Line{Name: "in a list", Text: "step " + strconv.Itoa(c.Step) + " of 12"})
		}
	}
	for _, bad := range []approval.Ask{{Group: "g", Step: 0, Of: 0}, {Group: "g", Step: 3, Of: 2}, {Step: 1, Of: 2}, {Group: "g", Step: -1, Of: 2}, {Group: "g", Step: 0, Of: 2}} {
		a := ask("bad")
		a.Session, a.Group, a.Step, a.Of = "s9", bad.Group, bad.Step, bad.Of
		_, err := d.store.Request(background, a)
		require.ErrorIs(t, err, approval.ErrInvalid)
	}
}
