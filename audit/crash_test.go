package audit_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/stretchr/testify/require"
)

// A process that is killed between the fsync of the log and the head leaves a
// head that is one entry behind.
func TestBX04KilledBeforeTheHead(t *testing.T) {
	for behind := 1; behind <= 3; behind++ {
		dir := written(t, 2)
		head, err := os.ReadFile(filepath.Join(dir, "head"))
		require.NoError(t, err)
		l, err := audit.Open(dir)
		require.NoError(t, err)
		for i := range behind {
			_, err = l.Append(context(), entry("s", 2+i))
			require.NoError(t, err)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "head"), head, 0o600))
		require.Equal(t, audit.Report{Entries: 2 + behind}, verify(t, dir))
		for _, open := range []func() (*audit.Log, error){
			func() (*audit.Log, error) { return l, nil },
			func() (*audit.Log, error) { return audit.Open(dir) },
		} {
			l, err := open()
			require.NoError(t, err)
			_, err = l.Append(context(), entry("s", 9))
			require.NoError(t, err)
		}
		require.Equal(t, audit.Report{Entries: 4 + behind}, verify(t, dir))
	}
}

// A process that is killed while it writes leaves half an entry, at any length.
func TestBX04KilledWithinAnEntry(t *testing.T) {
	dir := written(t, 2)
	head, err := os.ReadFile(filepath.Join(dir, "head"))
	require.NoError(t, err)
	whole, err := os.ReadFile(segment(dir))
	require.NoError(t, err)
	l, err := audit.Open(dir)
	require.NoError(t, err)
	_, err = l.Append(context(), entry("s", 2))
	require.NoError(t, err)
	longer, err := os.ReadFile(segment(dir))
	require.NoError(t, err)
	var tails [][]byte
	for n := len(whole) + 1; n < len(longer); n += 7 {
		tails = append(tails, longer[len(whole):n])
	}
	tails = append(tails,
		bytes.Repeat([]byte{0}, 4096),                         // space without content
		append(bytes.Repeat([]byte{0}, 100), "\"}\n"...),      // the first block lost
		append(bytes.Clone(longer[len(whole):]), "{\"seq"...), // one whole, one half
	)
	for _, tail := range tails {
		torn := len(tail)
		if i := bytes.LastIndexByte(tail, '\n'); i >= 0 && tail[0] != 0 {
			torn -= i + 1
		}
		require.NoError(t, os.WriteFile(segment(dir), append(bytes.Clone(whole), tail...), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "head"), head, 0o600))
		r := verify(t, dir)
		require.Nil(t, r.Broken)
		require.Equal(t, torn, r.Torn)
		_, err := audit.Tail(dir, 1)
		require.NoError(t, err)
		l, err := audit.Open(dir)
		require.NoError(t, err)
		seq, err := l.Append(context(), entry("s", 3))
		require.NoError(t, err)
		require.EqualValues(t, r.Entries+1, seq)
		require.Equal(t, audit.Report{Entries: r.Entries + 1}, verify(t, dir))
	}
}

// A new log that was killed before its first head, or after its first entry.
func TestBX04KilledAtTheStart(t *testing.T) {
	dir := written(t, 0)
	require.Equal(t, audit.Report{}, verify(t, dir))
	head, err := os.ReadFile(filepath.Join(dir, "head"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(segment(dir), nil, 0o600))
	require.Equal(t, audit.Report{}, verify(t, dir))
	l, err := audit.Open(dir)
	require.NoError(t, err)
	_, err = l.Append(context(), entry("s", 0))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "head"), head, 0o600))
	require.Equal(t, audit.Report{Entries: 1}, verify(t, dir))
	_, err = audit.Open(dir)
	require.NoError(t, err)
}

func TestBX04Processes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	const children, each = 4, 25
	var all sync.WaitGroup
	seen := make([][]int, children)
	for c := range children {
		cmd, out := spawn(t, dir, each)
		all.Go(func() {
			for out.Scan() {
				n, err := strconv.Atoi(out.Text())
				if err != nil {
					t.Errorf("child says %q", out.Text())
				}
				seen[c] = append(seen[c], n)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, audit.Report{Entries: children * each}, verify(t, dir))
	taken := map[int]bool{}
	for _, s := range seen {
		require.Len(t, s, each)
		require.IsIncreasing(t, s)
		for _, n := range s {
			require.False(t, taken[n], "entry %d was acknowledged twice", n)
			taken[n] = true
		}
	}
}

// Processes are killed at any moment; what was acknowledged is there, and the
// log goes on.
func TestBX04KillNine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	acknowledged := 0
	for round := range 12 {
		one, out := spawn(t, dir, 0)
		two, _ := spawn(t, dir, 0)
		var kill sync.WaitGroup
		begun := make(chan struct{})
		kill.Go(func() {
			if round%2 == 1 { // else it may not have begun
				<-begun
			}
			time.Sleep(time.Duration(20+round*9) * time.Millisecond)
			one.Process.Kill()
			two.Process.Kill()
		})
		first := sync.OnceFunc(func() { close(begun) })
		for out.Scan() {
			first()
			n, err := strconv.Atoi(out.Text())
			require.NoError(t, err)
			acknowledged = max(acknowledged, n)
		}
		first()
		kill.Wait()
		one.Wait()
		two.Wait()
		if acknowledged == 0 {
			continue // killed before it began
		}
		r := verify(t, dir)
		require.Nil(t, r.Broken)
		require.GreaterOrEqual(t, r.Entries, acknowledged)
		l, err := audit.Open(dir)
		require.NoError(t, err)
		seq, err := l.Append(context(), entry("after", round))
		require.NoError(t, err)
		acknowledged = int(seq)
	}
	require.Positive(t, acknowledged)
	require.Nil(t, verify(t, dir).Broken)
}
