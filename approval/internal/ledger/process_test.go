package ledger_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
	"github.com/permission-canvas/permission-canvas/approval/review"
)

// Ten processes want one grant, again and again: exactly one gets it.
func TestPC19TenProcessesOneGrant(t *testing.T) {
	const racers = 10
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "approvals")
	store, err := approval.Open(dir, nil)
	require.NoError(t, err)
	inbox, err := review.Open(dir)
	require.NoError(t, err)

	var in []io.Writer
	var out []*bufio.Scanner
	for range racers {
		cmd := child("racer", dir)
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { stdin.Close(); cmd.Wait() })
		in, out = append(in, stdin), append(out, bufio.NewScanner(stdout))
	}
	for range rounds {
		p, err := store.Request(ctx, approval.Ask{Digest: digest, Session: "s", Verb: "click"})
		require.NoError(t, err)
		require.NoError(t, inbox.Approve(ctx, p.ID, "me"))
		for _, w := range in {
			fmt.Fprintln(w, p.ID)
		}
		got := map[string]int{}
		for _, r := range out {
			require.True(t, r.Scan())
			got[r.Text()]++
		}
		require.Equal(t, map[string]int{"won": 1, "spent": racers - 1}, got)
		require.NoError(t, store.Finish(ctx, p.ID))
	}
}

// kill -9 at each point of a whole life, with nothing and with half of the
// write on the disk: the ledger opens, the request is where it may be, and the
// act happens at most once (public report 48).
func TestPC19KilledAnywhere(t *testing.T) {
	all, err := child("mortal", filepath.Join(t.TempDir(), "approvals"), childPoint+"=0").Output()
	require.NoError(t, err)
	points, err := strconv.Atoi(strings.TrimSpace(string(all)))
	require.NoError(t, err)
	require.Greater(t, points, 12)
	reached := map[ledger.State]bool{}
	for _, how := range []string{"", "torn"} {
		for n := 1; n <= points; n++ {
			t.Run(fmt.Sprintf("point %d%s", n, how), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "approvals")
				require.Error(t, child("mortal", dir, fmt.Sprint(childPoint, "=", n), childHow+"="+how).Run())
				reached[aftermath(t, dir)] = true
			})
		}
	}
	require.Equal(t, map[ledger.State]bool{"": true, ledger.Pending: true, ledger.Granted: true,
		ledger.Executing: true, ledger.Consumed: true}, reached)
}

// kill -9 at any moment, whatever the process is doing.
func TestPC19KilledAnytime(t *testing.T) {
	rounds := 15
	if testing.Short() {
		rounds = 3
	}
	for n := range rounds {
		dir := filepath.Join(t.TempDir(), "approvals")
		cmd := child("mortal", dir, childPoint+"=0")
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(n*3) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		aftermath(t, dir)
	}
}

// aftermath opens what a killed process left, goes on as its host would, and
// returns the state that it found.
func aftermath(t *testing.T, dir string) ledger.State {
	t.Helper()
	ctx := context.Background()
	store, err := approval.Open(dir, nil)
	require.NoError(t, err)
	inbox, err := review.Open(dir)
	require.NoError(t, err)
	l, err := ledger.New(dir, ledger.System())
	require.NoError(t, err)
	b, _, err := l.View(ctx)
	require.NoError(t, err)
	require.LessOrEqual(t, len(b.Records()), 1)

	var found ledger.Record
	if len(b.Records()) == 1 {
		found = b.Records()[0]
	}
	switch found.State {
	case ledger.Executing, ledger.Consumed:
		require.ErrorIs(t, store.Consume(ctx, found.ID, digest, "mortal"), approval.ErrSpent)
		var answered *review.AnsweredError
		require.ErrorAs(t, inbox.Approve(ctx, found.ID, "me"), &answered)
		require.Equal(t, review.AnsweredError{ID: found.ID, State: found.State, By: "me"}, *answered)
	case "", ledger.Pending, ledger.Granted:
	default:
		require.Fail(t, "a state that cannot be", found.State)
	}
	// The host starts again and asks the same; it acts only if it is let.
	p, err := store.Request(ctx, approval.Ask{Digest: digest, Session: "mortal", Verb: "type_text", Arguments: canary})
	require.NoError(t, err)
	if err := store.Consume(ctx, p.ID, digest, "mortal"); err == nil {
		require.Equal(t, ledger.Granted, found.State)
		require.NoError(t, act(dir))
	}
	effects, err := os.ReadFile(dir + ".effects")
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	require.LessOrEqual(t, len(effects), 1)

	require.NoError(t, store.ClearAll(ctx, "over"))
	noTrace(t, dir)
	return found.State
}

// noTrace holds that no byte of what was asked is left in the directory.
func noTrace(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.Contains(t, []string{"ledger.jsonl", "ledger.lock"}, e.Name())
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		require.False(t, bytes.Contains(data, []byte("canary")), e.Name())
	}
}
