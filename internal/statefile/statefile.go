// Package statefile is the one door to disk. Everything this module keeps
// (rules, pauses, ledgers, the audit) is written through it, so that whole old
// content or whole new content is found after any failure, and never a mixture.
//
// Use [Read] and [Replace] for small documents, [Create] for a file that must
// not exist yet, [OpenAppend] for logs, [WriteAt] for the slots of a head, and
// the locks of lock.go round everything that reads, changes and writes back.
//
// # Guarantees
//
//   - Replace and Create are atomic: a reader, and a machine that starts again
//     after losing power, finds the file as it was before or as it is after.
//   - When one of them returns nil the content and its name are on the disk
//     (ReplaceOptions.NoSync gives up this one).
//   - New files have mode 0600. Nothing here follows a symbolic link in the
//     last element of a path, and only regular files are read or written.
//   - An error means refused: nothing is retried for ever. On Windows a rename
//     or an open that another process blocks for a moment (a virus scanner, an
//     indexer) is tried again for half a second, and at least thirty times, then
//     it fails.
//
// # Limits
//
//   - A Replace whose last step, the fsync of the directory, fails returns an
//     error though the new content may be there.
//   - A process killed between two steps can leave a temporary file beside the
//     target: its name is "." and the target's name and a number.
//   - Create needs hard links, which every usual file system but FAT has.
//   - Windows has no fsync of a directory; the move is written through instead.
//   - Modes and owners are not checked on single files. [EnsureDir] checks the
//     directory, which is what keeps other users out.
//
// # Concurrency
//
// Functions may be called from any goroutine and process. Two writers of one
// file do not tear it, but the last one wins: hold a lock where that matters.
// Locks are always files of their own, since Windows keeps readers away from a
// locked file.
package statefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotRegular is what Read, OpenAppend and WriteAt wrap when the path names
// a directory, a symbolic link, a pipe or a device.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is what Read wraps when the file holds more than was allowed.
var ErrTooLarge = errors.New("larger than allowed")

const mode fs.FileMode = 0o600

// ReplaceOptions changes how Replace writes. Nil is the zero value.
type ReplaceOptions struct {
	// NoSync leaves out both fsyncs: still atomic for every reader, but a power
	// failure may bring back the old content or none. For caches only.
	NoSync bool
}

// Read returns the content of the regular file at path, which may be at most
// max bytes long. A missing file is [fs.ErrNotExist].
//
//	open(path, O_RDONLY|O_NOFOLLOW|O_NONBLOCK)
//	fstat, read, close
func Read(path string, max int64) ([]byte, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > max {
		return nil, tooLarge(path, max)
	}
	// The size is a hint: a log grows while it is read.
	data := make([]byte, 0, st.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if int64(len(data)) > max {
			return nil, tooLarge(path, max)
		}
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// Replace puts data at path in one step, whether or not a file is there.
// A symbolic link at path is replaced, not followed.
//
//	open(temp in the same directory, O_CREAT|O_EXCL, 0600)
//	write, fsync, close
//	rename(temp, path)
//	fsync(directory)
func Replace(path string, data []byte, opts *ReplaceOptions) error {
	if opts == nil {
		opts = &ReplaceOptions{}
	}
	if err := replace(path, data, !opts.NoSync); err != nil {
		return err
	}
	if opts.NoSync {
		return nil
	}
	return syncDir(filepath.Dir(path))
}

// Create puts data at path if nothing is there, else it returns an error that
// is [fs.ErrExist]. Of several creators exactly one wins, and nobody sees the
// file before all of it is there.
//
//	open(temp in the same directory, O_CREAT|O_EXCL, 0600)
//	write, fsync
//	link(temp, path), unlink(temp)
//	fsync(directory)
func Create(path string, data []byte) error {
	if err := create(path, data); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Remove deletes the file at path, durably. A missing file is [fs.ErrNotExist].
func Remove(path string) error {
	if err := remove(path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// WriteAt writes b at offset off of the existing regular file at path, in
// place, and fsyncs it. It is not atomic: use it for one of several slots that
// carry a checksum of their own.
func WriteAt(path string, off int64, b []byte) error {
	f, err := openRegular(path, os.O_RDWR)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, off)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// openRegular opens path without following a link in its last element and
// refuses everything but a regular file.
func openRegular(path string, flag int) (*os.File, error) {
	f, err := open(path, flag)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func tooLarge(path string, max int64) error {
	return fmt.Errorf("read %s: %w (%d bytes)", path, ErrTooLarge, max)
}
