// Package audit keeps what happened in a log that shows when it was changed
// afterwards: each entry carries the hash of the one before it.
//
// [Open] a log and [Log.Append] to it: an intent before the act and an outcome
// after it. [Verify] reads a whole log and finds the first entry that does not
// belong; it needs nothing but the folder. [Tail] reads the newest entries.
//
// # Guarantees
//
//   - When Append returns nil the entry is on the disk, in its place in the
//     chain, whatever other processes append meanwhile. When it returns an
//     error the caller must not act.
//   - An entry that was edited, deleted, moved or put in, and a log that was
//     cut short, is found at its index by Verify. Open and Append find a log
//     that was cut or edited at its end, and refuse to go on.
//   - A process killed at any moment, and a power failure, leave a log that
//     opens. What was half written at the end is dropped by the next Append;
//     no Append had returned for it.
//
// # Format
//
// Segments audit-000001.jsonl and on hold one JSON object a line and roll at
// 4 MiB. An entry's "hash", its last member, is the SHA-256 of the line up to
// the comma before it; its "prev" is the hash of the entry before, zeros for
// the first. The file head holds number and hash of the newest entry in two
// slots of 128 bytes, written in turn after the log: a log shorter than its
// head was cut, a longer one is read on from there.
//
// # Limits
//
// Nothing is signed. Whoever may write the folder, as the same user may, can
// rewrite log and head together or remove both, and that is not found.
//
// Callers put no text of hidden content into an entry, and typed text only as
// [Digester.Sum].
//
// # Concurrency
//
// A Log may be used by many goroutines, and a folder by many processes: appends
// take turns at the file lock. Verify and Tail hold it only for a moment.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

const (
	lockName = "lock"
	headName = "head"

	segmentSize = 4 << 20  // a segment that has reached it gets no more entries
	maxLine     = 64 << 10 // one entry, with its line break
	maxSegment  = segmentSize + maxLine
	lastSegment = 999_999

	openWait = 5 * time.Second // for the lock, where no context says how long
)

// A Break says where a log stops being the one that was written.
type Break struct {
	// Index is the number of the first entry that does not belong, or is missing;
	// 0 where Open or Append meets a log of which it cannot tell.
	Index  uint64
	Reason string
}

func (b *Break) Error() string {
	if b.Index == 0 {
		return "audit log broken: " + b.Reason
	}
	return fmt.Sprintf("audit log broken at entry %d: %s", b.Index, b.Reason)
}

// A Log appends to one folder.
type Log struct {
	dir  string
	turn chan struct{} // holds one token: goroutines here need not poll the lock
	last state         // as this Log left it; checked against the disk each time
}

// Open opens the log in dir and makes it where dir is missing or empty. The end
// of the log is checked; where it was changed the error is a *[Break], and the
// folder has to be moved away by a person before a new log can begin.
func Open(dir string) (*Log, error) {
	if err := statefile.EnsureDir(dir); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), openWait)
	defer cancel()
	lock, err := statefile.LockContext(ctx, filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("audit: take the lock: %w", err)
	}
	defer lock.Unlock()
	if err := begin(dir); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	st, err := load(dir)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	l := &Log{dir: dir, turn: make(chan struct{}, 1), last: st}
	l.turn <- struct{}{}
	return l, nil
}

// begin writes the head of a new log. A log without a head is not new.
func begin(dir string) error {
	segments, err := segments(dir)
	if err != nil {
		return err
	}
	if len(segments) > 0 {
		return nil
	}
	err = statefile.Create(filepath.Join(dir, headName), firstHead())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Append adds e at the end, durably, and returns its number. Seq, Prev and Hash
// are set here, Time too where it is zero. It waits for other writers until ctx
// is done; once it writes it finishes.
//
//	lock
//	read head, and the log's end where another process has written
//	write entry, fsync log
//	write head slot, fsync head
//	unlock
func (l *Log) Append(ctx context.Context, e Entry) (seq uint64, err error) {
	if err := e.check(); err != nil {
		return 0, fmt.Errorf("audit: %w", err)
	}
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
	case <-ctx.Done():
		return 0, fmt.Errorf("audit: %w", ctx.Err())
	}
	lock, err := statefile.LockContext(ctx, filepath.Join(l.dir, lockName))
	if err != nil {
		return 0, fmt.Errorf("audit: take the lock: %w", err)
	}
	defer lock.Unlock()
	if err := l.append(&e); err != nil {
		l.last = state{} // look at the disk next time
		return 0, fmt.Errorf("audit: %w", err)
	}
	return e.Seq, nil
}

func (l *Log) append(e *Entry) error {
	h, err := readHead(l.dir)
	if err != nil {
		return err
	}
	st := l.last
	if !st.settled(h) || !sized(l.dir, st) {
		if st, err = load(l.dir); err != nil {
			return err
		}
	}
	e.Seq, e.Prev = st.seq+1, st.hash
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC().Round(0)
	line, err := e.seal()
	if err != nil {
		return err
	}
	if st.torn {
		if err := clip(l.dir, st); err != nil {
			return err
		}
		st.torn = false
	}
	if st.size >= segmentSize {
		st.segment, st.size = st.segment+1, 0
	}
	if st.segment > lastSegment {
		return errors.New("the log is full")
	}
	if err := write(l.dir, st, line); err != nil {
		return err
	}
	st.seq, st.hash, st.size = e.Seq, e.Hash, st.size+int64(len(line))
	if err := st.writeHead(l.dir); err != nil {
		return err
	}
	st.slot = 1 - st.slot
	l.last = st
	return nil
}

// clip takes away what a killed process left behind the last entry.
func clip(dir string, st state) error {
	a, err := statefile.OpenAppend(segmentPath(dir, st.segment))
	if err != nil {
		return err
	}
	return errors.Join(a.Truncate(st.size), a.Close())
}

// write puts line at the end of st's segment.
func write(dir string, st state, line []byte) error {
	a, err := statefile.OpenAppend(segmentPath(dir, st.segment))
	if err != nil {
		return err
	}
	return errors.Join(a.Append(line), a.Close())
}

func segmentPath(dir string, n uint64) string {
	return filepath.Join(dir, fmt.Sprintf("audit-%06d.jsonl", n))
}

// printable keeps Kind a word that needs no quoting anywhere.
func printable(kind string) bool {
	return kind != "" && len(kind) <= 32 && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz_") == ""
}
