// Package ledger is the one file that the agent's half and the person's half
// of approval share. It knows how a request may move and how that is kept on
// disk; who may move it, and when, is said in approval and approval/review.
//
// The file is approvals/ledger.jsonl: an append-only journal of steps, one
// JSON object a line, each with a checksum, beside ledger.lock. See README.md
// in package approval for the life of a request.
//
// # Guarantees
//
//   - A step is whole on the disk or not there, after a crash at any moment.
//   - A step that takes a request out of pending and granted replaces the
//     file, so that what the request held in clear leaves it in that step.
//   - Anything but what this package writes is refused, with line and byte;
//     the only exception is a last line without its line feed, which is what
//     a killed append leaves. It is cut off, under the lock.
//
// # Limits
//
//   - Checksums find accidents. Another process of the same user can write
//     any ledger it likes.
//   - Blocks of a replaced file may be found on the raw disk.
//
// # Concurrency
//
// Any number of processes and goroutines. Update holds the lock while it runs;
// View takes no lock.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

var (
	// ErrUnknown is a request that is not there.
	ErrUnknown = errors.New("approval: unknown request")
	// ErrInvalid is wrapped when an ask lacks what every ask must have.
	ErrInvalid = errors.New("approval: invalid ask")
	// ErrTooLarge is an ask longer than MaxRecord.
	ErrTooLarge = errors.New("approval: the ask is too large to be judged by a person")
	// ErrBusy is wrapped when another process held the lock for too long.
	ErrBusy = errors.New("approval: the ledger is held by another process")
)

const (
	fileName = "ledger.jsonl"
	lockName = "ledger.lock"
	// maxFile is far above 64 questions of the largest size and all that is
	// remembered.
	maxFile = 64 << 20
	// compactAt is the size from which an append may rewrite the file instead.
	compactAt = 1 << 20
	// patience is how long to wait for the lock, which is held for one write.
	patience = 5 * time.Second
)

// testOnlyPoint is called at each point where a process can die between two
// steps on the disk, with the file and what is about to be written or was.
var testOnlyPoint = func(point, path string, b []byte) {}

// A Ledger is the journal in one directory.
type Ledger struct {
	Clock Clock
	dir   string
}

// New names the ledger in dir and touches nothing.
func New(dir string, c Clock) (*Ledger, error) {
	if dir == "" {
		return nil, errors.New("approval: no directory for the ledger")
	}
	return &Ledger{Clock: c, dir: dir}, nil
}

// Path is the journal's file.
func (l *Ledger) Path() string { return filepath.Join(l.dir, fileName) }

// View reads the ledger without a lock and without writing. Records that the
// clock has ended are shown as ended; due says that there are such, so that
// an Update would take them off the disk.
func (l *Ledger) View(ctx context.Context) (b *Book, due bool, err error) {
	b, _, err = l.load()
	if err != nil {
		// If it is not a writer at work, it is as bad under the lock.
		err = l.locked(ctx, func() error {
			b, _, err = l.load()
			return err
		})
	}
	if err != nil {
		return nil, false, err
	}
	b.sweep()
	return b, b.rewrite, nil
}

// A Version says cheaply whether the file may have changed. Two equal ones are
// no proof that it has not: look all the same from time to time.
type Version struct {
	size, modified int64
}

// Version is the file's version now; the zero Version where there is no file.
func (l *Ledger) Version() Version {
	st, err := os.Lstat(l.Path())
	if err != nil {
		return Version{}
	}
	return Version{size: st.Size(), modified: st.ModTime().UnixNano()}
}

// Exists reports whether anything was ever asked here.
func (l *Ledger) Exists() bool { return l.Version() != Version{} }

// Update runs f on the ledger under its lock and writes what f changed, also
// when f returns an error. What the clock ended is ended first.
func (l *Ledger) Update(ctx context.Context, f func(*Book) error) error {
	if err := statefile.EnsureDir(l.dir); err != nil {
		return err
	}
	return l.locked(ctx, func() error {
		if err := l.tidy(); err != nil {
			return err
		}
		b, size, err := l.load()
		if err != nil {
			return err
		}
		b.sweep()
		refused := f(b)
		return errors.Join(refused, l.commit(b, size))
	})
}

// locked runs f under the lock, which it waits for as long as ctx and patience
// allow.
func (l *Ledger) locked(ctx context.Context, f func() error) (err error) {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock, err := statefile.LockContext(short, filepath.Join(l.dir, lockName))
	if err != nil {
		if ctx.Err() == nil && short.Err() != nil {
			return fmt.Errorf("%w (%s)", ErrBusy, l.Path())
		}
		return err
	}
	testOnlyPoint("locked", l.Path(), nil)
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return f()
}

// load reads the journal as it is and says how much of it is whole lines. No
// file is an empty ledger.
func (l *Ledger) load() (*Book, int, error) {
	b := &Book{Now: l.Clock.now()}
	data, err := statefile.Read(l.Path(), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return b, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	records, size, err := parse(l.Path(), data)
	b.records = records
	return b, size, err
}

// commit writes what b collected: nothing, a few lines at the end, or a new
// file.
func (l *Ledger) commit(b *Book, size int) error {
	if !b.rewrite && len(b.written) == 0 {
		return nil
	}
	if b.rewrite || size == 0 {
		return l.replace(b)
	}
	if size+len(b.written) > compactAt {
		b.forget()
		if whole := len(b.encode()); 2*whole < size {
			return l.replace(b)
		}
	}
	return l.append(b.written, size)
}

// replace puts the shortest form of b in the file's place.
func (l *Ledger) replace(b *Book) error {
	b.forget()
	data := b.encode()
	testOnlyPoint("replace", l.Path(), data)
	if err := statefile.Replace(l.Path(), data, nil); err != nil {
		return err
	}
	testOnlyPoint("replaced", l.Path(), data)
	return nil
}

// append writes whole lines behind the first size bytes, which are whole lines
// too. What a killed append left there is cut off. After an error nothing of
// the new lines stays, if the disk lets us: a yes that was reported as failed
// must not be found later.
func (l *Ledger) append(b []byte, size int) (err error) {
	a, err := statefile.OpenAppend(l.Path())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if n, err := a.Size(); err != nil || n != int64(size) {
		if err := a.Truncate(int64(size)); err != nil {
			return err
		}
	}
	testOnlyPoint("append", l.Path(), b)
	if err := a.Append(b); err != nil {
		return errors.Join(err, a.Truncate(int64(size)))
	}
	testOnlyPoint("appended", l.Path(), b)
	return nil
}

// tidy removes the temporary file of a process that was killed in replace: it
// holds questions in clear. Only the holder of the lock makes any, so what is
// here is nobody's.
func (l *Ledger) tidy() error {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+fileName) {
			err = errors.Join(err, statefile.Remove(filepath.Join(l.dir, e.Name())))
		}
	}
	return err
}
