package review_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
	"github.com/permission-canvas/permission-canvas/approval/review"
)

var background = context.Background()

// A desk is an asker, and a person whose wall clock tests turn.
type desk struct {
	dir   string
	store *approval.Store
	inbox *review.Inbox
	wall  time.Duration
}

func newDesk(t testing.TB) *desk {
	d := &desk{dir: filepath.Join(t.TempDir(), "approvals")}
	var err error
	d.store, err = approval.Open(d.dir, nil)
	require.NoError(t, err)
	system := ledger.System()
	d.inbox, err = review.OpenWithClock(d.dir, ledger.Clock{Wall: func() time.Time { return system.Wall().Add(d.wall) }, Mono: system.Mono})
	require.NoError(t, err)
	return d
}

// ask is an ask whose digest starts with the two given hex digits.
func ask(hex string) approval.Ask {
	return approval.Ask{Digest: strings.Repeat(hex, 32), Session: "s1", Agent: "claude", Window: "Chromium · Admin",
		Place: "https://acme.example", Verb: "click", Target: "Save", Arguments: `{"count":1}`, Delivery: "background",
		PolicyHash: "p1", Snapshot: "n1", Same: "save" + hex, Profile: "~/.hermes"}
}

func (d *desk) request(t testing.TB, a approval.Ask) string {
	t.Helper()
	p, err := d.store.Request(background, a)
	require.NoError(t, err)
	return p.ID
}

func TestPC41CardShowsEverything(t *testing.T) {
	d := newDesk(t)
	id := d.request(t, ask("ab"))
	cards, err := d.inbox.Pending(background)
	require.NoError(t, err)
	require.Len(t, cards, 1)
	c := cards[0]
	require.Regexp(t, "^[a-z]{2}$", c.Code)
	require.WithinDuration(t, time.Now(), c.Asked, time.Minute)
	require.Equal(t, review.Card{ID: id, State: approval.StatePending, Digest: ask("ab").Digest, Session: "s1", Agent: "claude",
		Verb: "click", First: c.Asked, Asked: c.Asked, Changed: c.Asked, Expires: c.Asked.Add(approval.Lifetime),
		Window: "Chromium · Admin", Place: "https://acme.example", Target: "Save", Arguments: `{"count":1}`, Delivery: "background",
		PolicyHash: "p1", Snapshot: "n1", Profile: "~/.hermes", Code: c.Code}, c)

	require.NoError(t, d.inbox.Approve(background, id, "terminal"))
	cards, err = d.inbox.Pending(background)
	require.NoError(t, err)
	require.Empty(t, cards)
	granted, err := d.inbox.Granted(background)
	require.NoError(t, err)
	require.Len(t, granted, 1)
	require.Equal(t, "terminal", granted[0].By)
	require.Equal(t, granted[0].Changed.Add(approval.Lifetime), granted[0].Expires)

	require.NoError(t, d.inbox.Deny(background, id, "panel", "not now"))
	c, err = d.inbox.Get(background, id)
	require.NoError(t, err)
	require.Equal(t, review.Card{ID: id, State: approval.StateDenied, Digest: ask("ab").Digest, Session: "s1", Agent: "claude",
		Verb: "click", First: c.First, Asked: c.Asked, Changed: c.Changed, By: "panel", Reply: "not now"}, c)
}

// Only the whole id is an id (D40).
func TestD40ExactID(t *testing.T) {
	d := newDesk(t)
	id := d.request(t, ask("ab"))
	for name, wrong := range map[string]string{
		"prefix": id[:15], "longer": id + "0", "upper case": strings.ToUpper(id[:15]) + "A", "empty": "",
		"space": id + " ", "another": "0123456789abcdef", "long": strings.Repeat("a", 1000), "path": "../" + id[:13],
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, d.inbox.Approve(background, wrong, "terminal"), approval.ErrUnknown)
			require.ErrorIs(t, d.inbox.Deny(background, wrong, "terminal", ""), approval.ErrUnknown)
			_, err := d.inbox.Get(background, wrong)
			require.ErrorIs(t, err, approval.ErrUnknown)
		})
	}
	require.NoError(t, d.inbox.Approve(background, id, "terminal"))
}

// The first answer counts; only a yes that is not spent can be taken back.
func TestPC19AnsweredOnce(t *testing.T) {
	d := newDesk(t)
	a := ask("ab")
	id := d.request(t, a)
	require.NoError(t, d.inbox.Approve(background, id, "panel"))
	var answered *review.AnsweredError
	require.ErrorAs(t, d.inbox.Approve(background, id, "terminal"), &answered)
	require.Equal(t, review.AnsweredError{ID: id, State: approval.StateGranted, By: "panel"}, *answered)
	require.EqualError(t, answered, "approval: request "+id+" is granted, answered by panel")
	require.NoError(t, d.store.Consume(background, id, a.Digest, a.Session))
	err := d.inbox.Deny(background, id, "terminal", "")
	require.ErrorAs(t, err, &answered)
	require.Equal(t, approval.StateExecuting, answered.State)
	require.NotErrorIs(t, err, approval.ErrExpired)
	require.NoError(t, d.store.Finish(background, id))
	require.ErrorAs(t, d.inbox.Approve(background, id, "terminal"), &answered)

	id = d.request(t, ask("cd"))
	require.NoError(t, d.inbox.ClearAll(background, "policy edit"))
	err = d.inbox.Approve(background, id, "terminal")
	require.ErrorIs(t, err, approval.ErrWithdrawn)
	require.EqualError(t, err, "approval: request "+id+" is withdrawn")
	c, err := d.inbox.Get(background, id)
	require.NoError(t, err)
	require.Equal(t, "policy edit", c.Reason)
}

// Twenty answers at once: one counts.
func TestPC19AnswersRace(t *testing.T) {
	d := newDesk(t)
	id := d.request(t, ask("ab"))
	var wg sync.WaitGroup
	errs := make(chan error, 20)
	for range cap(errs) {
		wg.Go(func() { errs <- d.inbox.Approve(background, id, "terminal") })
	}
	wg.Wait()
	close(errs)
	won := 0
	for err := range errs {
		if err == nil {
			won++
		}
	}
	require.Equal(t, 1, won)
}

// A late yes is no yes, and neither is one under a clock that was set.
func TestPC19LateAnswers(t *testing.T) {
	for name, wall := range map[string]time.Duration{
		"late": approval.Lifetime, "clock set forward": 24 * time.Hour, "clock set back": -time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			a := ask("ab")
			id := d.request(t, a)
			d.wall = wall
			require.ErrorIs(t, d.inbox.Approve(background, id, "terminal"), approval.ErrExpired)
			require.ErrorIs(t, d.store.Consume(background, id, a.Digest, a.Session), approval.ErrExpired)
			cards, err := d.inbox.Pending(background)
			require.NoError(t, err)
			require.Empty(t, cards)
		})
	}
}

func TestPC19AnswerRefuses(t *testing.T) {
	d := newDesk(t)
	id := d.request(t, ask("ab"))
	for name, responder := range map[string]string{"nobody": "", "long": strings.Repeat("a", 65), "not text": "\xff"} {
		require.ErrorContains(t, d.inbox.Approve(background, id, responder), "responder", name)
	}
	for name, reply := range map[string]string{"long": strings.Repeat("ä", 201), "two lines": "a\nb", "escape": "a\x1b[2J", "not text": "\xff"} {
		require.ErrorContains(t, d.inbox.Deny(background, id, "terminal", reply), "reply", name)
	}
	require.NoError(t, d.inbox.Deny(background, id, "terminal", strings.Repeat("ä", 200)))
}

// What expired while nobody looked is listed once it is over, unless it was
// asked again or answered.
func TestEX25Missed(t *testing.T) {
	d := newDesk(t)
	begin := time.Now().Add(-time.Minute)
	missed := d.request(t, ask("aa"))
	answered := d.request(t, ask("bb"))
	require.NoError(t, d.inbox.Approve(background, answered, "terminal"))
	lone := ask("cc")
	lone.Same = ""
	alone := d.request(t, lone)
	none, err := d.inbox.Missed(background, begin)
	require.NoError(t, err)
	require.Empty(t, none)

	d.wall = 2 * approval.Lifetime
	cards, err := d.inbox.Missed(background, begin)
	require.NoError(t, err)
	require.Len(t, cards, 2)
	require.Equal(t, []string{missed, alone}, []string{cards[0].ID, cards[1].ID})
	require.Equal(t, cards[0].Asked.Add(approval.Lifetime), cards[0].Changed)
	require.Empty(t, cards[0].Arguments)
	none, err = d.inbox.Missed(background, begin.Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, none)

	d.wall = 0
	d.request(t, ask("aa"))
	cards, err = d.inbox.Missed(background, begin)
	require.NoError(t, err)
	require.Len(t, cards, 1)
	require.Equal(t, alone, cards[0].ID)
}

// Looking at a profile where nothing was ever asked makes nothing.
func TestPC25LookingMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "approvals")
	inbox, err := review.Open(dir)
	require.NoError(t, err)
	cards, err := inbox.Pending(background)
	require.NoError(t, err)
	require.Empty(t, cards)
	require.ErrorIs(t, inbox.Approve(background, "0123456789abcdef", "terminal"), approval.ErrUnknown)
	require.NoError(t, inbox.ClearAll(background, "policy edit"))
	require.NoDirExists(t, dir)
	_, err = review.Open("")
	require.Error(t, err)
}

func TestPC25CorruptSaysWhere(t *testing.T) {
	d := newDesk(t)
	id := d.request(t, ask("ab"))
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "ledger.jsonl"), []byte("{}\n"), 0o600))
	_, err := d.inbox.Pending(background)
	require.ErrorContains(t, err, "ledger.jsonl, line 1")
	_, err = d.inbox.Missed(background, time.Time{})
	require.ErrorContains(t, err, "ledger.jsonl, line 1")
	_, err = d.inbox.Get(background, id)
	require.ErrorContains(t, err, "ledger.jsonl, line 1")
	require.ErrorContains(t, d.inbox.Approve(background, id, "terminal"), "ledger.jsonl, line 1")
	require.ErrorContains(t, d.inbox.ClearAll(background, "x"), "ledger.jsonl, line 1")
}
