package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

// A Report says what Verify found.
type Report struct {
	Entries int    // that belong, from the first on
	Broken  *Break // nil where all belong
	Torn    int    // bytes at the end of an append that never returned
}

// Verify follows the whole log in dir. An error means that it could not be
// read; a log that was changed is no error but Report.Broken. Entries that are
// appended meanwhile are left out.
func Verify(dir string) (Report, error) {
	var r Report
	s, err := settle(dir)
	if err != nil {
		return r, err
	}
	c := chain{hash: before}
	for seg := uint64(1); seg <= s.segments && r.Broken == nil; seg++ {
		data, err := s.read(dir, seg)
		if errors.Is(err, statefile.ErrTooLarge) {
			r.Broken = &Break{Index: c.seq + 1, Reason: fmt.Sprintf("segment %d is longer than any is written", seg)}
			break
		}
		if err != nil {
			return r, fmt.Errorf("audit: %w", err)
		}
		var used int
		used, r.Broken = c.follow(data, func(e Entry, used int) *Break { return s.head.misses(e, seg, used) })
		r.Torn = len(data) - used
		if r.Broken == nil && r.Torn > 0 && seg < s.segments {
			r.Broken = &Break{Index: c.seq + 1, Reason: "half an entry before the end of the log"}
		}
	}
	r.Entries = int(c.seq)
	if r.Broken == nil {
		r.Broken = s.end(c)
	}
	if r.Broken != nil {
		r.Torn = 0
	}
	return r, nil
}

// Tail returns the newest n entries, oldest first. Each has its hash, but only
// Verify knows that none was changed.
func Tail(dir string, n int) ([]Entry, error) {
	s, err := settle(dir)
	if err != nil {
		return nil, err
	}
	var out []Entry // newest first
	for seg := s.segments; seg > 0 && len(out) < n; seg-- {
		data, err := s.read(dir, seg)
		if err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
		for _, line := range slices.Backward(slices.Collect(bytes.Lines(data))) {
			if len(out) == n {
				break
			}
			if len(out) == 0 && halfWritten(line) {
				continue
			}
			e, err := open(line)
			if err != nil {
				return nil, fmt.Errorf("audit: segment %d, behind entry %d: %w", seg, len(out), err)
			}
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// settlement is a log between two appends.
type settlement struct {
	segments uint64
	size     int64 // of the last segment
	head     head
	missing  *Break // the head, or a segment after the last one
}

// settle takes the lock for the moment that it needs to see where the log ends,
// so that no half-written entry is in sight but one that nobody will finish. A
// folder in which no lock can be made, such as a copy on a read-only disk, is
// taken as it is.
func settle(dir string) (settlement, error) {
	var s settlement
	if _, err := segments(dir); err != nil {
		return s, fmt.Errorf("audit: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), openWait)
	defer cancel()
	lock, err := statefile.RLockContext(ctx, filepath.Join(dir, lockName))
	if err == nil {
		defer lock.Unlock()
	} else if ctx.Err() != nil {
		return s, fmt.Errorf("audit: take the lock: %w", err)
	}
	if s.head, err = readHead(dir); err != nil && !errors.As(err, &s.missing) {
		return s, fmt.Errorf("audit: %w", err)
	}
	var gap *Break
	if s.segments, gap, err = contiguous(dir); err != nil {
		return s, fmt.Errorf("audit: %w", err)
	}
	if gap != nil {
		s.missing = gap
	}
	if s.segments == 0 {
		return s, nil
	}
	info, err := os.Lstat(segmentPath(dir, s.segments))
	if err != nil {
		return s, fmt.Errorf("audit: %w", err)
	}
	s.size = info.Size()
	return s, nil
}

// read returns segment n as it was when s was made.
func (s settlement) read(dir string, n uint64) ([]byte, error) {
	data, err := statefile.Read(segmentPath(dir, n), 2*maxSegment)
	if err != nil {
		return nil, err
	}
	if n == s.segments {
		data = data[:min(int64(len(data)), s.size)]
	}
	if len(data) > maxSegment {
		return nil, statefile.ErrTooLarge
	}
	return data, nil
}

// misses compares the entry that the head names with the head.
func (h head) misses(e Entry, segment uint64, used int) *Break {
	if h.seq != e.Seq || h.hash == "" {
		return nil
	}
	if h.hash != e.Hash || h.segment != segment || h.size != int64(used) {
		return &Break{Index: e.Seq, Reason: "not the entry that the head names"}
	}
	return nil
}

// end finds what is missing behind the last entry.
func (s settlement) end(c chain) *Break {
	next := c.seq + 1
	switch {
	case s.missing != nil:
		return &Break{Index: next, Reason: s.missing.Reason}
	case c.seq < s.head.seq:
		return &Break{Index: next, Reason: fmt.Sprintf("cut short: the head names entry %d", s.head.seq)}
	}
	return nil
}
