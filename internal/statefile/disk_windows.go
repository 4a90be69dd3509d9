package statefile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// patience is how long a file that another process holds for a moment is tried
// again, pace how often, and tries how many times at least: on a machine under
// load the time may pass within one of them.
const (
	patience = 500 * time.Millisecond
	pace     = 5 * time.Millisecond
	tries    = 30
)

// blocked reports whether err is what Windows says while a scanner, an indexer
// or a reader without delete sharing has the file open.
func blocked(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.Is(err, windows.ERROR_LOCK_VIOLATION) ||
		errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

// again runs f until it does something else than being blocked, or patience
// is over. The jitter keeps it out of step with who reads at a pace of its own.
func again(f func() error) error {
	deadline := time.Now().Add(patience)
	for n := 1; ; n++ {
		err := f()
		if err == nil || !blocked(err) || n >= tries && !time.Now().Before(deadline) {
			return err
		}
		time.Sleep(pace/2 + rand.N(pace))
	}
}

// open shares the file for deletion, which os.OpenFile does not, so that a
// reader stands in the way of a Replace as little as Windows allows.
func open(path string, flag int) (*os.File, error) {
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	access, disposition := uint32(windows.GENERIC_READ), uint32(windows.OPEN_EXISTING)
	if flag&os.O_RDWR != 0 {
		access |= windows.GENERIC_WRITE
	}
	if flag&os.O_CREATE != 0 {
		disposition = windows.OPEN_ALWAYS
	}
	var h windows.Handle
	err = again(func() (err error) {
		h, err = windows.CreateFile(name, access,
			windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
			disposition, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// pending writes data to a fresh file beside path and closes it, since an open
// file cannot be moved.
func pending(path string, data []byte, durable bool) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

func move(from, to string, flags uint32) error {
	old, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	name, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	err = again(func() error { return windows.MoveFileEx(old, name, flags) })
	if err != nil {
		os.Remove(from)
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func replace(path string, data []byte, durable bool) error {
	temp, err := pending(path, data, durable)
	if err != nil {
		return err
	}
	flags := uint32(windows.MOVEFILE_REPLACE_EXISTING)
	if durable {
		flags |= windows.MOVEFILE_WRITE_THROUGH
	}
	return move(temp, path, flags)
}

func create(path string, data []byte) error {
	temp, err := pending(path, data, true)
	if err != nil {
		return err
	}
	return move(temp, path, windows.MOVEFILE_WRITE_THROUGH)
}

func remove(path string) error { return again(func() error { return os.Remove(path) }) }

// syncDir is empty: Windows cannot flush a directory for an ordinary user, and
// MOVEFILE_WRITE_THROUGH returns after the move is on the disk.
func syncDir(string) error { return nil }
