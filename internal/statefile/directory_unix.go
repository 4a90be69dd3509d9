//go:build !windows

package statefile

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// private checks that path is ours and only ours to write, and that nobody can
// swap it for another: no directory above is open to everybody without the
// sticky bit.
func private(path string) error {
	me := uint32(os.Geteuid())
	var st unix.Stat_t
	// The name itself first: a link that another user owns can change its mind.
	if err := unix.Lstat(path, &st); err != nil {
		return &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	if st.Uid != me {
		return fmt.Errorf("directory %s belongs to user %d, not to you (user %d): choose another one", path, st.Uid, me)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if err := unix.Stat(real, &st); err != nil {
		return &os.PathError{Op: "stat", Path: real, Err: err}
	}
	if st.Uid != me {
		return fmt.Errorf("directory %s belongs to user %d, not to you (user %d): choose another one", real, st.Uid, me)
	}
	if st.Mode&0o022 != 0 {
		return fmt.Errorf("other users may write in directory %s (mode %04o): run chmod 700 on it after checking what is inside", real, st.Mode&0o7777)
	}
	for up := filepath.Dir(real); ; up = filepath.Dir(up) {
		if err := unix.Stat(up, &st); err != nil {
			return &os.PathError{Op: "stat", Path: up, Err: err}
		}
		if st.Mode&0o002 != 0 && st.Mode&unix.S_ISVTX == 0 {
			return fmt.Errorf("everybody may rename directory %s, because %s has mode %04o: choose another place", real, up, st.Mode&0o7777)
		}
		if up == filepath.Dir(up) {
			return nil
		}
	}
}
