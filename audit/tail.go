package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

// A state is the end of a log as an append finds it.
type state struct {
	seq     uint64
	hash    string
	segment uint64
	size    int64 // of the segment, up to the end of entry seq
	slot    int   // of the head, to be written next
	torn    bool  // something half written stands behind size
}

// settled reports whether h says what st says.
func (st state) settled(h head) bool {
	return st.seq == h.seq && st.hash == h.hash && st.segment == h.segment && st.size == h.size && st.slot == 1-h.slot && !st.torn
}

// sized reports whether the log ends on the disk where st says.
func sized(dir string, st state) bool {
	if _, err := os.Lstat(segmentPath(dir, st.segment+1)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	info, err := os.Lstat(segmentPath(dir, st.segment))
	if errors.Is(err, fs.ErrNotExist) {
		return st.seq == 0
	}
	return err == nil && info.Size() == st.size
}

// segments returns the numbers of the segments in dir, in order.
func segments(dir string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []uint64
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), "audit-")
		digits, jsonl := strings.CutSuffix(name, ".jsonl")
		n, err := strconv.ParseUint(digits, 10, 64)
		if ok && jsonl && err == nil && e.Name() == filepath.Base(segmentPath(dir, n)) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// contiguous returns how many segments there are, from the first on.
func contiguous(dir string) (uint64, *Break, error) {
	list, err := segments(dir)
	if err != nil {
		return 0, nil, err
	}
	for i, n := range list {
		if want := uint64(i) + 1; n != want {
			return uint64(i), &Break{Reason: fmt.Sprintf("segment %d is missing", want)}, nil
		}
	}
	return uint64(len(list)), nil, nil
}

// load finds the end of the log, and checks what the head says of it. The
// caller holds the lock.
func load(dir string) (state, error) {
	h, err := readHead(dir)
	if err != nil {
		return state{}, err
	}
	n, gap, err := contiguous(dir)
	if err != nil {
		return state{}, err
	}
	if gap != nil {
		return state{}, gap
	}
	st := state{segment: h.segment, size: h.size, slot: 1 - h.slot}
	if n < h.segment && h.seq > 0 {
		return st, &Break{Index: h.seq, Reason: "its segment is missing"}
	}
	c := chain{seq: h.seq, hash: h.hash}
	for seg := h.segment; seg <= n; seg++ {
		var rest []byte
		if seg == h.segment {
			rest, err = headed(dir, h)
		} else {
			st.segment, st.size = seg, 0
			rest, err = window(dir, seg, 0)
		}
		if err != nil {
			return st, err
		}
		used, b := c.follow(rest, nil)
		st.size += int64(used)
		if st.torn = b == nil && used < len(rest); st.torn && seg < n {
			b = &Break{Index: c.seq + 1, Reason: "half an entry before the end of the log"}
		}
		if b != nil {
			return st, b
		}
	}
	st.seq, st.hash = c.seq, c.hash
	return st, nil
}

// headed checks the entry that the head names and returns what follows it in
// its segment.
func headed(dir string, h head) ([]byte, error) {
	from := max(0, h.size-maxLine)
	data, err := window(dir, h.segment, from)
	if err != nil {
		return nil, err
	}
	end := int(h.size - from)
	if end > len(data) {
		return nil, &Break{Index: h.seq, Reason: "cut short: the head says that it was written"}
	}
	if h.seq == 0 {
		return data[end:], nil
	}
	start := 0
	if end > 0 {
		start = bytes.LastIndexByte(data[:end-1], '\n') + 1
	}
	e, err := open(data[start:end])
	if err != nil {
		return nil, &Break{Index: h.seq, Reason: err.Error()}
	}
	if e.Seq != h.seq || e.Hash != h.hash {
		return nil, &Break{Index: h.seq, Reason: "not the entry that the head names"}
	}
	return data[end:], nil
}

// window reads segment n from offset from to its end.
func window(dir string, n uint64, from int64) ([]byte, error) {
	a, err := statefile.OpenAppend(segmentPath(dir, n))
	if err != nil {
		return nil, err
	}
	defer a.Close()
	size, err := a.Size()
	if err != nil {
		return nil, err
	}
	if size > maxSegment {
		return nil, &Break{Reason: fmt.Sprintf("segment %d is longer than any is written", n)}
	}
	data := make([]byte, max(0, size-from))
	if _, err := a.ReadAt(data, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data, nil
}

// A chain is how far a log has been followed.
type chain struct {
	seq  uint64
	hash string
}

// follow takes whole lines from data as long as each belongs behind the one
// before, and returns how many bytes that were. A half-written line at the end
// is left over. seen, where it is not nil, looks at each entry and how much was
// used with it.
func (c *chain) follow(data []byte, seen func(Entry, int) *Break) (used int, b *Break) {
	for used < len(data) {
		n := bytes.IndexByte(data[used:], '\n') + 1
		if n == 0 {
			return used, nil
		}
		line := data[used : used+n]
		e, err := open(line)
		switch {
		case err != nil && halfWritten(line) && used+n == len(data):
			return used, nil
		case err != nil:
			return used, &Break{Index: c.seq + 1, Reason: err.Error()}
		case e.Seq != c.seq+1:
			return used, &Break{Index: c.seq + 1, Reason: fmt.Sprintf("entry %d stands in its place", e.Seq)}
		case e.Prev != c.hash:
			return used, &Break{Index: e.Seq, Reason: fmt.Sprintf("does not follow entry %d", c.seq)}
		}
		used += n
		if seen != nil {
			if b := seen(e, used); b != nil {
				return used, b
			}
		}
		c.seq, c.hash = e.Seq, e.Hash
	}
	return used, nil
}

// halfWritten reports whether line, the last one there is, can be the start of
// an entry: it has no end, or zeros where a disk lost power.
func halfWritten(line []byte) bool {
	return !bytes.HasSuffix(line, []byte("\n")) || bytes.IndexByte(line, 0) >= 0
}
