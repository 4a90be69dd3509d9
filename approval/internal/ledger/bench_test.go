package ledger_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
	"github.com/permission-canvas/permission-canvas/approval/review"
)

// ended makes a directory whose journal holds n requests that are over.
func ended(t testing.TB, n int) string {
	dir := filepath.Join(t.TempDir(), "approvals")
	require.NoError(t, os.Mkdir(dir, 0o700))
	now := time.Now().UTC().Truncate(time.Millisecond)
	records := make([]ledger.Record, n)
	for i := range records {
		at := now.Add(time.Duration(i-n) * time.Second)
		records[i] = ledger.Record{ID: fmt.Sprintf("%016x", i+1), State: ledger.Consumed,
			Digest: strings.Repeat("ab", 32), Same: strings.Repeat("cd", 16), Control: strings.Repeat("ef", 16),
			Session: strings.Repeat("01", 16), Agent: "claude-code", Verb: "type_text", By: "terminal",
			First: at, Asked: at, Changed: at.Add(time.Second)}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ledger.jsonl"), ledger.Journal(records), 0o600))
	return dir
}

// BenchmarkList opens for review and finds nothing, with 10,000 requests over.
func BenchmarkList(b *testing.B) {
	dir := ended(b, 10_000)
	for b.Loop() {
		inbox, err := review.Open(dir)
		require.NoError(b, err)
		cards, err := inbox.Pending(context.Background())
		require.NoError(b, err)
		require.Empty(b, cards)
	}
}

// BenchmarkAsk is one whole asked act: four writes.
func BenchmarkAsk(b *testing.B) {
	for _, n := range []int{0, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir, ctx := ended(b, n), context.Background()
			store, err := approval.Open(dir, nil)
			require.NoError(b, err)
			inbox, err := review.Open(dir)
			require.NoError(b, err)
			digest := strings.Repeat("12", 32)
			for b.Loop() {
				p, err := store.Request(ctx, approval.Ask{Digest: digest, Session: "s", Verb: "click", Target: `button "Save"`})
				require.NoError(b, err)
				require.NoError(b, inbox.Approve(ctx, p.ID, "terminal"))
				require.NoError(b, store.Consume(ctx, p.ID, digest, "s"))
				require.NoError(b, store.Finish(ctx, p.ID))
			}
		})
	}
}
