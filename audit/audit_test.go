package audit_test

import (
	"bytes"
	stdcontext "context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/stretchr/testify/require"
)

func context() stdcontext.Context { return stdcontext.Background() }

// written makes a log of n entries and returns its folder.
func written(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audit")
	l, err := audit.Open(dir)
	require.NoError(t, err)
	for i := range n {
		seq, err := l.Append(context(), entry("s", i))
		require.NoError(t, err)
		require.EqualValues(t, i+1, seq)
	}
	return dir
}

func segment(dir string) string { return filepath.Join(dir, "audit-000001.jsonl") }

func lines(t *testing.T, dir string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(segment(dir))
	require.NoError(t, err)
	return slices.Collect(bytes.Lines(data))
}

func verify(t *testing.T, dir string) audit.Report {
	t.Helper()
	r, err := audit.Verify(dir)
	require.NoError(t, err)
	return r
}

func TestPC24AppendAndTail(t *testing.T) {
	dir := written(t, 3)
	require.Equal(t, audit.Report{Entries: 3}, verify(t, dir))

	l, err := audit.Open(dir)
	require.NoError(t, err)
	when := time.Date(2026, 11, 30, 12, 0, 0, 5, time.FixedZone("", 3600))
	in := map[string]string{"label": "a\"b\\<c>\u2028\n", "bad": "x\xff"}
	seq, err := l.Append(context(), audit.Entry{Seq: 99, Hash: "x", Prev: "y", Time: when, Session: "s\xfe", Kind: audit.Outcome, Fields: in})
	require.NoError(t, err)
	require.EqualValues(t, 4, seq)
	require.Equal(t, "x\xff", in["bad"], "the caller's map is its own")

	all, err := audit.Tail(dir, 10)
	require.NoError(t, err)
	require.Len(t, all, 4)
	last := all[3]
	require.Equal(t, when.UTC(), last.Time)
	require.Equal(t, map[string]string{"label": "a\"b\\<c>\u2028\n", "bad": "x\ufffd"}, last.Fields)
	require.Equal(t, "s\ufffd", last.Session)
	require.Equal(t, all[2].Hash, last.Prev)
	require.Equal(t, strings.Repeat("0", 64), all[0].Prev)

	two, err := audit.Tail(dir, 2)
	require.NoError(t, err)
	require.Equal(t, all[2:], two)
	none, err := audit.Tail(dir, 0)
	require.NoError(t, err)
	require.Empty(t, none)
	require.Equal(t, audit.Report{Entries: 4}, verify(t, dir))
}

func TestPC24Refuses(t *testing.T) {
	dir := written(t, 1)
	l, err := audit.Open(dir)
	require.NoError(t, err)
	for _, kind := range []string{"", "Intent", "an intent", strings.Repeat("a", 33)} {
		_, err := l.Append(context(), audit.Entry{Kind: kind})
		require.ErrorContains(t, err, "kind")
	}
	_, err = l.Append(context(), audit.Entry{Kind: "intent", Fields: map[string]string{"x": strings.Repeat("x", 64<<10)}})
	require.ErrorContains(t, err, "longer than")
	_, err = l.Append(context(), audit.Entry{Kind: "intent", Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.Error(t, err)
	ctx, cancel := stdcontext.WithCancel(context())
	cancel()
	_, err = l.Append(ctx, entry("s", 0))
	require.ErrorIs(t, err, stdcontext.Canceled)
	require.Equal(t, audit.Report{Entries: 1}, verify(t, dir))

	_, err = audit.Verify(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = audit.Tail(filepath.Join(dir, "missing"), 1)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = audit.Open(segment(dir))
	require.ErrorContains(t, err, "not a directory")

	seq, err := l.Append(context(), entry("s", 1))
	require.NoError(t, err)
	require.EqualValues(t, 2, seq)
}

// A disk that takes no more is an error, and nothing was written.
func TestPC24CannotWrite(t *testing.T) {
	dir := written(t, 2)
	l, err := audit.Open(dir)
	require.NoError(t, err)
	require.NoError(t, os.Rename(segment(dir), segment(dir)+".away"))
	require.NoError(t, os.Mkdir(segment(dir), 0o700))
	_, err = l.Append(context(), entry("s", 2))
	require.Error(t, err)
	require.NoError(t, os.Remove(segment(dir)))
	require.NoError(t, os.Rename(segment(dir)+".away", segment(dir)))
	require.NoError(t, os.Rename(filepath.Join(dir, "head"), filepath.Join(dir, "h")))
	_, err = l.Append(context(), entry("s", 2))
	require.ErrorContains(t, err, "head is missing")
	require.NoError(t, os.Rename(filepath.Join(dir, "h"), filepath.Join(dir, "head")))
	require.Equal(t, audit.Report{Entries: 2}, verify(t, dir))
	_, err = l.Append(context(), entry("s", 2))
	require.NoError(t, err)
}

func TestBX04Segments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l, err := audit.Open(dir)
	require.NoError(t, err)
	big := strings.Repeat("x", 60<<10)
	const n = 150 // three segments
	for i := range n {
		e := entry("s", i)
		e.Fields["big"] = big
		_, err := l.Append(context(), e)
		require.NoError(t, err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	require.NoError(t, err)
	require.Len(t, names, 3)
	require.Equal(t, audit.Report{Entries: n}, verify(t, dir))
	all, err := audit.Tail(dir, n+1)
	require.NoError(t, err)
	require.Len(t, all, n)
	for i, e := range all {
		require.EqualValues(t, i+1, e.Seq)
	}

	first, err := os.ReadFile(names[0])
	require.NoError(t, err)
	perSegment := uint64(bytes.Count(first, []byte("\n")))
	for _, tt := range []struct {
		name  string
		gone  int
		index uint64
	}{{"first", 0, 1}, {"middle", 1, perSegment + 1}, {"last", 2, 2*perSegment + 1}} {
		t.Run("delete the "+tt.name+" segment", func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "audit")
			require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
			require.NoError(t, os.Chmod(copied, 0o700))
			require.NoError(t, os.Remove(filepath.Join(copied, filepath.Base(names[tt.gone]))))
			r := verify(t, copied)
			require.NotNil(t, r.Broken)
			require.Equal(t, tt.index, r.Broken.Index)
			require.Equal(t, int(tt.index-1), r.Entries)
			_, err := audit.Open(copied)
			require.ErrorContains(t, err, "missing")
		})
	}

	// Another Log that knows only the first entries goes on at the end.
	late, err := audit.Open(dir)
	require.NoError(t, err)
	seq, err := late.Append(context(), entry("late", 0))
	require.NoError(t, err)
	require.EqualValues(t, n+1, seq)
	seq, err = l.Append(context(), entry("s", n))
	require.NoError(t, err)
	require.EqualValues(t, n+2, seq)
	require.Equal(t, audit.Report{Entries: n + 2}, verify(t, dir))
}

func TestBX03Goroutines(t *testing.T) {
	dir := written(t, 0)
	var all sync.WaitGroup
	for g := range 4 {
		l, err := audit.Open(dir)
		require.NoError(t, err)
		for h := range 2 { // two on each Log
			all.Go(func() {
				for i := range 10 {
					if _, err := l.Append(context(), entry(fmt.Sprint(g, h), i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	require.Equal(t, audit.Report{Entries: 80}, verify(t, dir))
}

func TestPC24Digest(t *testing.T) {
	_, err := audit.NewDigest(make([]byte, 15))
	require.Error(t, err)
	key := bytes.Repeat([]byte{7}, 32)
	d, err := audit.NewDigest(key)
	require.NoError(t, err)
	sum := d.Sum("hunter2é")
	require.Regexp(t, `^8:[0-9a-f]{32}$`, sum)
	require.NotContains(t, sum, "hunter2")
	require.Equal(t, sum, d.Sum("hunter2é"))
	require.NotEqual(t, sum, d.Sum("hunter3é"))
	key[0]++ // the Digester keeps nothing of the caller's
	require.Equal(t, sum, d.Sum("hunter2é"))
	other, err := audit.NewDigest(key)
	require.NoError(t, err)
	require.NotEqual(t, sum, other.Sum("hunter2é"))
	require.Regexp(t, `^0:`, d.Sum(""))
}

func BenchmarkAppend(b *testing.B) {
	l, err := audit.Open(filepath.Join(b.TempDir(), "audit"))
	require.NoError(b, err)
	for i := 0; b.Loop(); i++ {
		if _, err := l.Append(context(), entry("session", i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "audit")
	l, err := audit.Open(dir)
	require.NoError(b, err)
	for i := range 2000 {
		_, err := l.Append(context(), entry("session", i))
		require.NoError(b, err)
	}
	for b.Loop() {
		if r, err := audit.Verify(dir); err != nil || r.Broken != nil {
			b.Fatal(r, err)
		}
	}
}
