package audit_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/stretchr/testify/require"
)

// Each change of a log is found at its index.
func TestBX04Changes(t *testing.T) {
	const n = 6
	type change struct {
		name  string
		do    func(lines [][]byte) [][]byte
		index uint64
	}
	var changes []change
	add := func(name string, index uint64, do func([][]byte) [][]byte) {
		changes = append(changes, change{name, do, index})
	}
	for k := range n {
		i := uint64(k + 1)
		at := string(rune('1' + k))
		add("edit "+at, i, func(l [][]byte) [][]byte {
			l[k] = bytes.Replace(l[k], []byte("click"), []byte("xlick"), 1)
			return l
		})
		add("edit a hash "+at, i, func(l [][]byte) [][]byte {
			l[k][len(l[k])-10] ^= 1
			return l
		})
		add("spell it otherwise "+at, i, func(l [][]byte) [][]byte {
			l[k] = bytes.Replace(l[k], []byte(`,"kind"`), []byte(`, "kind"`), 1)
			return l
		})
		add("delete "+at, i, func(l [][]byte) [][]byte { return slices.Delete(l, k, k+1) })
		add("blank "+at, i, func(l [][]byte) [][]byte {
			l[k] = []byte("\n")
			return l
		})
		add("overwrite with zeros "+at, i, func(l [][]byte) [][]byte {
			l[k] = append(bytes.Repeat([]byte{0}, len(l[k])-1), '\n')
			return l
		})
		add("join with what follows "+at, i, func(l [][]byte) [][]byte {
			l[k] = bytes.TrimSuffix(l[k], []byte("\n"))
			return l
		})
		add("truncate to "+string(rune('0'+k)), i, func(l [][]byte) [][]byte { return l[:k] })
		add("truncate within "+at, i, func(l [][]byte) [][]byte {
			l[k] = l[k][:len(l[k])/2]
			return l[:k+1]
		})
		add("double "+at, i+1, func(l [][]byte) [][]byte { return slices.Insert(l, k+1, l[k]) })
		if k+1 < n {
			add("swap "+at, i, func(l [][]byte) [][]byte {
				l[k], l[k+1] = l[k+1], l[k]
				return l
			})
		}
	}
	add("reverse", 1, func(l [][]byte) [][]byte {
		slices.Reverse(l)
		return l
	})
	add("put in a line", 3, func(l [][]byte) [][]byte { return slices.Insert(l, 2, []byte("{}\n")) })
	add("put in before all", 1, func(l [][]byte) [][]byte { return slices.Insert(l, 0, []byte("hello\n")) })
	add("remove everything", 1, func([][]byte) [][]byte { return nil })
	add("replace by a shorter log", 2, func([][]byte) [][]byte { return lines(t, written(t, 1)) })

	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			dir := written(t, n)
			changed := bytes.Join(tt.do(slices.Clone(lines(t, dir))), nil)
			require.NoError(t, os.WriteFile(segment(dir), changed, 0o600))
			r := verify(t, dir)
			require.NotNil(t, r.Broken)
			require.Equal(t, tt.index, r.Broken.Index, r.Broken.Reason)
			require.Equal(t, int(tt.index)-1, r.Entries)
			require.NotEmpty(t, r.Broken.Reason)
		})
	}
}

// A log that is rewritten consistently is found by its head, as long as that is
// not rewritten too.
func TestBX04Rewritten(t *testing.T) {
	t.Run("whole", func(t *testing.T) {
		dir, other := written(t, 3), written(t, 3)
		require.NoError(t, os.WriteFile(segment(dir), bytes.Join(lines(t, other), nil), 0o600))
		r := verify(t, dir)
		require.NotNil(t, r.Broken)
		require.EqualValues(t, 3, r.Broken.Index)
		_, err := audit.Open(dir)
		var b *audit.Break
		require.ErrorAs(t, err, &b)
		require.EqualValues(t, 3, b.Index)
		require.ErrorContains(t, err, "broken at entry 3")
	})
	t.Run("longer, from another log", func(t *testing.T) {
		dir, other := written(t, 3), written(t, 5)
		require.NoError(t, os.WriteFile(segment(dir), bytes.Join(lines(t, other), nil), 0o600))
		require.NotNil(t, verify(t, dir).Broken)
	})
	t.Run("a break is refused by those who append", func(t *testing.T) {
		dir := written(t, 3)
		l, err := audit.Open(dir)
		require.NoError(t, err)
		data, err := os.ReadFile(segment(dir))
		require.NoError(t, err)
		require.NoError(t, os.Truncate(segment(dir), int64(len(data))-10))
		_, err = l.Append(context(), entry("s", 3))
		var b *audit.Break
		require.ErrorAs(t, err, &b)
		require.EqualValues(t, 3, b.Index)
		require.NoError(t, os.WriteFile(segment(dir), append(data, "forged\n"...), 0o600))
		_, err = l.Append(context(), entry("s", 3))
		require.ErrorAs(t, err, &b)
		require.EqualValues(t, 4, b.Index)
		require.NoError(t, os.WriteFile(segment(dir), data, 0o600))
		_, err = l.Append(context(), entry("s", 3))
		require.NoError(t, err)
	})
}

func TestBX04Head(t *testing.T) {
	tests := []struct {
		name  string
		do    func(t *testing.T, head string, data []byte)
		index uint64 // 0: not broken
	}{
		{"missing", func(t *testing.T, head string, _ []byte) { require.NoError(t, os.Remove(head)) }, 4},
		{"empty", func(t *testing.T, head string, _ []byte) { require.NoError(t, os.WriteFile(head, nil, 0o600)) }, 4},
		{"one slot torn", func(t *testing.T, head string, data []byte) {
			clear(data[128+40 : 256]) // entry 3 is in the second slot
			require.NoError(t, os.WriteFile(head, data, 0o600))
		}, 0},
		{"the other slot torn", func(t *testing.T, head string, data []byte) {
			clear(data[10:128])
			require.NoError(t, os.WriteFile(head, data, 0o600))
		}, 0},
		{"cut within the second slot", func(t *testing.T, head string, data []byte) {
			require.NoError(t, os.WriteFile(head, data[:200], 0o600))
		}, 0},
		{"both slots torn", func(t *testing.T, head string, data []byte) {
			data[20], data[150] = 'x', 'x'
			require.NoError(t, os.WriteFile(head, data, 0o600))
		}, 4},
		{"too long", func(t *testing.T, head string, data []byte) {
			require.NoError(t, os.WriteFile(head, append(data, ' '), 0o600))
		}, 4},
		{"of another log", func(t *testing.T, head string, _ []byte) {
			other, err := os.ReadFile(filepath.Join(written(t, 3), "head"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(head, other, 0o600))
		}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := written(t, 3)
			head := filepath.Join(dir, "head")
			data, err := os.ReadFile(head)
			require.NoError(t, err)
			require.Len(t, data, 256)
			tt.do(t, head, data)
			r := verify(t, dir)
			_, err = audit.Open(dir)
			if tt.index == 0 {
				require.Equal(t, audit.Report{Entries: 3}, r)
				require.NoError(t, err)
				return
			}
			require.NotNil(t, r.Broken)
			require.Equal(t, tt.index, r.Broken.Index)
			require.Error(t, err)
		})
	}
}

// Every single bit of the log counts.
func TestBX04EveryByte(t *testing.T) {
	dir := written(t, 3)
	data, err := os.ReadFile(segment(dir))
	require.NoError(t, err)
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		require.NoError(t, os.WriteFile(segment(dir), changed, 0o600))
		r := verify(t, dir)
		require.NotNil(t, r.Broken, "byte %d", i)
		require.EqualValues(t, 1+bytes.Count(data[:i], []byte("\n")), r.Broken.Index, "byte %d", i)
	}
}

// FuzzReader gives the reader any log and any head: it says what is wrong, and
// what it finds whole can be appended to.
func FuzzReader(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "audit")
	l, err := audit.Open(dir)
	require.NoError(f, err)
	for i := range 3 {
		head, err := os.ReadFile(filepath.Join(dir, "head"))
		require.NoError(f, err)
		log, _ := os.ReadFile(segment(dir))
		f.Add(log, head)
		_, err = l.Append(context(), entry("s", i))
		require.NoError(f, err)
		longer, err := os.ReadFile(segment(dir))
		require.NoError(f, err)
		f.Add(longer, head)
		f.Add(longer[:len(longer)-7], head)
	}
	f.Fuzz(func(t *testing.T, log, head []byte) {
		dir := filepath.Join(t.TempDir(), "audit")
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(segment(dir), log, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "head"), head, 0o600))
		r := verify(t, dir)
		_, err := audit.Tail(dir, 3)
		if r.Broken != nil {
			return
		}
		require.NoError(t, err)
		l, err := audit.Open(dir)
		require.NoError(t, err)
		seq, err := l.Append(context(), entry("s", 9))
		require.NoError(t, err)
		require.EqualValues(t, r.Entries+1, seq)
		require.Equal(t, audit.Report{Entries: r.Entries + 1}, verify(t, dir))
	})
}
