package ledger_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
)

// obstacle puts a directory that cannot be removed or replaced at path.
func obstacle(t testing.TB, path string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, os.MkdirAll(filepath.Join(path, "full"), 0o700))
}

// Each failure of the disk is an error, and nothing that was there is lost.
func TestPC25Faults(t *testing.T) {
	appends := func(b *ledger.Book) error {
		return b.Move(b.Records()[0].ID, ledger.Granted, ledger.Change{By: "me"})
	}
	replaces := func(b *ledger.Book) error { return b.Move(b.Records()[0].ID, ledger.Denied, ledger.Change{}) }
	for _, tt := range []struct {
		name string
		// before breaks something before the lock is taken, within while it is held.
		before, within func(t *testing.T, l *ledger.Ledger)
		f              func(*ledger.Book) error
	}{
		{name: "directory is a file", f: appends, before: func(t *testing.T, l *ledger.Ledger) {
			require.NoError(t, os.RemoveAll(filepath.Dir(l.Path())))
			require.NoError(t, os.WriteFile(filepath.Dir(l.Path()), nil, 0o600))
		}},
		{name: "lock is a directory", f: appends, before: func(t *testing.T, l *ledger.Ledger) {
			obstacle(t, filepath.Join(filepath.Dir(l.Path()), "ledger.lock"))
		}},
		{name: "ledger is a directory", f: appends, before: func(t *testing.T, l *ledger.Ledger) { obstacle(t, l.Path()) }},
		{name: "append to a directory", f: appends, within: func(t *testing.T, l *ledger.Ledger) { obstacle(t, l.Path()) }},
		{name: "append to a shorter file", f: appends, within: func(t *testing.T, l *ledger.Ledger) {
			require.NoError(t, os.Truncate(l.Path(), 10))
		}},
		{name: "replace a directory", f: replaces, within: func(t *testing.T, l *ledger.Ledger) { obstacle(t, l.Path()) }},
		{name: "old temporary cannot go", f: replaces, before: func(t *testing.T, l *ledger.Ledger) {
			obstacle(t, filepath.Join(filepath.Dir(l.Path()), ".ledger.jsonl123"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, _ := fresh(t)
			ask(t, l)
			if tt.before != nil {
				tt.before(t, l)
			}
			require.Error(t, l.Update(context.Background(), func(b *ledger.Book) error {
				err := tt.f(b)
				if tt.within != nil {
					tt.within(t, l)
				}
				return err
			}))
		})
	}
}

// A ledger that is not whole refuses everything, says where, and is left as it
// is.
func TestPC25CorruptRefusesAll(t *testing.T) {
	l, _ := fresh(t)
	r := ask(t, l)
	data, err := os.ReadFile(l.Path())
	require.NoError(t, err)
	bad := bytes.Replace(data, []byte("canary 4711"), []byte("canary 4712"), 1)
	require.NoError(t, os.WriteFile(l.Path(), bad, 0o600))
	var corrupt *ledger.CorruptError
	_, _, err = l.View(context.Background())
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, l.Path(), corrupt.Path)
	require.Equal(t, 2, corrupt.Line)
	require.ErrorAs(t, move(l, r.ID, ledger.Denied, ledger.Change{}), &corrupt)
	left, err := os.ReadFile(l.Path())
	require.NoError(t, err)
	require.Equal(t, bad, left)
}

// A killed append is cut off, and only under the lock: looking changes nothing.
func TestPC25TornTailIsCut(t *testing.T) {
	l, _ := fresh(t)
	r := ask(t, l)
	whole, err := os.ReadFile(l.Path())
	require.NoError(t, err)
	torn := append(bytes.Clone(whole), `{"sum":"00000000","mark":{"id":"`...)
	require.NoError(t, os.WriteFile(l.Path(), torn, 0o600))
	require.Equal(t, ledger.Pending, find(t, l, r.ID).State)
	left, err := os.ReadFile(l.Path())
	require.NoError(t, err)
	require.Equal(t, torn, left)
	require.NoError(t, move(l, r.ID, ledger.Granted, ledger.Change{By: "me"}))
	left, err = os.ReadFile(l.Path())
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(left, whole))
	require.NotContains(t, string(left), "00000000")
	require.Equal(t, ledger.Granted, find(t, l, r.ID).State)
}
