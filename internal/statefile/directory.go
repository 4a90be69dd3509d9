package statefile

import (
	"fmt"
	"os"
	"path/filepath"
)

// EnsureDir makes the directory at path, with its parents, with mode 0700, and
// refuses one that is there and that other users could write: its content is
// what decides about a person's desktop. The error says what to change.
//
// A directory that others may read is taken as it is, since the files in it
// are 0600. On Windows, owner and access list are looked at instead of a mode.
func EnsureDir(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := makeDirs(path); err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return fmt.Errorf("%s is not a directory", path)
	}
	return private(path)
}

// makeDirs is os.MkdirAll with durable names.
func makeDirs(path string) error {
	if st, err := os.Stat(path); err == nil {
		if !st.IsDir() {
			return fmt.Errorf("%s is not a directory", path)
		}
		return nil
	} else if !os.IsNotExist(err) {
		return err
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDirs(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	return syncDir(parent)
}
