//go:build !windows

package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// open adds O_NOFOLLOW, and O_NONBLOCK so that a pipe put at path cannot hold
// the caller until somebody writes to it.
func open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, mode)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENXIO) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	return f, err
}

// pending writes data to a fresh file beside path. The caller puts it in its
// place or cleans it up.
func pending(path string, data []byte) (*renameio.PendingFile, error) {
	p, err := renameio.NewPendingFile(path,
		renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(mode))
	if err != nil {
		return nil, err
	}
	if _, err := p.Write(data); err != nil {
		return nil, errors.Join(err, p.Cleanup())
	}
	return p, nil
}

func replace(path string, data []byte, durable bool) error {
	p, err := pending(path, data)
	if err != nil {
		return err
	}
	if durable {
		if err := p.CloseAtomicallyReplace(); err != nil {
			return errors.Join(err, p.Cleanup())
		}
		return nil
	}
	if err := os.Rename(p.Name(), path); err != nil {
		return errors.Join(err, p.Cleanup())
	}
	return p.File.Close()
}

func create(path string, data []byte) error {
	p, err := pending(path, data)
	if err != nil {
		return err
	}
	err = p.Sync()
	if err == nil {
		err = os.Link(p.Name(), path) // fails where anything is at path, a link too
	}
	return errors.Join(err, p.Cleanup())
}

func remove(path string) error { return os.Remove(path) }

// syncDir makes names in dir durable: rename and unlink alone are not.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
