package statefile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/stretchr/testify/require"
)

// only fails if dir holds anything but the named files: nothing temporary is
// left behind.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	have := []string{}
	for _, e := range entries {
		have = append(have, e.Name())
	}
	require.ElementsMatch(t, names, have)
}

func TestPC25Replace(t *testing.T) {
	for _, opts := range []*statefile.ReplaceOptions{nil, {}, {NoSync: true}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "policy.json")
		for _, text := range []string{"one", "", strings.Repeat("two", 100_000)} {
			require.NoError(t, statefile.Replace(path, []byte(text), opts))
			got, err := statefile.Read(path, 1<<20)
			require.NoError(t, err)
			require.Equal(t, text, string(got))
			only(t, dir, "policy.json")
		}
		private(t, path)

		missing := filepath.Join(dir, "no", "policy.json")
		require.ErrorIs(t, statefile.Replace(missing, nil, opts), fs.ErrNotExist)
		taken := filepath.Join(dir, "taken")
		require.NoError(t, os.MkdirAll(filepath.Join(taken, "x"), 0o700))
		require.Error(t, statefile.Replace(taken, []byte("x"), opts))
		only(t, dir, "policy.json", "taken")
	}
}

// A reader never sees anything but one of the whole contents.
func TestPC25ReadersSeeWholeContents(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	texts := [][]byte{bytes.Repeat([]byte("a"), 200_000), bytes.Repeat([]byte("b"), 70_000), []byte("c")}
	require.NoError(t, statefile.Replace(path, texts[2], nil))
	var done atomic.Bool
	var writers, readers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := range 60 {
				if err := statefile.Replace(path, texts[(w+i)%3], &statefile.ReplaceOptions{NoSync: i%2 == 0}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				start := time.Now()
				got, err := statefile.Read(path, 1<<20)
				// Windows replaces no file that is open: leave it alone for most
				// of the time, however slow the machine is.
				time.Sleep(max(2*time.Millisecond, 9*time.Since(start)))
				if err != nil || !bytes.Equal(got, texts[0]) && !bytes.Equal(got, texts[1]) && !bytes.Equal(got, texts[2]) {
					t.Errorf("%d bytes, %v", len(got), err)
					return
				}
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
	only(t, dir, "state")
}

func TestPC25Read(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	_, err := statefile.Read(path, 10)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("0123456789"), 0o600))
	got, err := statefile.Read(path, 10)
	require.NoError(t, err)
	require.Equal(t, "0123456789", string(got))
	_, err = statefile.Read(path, 9)
	require.ErrorIs(t, err, statefile.ErrTooLarge)
	_, err = statefile.Read(dir, 10)
	require.ErrorIs(t, err, statefile.ErrNotRegular)
}

func TestPC25Create(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	require.NoError(t, statefile.Create(path, []byte("first")))
	require.ErrorIs(t, statefile.Create(path, []byte("second")), fs.ErrExist)
	got, err := statefile.Read(path, 10)
	require.NoError(t, err)
	require.Equal(t, "first", string(got))
	private(t, path)
	only(t, dir, "key")
	require.ErrorIs(t, statefile.Create(filepath.Join(dir, "no", "key"), nil), fs.ErrNotExist)
	require.ErrorIs(t, statefile.Create(dir, nil), fs.ErrExist)
}

func TestPC25CreateHasOneWinner(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	var won atomic.Int32
	var winner atomic.Value
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			text := fmt.Sprint(i)
			switch err := statefile.Create(path, []byte(text)); {
			case err == nil:
				won.Add(1)
				winner.Store(text)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, won.Load())
	got, err := statefile.Read(path, 10)
	require.NoError(t, err)
	require.Equal(t, winner.Load(), string(got))
	only(t, dir, "key")
}

func TestPC25RemoveAndWriteAt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "head")
	require.ErrorIs(t, statefile.WriteAt(path, 0, []byte("x")), fs.ErrNotExist)
	require.ErrorIs(t, statefile.WriteAt(dir, 0, []byte("x")), statefile.ErrNotRegular)
	require.NoError(t, statefile.Create(path, []byte("0123456789")))
	require.NoError(t, statefile.WriteAt(path, 4, []byte("xy")))
	require.Error(t, statefile.WriteAt(path, -1, []byte("xy")))
	got, err := statefile.Read(path, 10)
	require.NoError(t, err)
	require.Equal(t, "0123xy6789", string(got))
	require.NoError(t, statefile.Remove(path))
	require.ErrorIs(t, statefile.Remove(path), fs.ErrNotExist)
	only(t, dir)
}

func TestPC25Appender(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	a, err := statefile.OpenAppend(path)
	require.NoError(t, err)
	private(t, path)
	require.NoError(t, a.Append([]byte("one\n")))
	require.NoError(t, a.Append(nil))

	b, err := statefile.OpenAppend(path) // as another process would
	require.NoError(t, err)
	require.NoError(t, b.Append([]byte("two\n")))
	require.NoError(t, b.Close())
	require.NoError(t, a.Append([]byte("three\n")))
	size, err := a.Size()
	require.NoError(t, err)
	require.EqualValues(t, 14, size)
	part := make([]byte, 4)
	n, err := a.ReadAt(part, 4)
	require.NoError(t, err)
	require.Equal(t, "two\n", string(part[:n]))

	require.ErrorContains(t, a.Truncate(15), "it has 14")
	require.Error(t, a.Truncate(-1))
	require.NoError(t, a.Truncate(8))
	require.NoError(t, a.Append([]byte("four\n")))
	require.NoError(t, a.Close())
	require.Error(t, a.Append([]byte("five\n")))
	require.Error(t, a.Truncate(0))
	_, err = a.Size()
	require.Error(t, err)
	got, err := statefile.Read(path, 100)
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\nfour\n", string(got))

	_, err = statefile.OpenAppend(dir)
	require.ErrorIs(t, err, statefile.ErrNotRegular)
	_, err = statefile.OpenAppend(filepath.Join(dir, "no", "log"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestPC25EnsureDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	require.NoError(t, statefile.EnsureDir(dir))
	require.NoError(t, statefile.EnsureDir(dir))
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorContains(t, statefile.EnsureDir(file), "not a directory")
	require.Error(t, statefile.EnsureDir(filepath.Join(file, "below")))
}

func BenchmarkReplace(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state")
	data := bytes.Repeat([]byte("x"), 4096)
	for b.Loop() {
		if err := statefile.Replace(path, data, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	a, err := statefile.OpenAppend(filepath.Join(b.TempDir(), "log"))
	require.NoError(b, err)
	defer a.Close()
	data := bytes.Repeat([]byte("x"), 300)
	for b.Loop() {
		if err := a.Append(data); err != nil {
			b.Fatal(err)
		}
	}
}
