package statefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// An Appender writes at the end of one file. It is for a single user at a time
// who holds a lock that every other writer of the file takes too; close it
// before that lock is given back where somebody may Replace the file.
type Appender struct {
	f *os.File
}

// OpenAppend opens the regular file at path for appending and creates it,
// durably and empty, where it is missing.
//
//	open(path, O_RDWR|O_CREAT|O_NOFOLLOW, 0600)
//	fsync(directory), when the file is empty
func OpenAppend(path string) (*Appender, error) {
	f, err := openRegular(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.Size() == 0 {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Appender{f: f}, nil
}

// Append writes all of b at the end and fsyncs. After an error part of b may
// be in the file: Append tries to take it away again, and whoever reads the
// file must find a torn tail all the same.
func (a *Appender) Append(b []byte) error {
	size, err := a.Size()
	if err != nil {
		return err
	}
	if _, err := a.f.WriteAt(b, size); err != nil {
		return errors.Join(err, a.f.Truncate(size))
	}
	return a.f.Sync()
}

// Size is the file's length now.
func (a *Appender) Size() (int64, error) {
	st, err := a.f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// ReadAt fills b from offset off, as [io.ReaderAt] does.
func (a *Appender) ReadAt(b []byte, off int64) (int, error) { return a.f.ReadAt(b, off) }

// Truncate cuts the file to n bytes, durably. It never makes a file longer.
func (a *Appender) Truncate(n int64) error {
	size, err := a.Size()
	if err != nil {
		return err
	}
	if n < 0 || n > size {
		return fmt.Errorf("truncate %s to %d bytes: it has %d", a.f.Name(), n, size)
	}
	if err := a.f.Truncate(n); err != nil {
		return err
	}
	return a.f.Sync()
}

// Close closes the file.
func (a *Appender) Close() error { return a.f.Close() }
