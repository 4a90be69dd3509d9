package approval_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
	"github.com/permission-canvas/permission-canvas/approval/review"
)

// A desk is an agent and a person over one ledger, on clocks that tests turn:
// the wall's, which both see, and the agent's own.
type desk struct {
	t     testing.TB
	dir   string
	store *approval.Store
	inbox *review.Inbox
	wall  time.Duration // how far the agent's wall is from the real one
	mono  time.Duration
}

var background = context.Background()

func newDesk(t testing.TB) *desk {
	d := &desk{t: t, dir: filepath.Join(t.TempDir(), "approvals")}
	d.store = d.open()
	var err error
	d.inbox, err = review.Open(d.dir)
	require.NoError(t, err)
	return d
}

// open is another Store over the same ledger, with the desk's clocks.
func (d *desk) open() *approval.Store {
	system := ledger.System()
	s, err := approval.Open(d.dir, approval.Clocked(ledger.Clock{
		Wall: func() time.Time { return system.Wall().Add(d.wall) },
		Mono: func() time.Duration { return system.Mono() + d.mono },
	}))
	require.NoError(d.t, err)
	return s
}

func digest(words string) string {
	sum := sha256.Sum256([]byte(words))
	return hex.EncodeToString(sum[:])
}

// ask is an ask with a digest of its own words.
func ask(words string) approval.Ask {
	return approval.Ask{Digest: digest(words), Session: "s1", Agent: "claude", Window: "Chromium", Place: "https://acme.example",
		Verb: "click", Target: "button " + words, Arguments: `{"target":"` + words + `"}`, Delivery: "background",
		PolicyHash: "p1", Snapshot: "n1", Profile: "~/.hermes"}
}

func (d *desk) request(a approval.Ask) approval.Pending {
	d.t.Helper()
	p, err := d.store.Request(background, a)
	require.NoError(d.t, err)
	return p
}

func (d *desk) approve(id string) {
	d.t.Helper()
	require.NoError(d.t, d.inbox.Approve(background, id, "terminal"))
}

func (d *desk) deny(id, reply string) {
	d.t.Helper()
	require.NoError(d.t, d.inbox.Deny(background, id, "terminal", reply))
}

func (d *desk) consume(a approval.Ask, id string) error {
	return d.store.Consume(background, id, a.Digest, a.Session)
}

func (d *desk) state(id string) approval.State {
	d.t.Helper()
	c, err := d.inbox.Get(background, id)
	require.NoError(d.t, err)
	return c.State
}

// pending are the ids that wait for the person, in the order of the list.
func (d *desk) pending() []string {
	d.t.Helper()
	cards, err := d.inbox.Pending(background)
	require.NoError(d.t, err)
	ids := []string{}
	for _, c := range cards {
		ids = append(ids, c.ID)
	}
	return ids
}
