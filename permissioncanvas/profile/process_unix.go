//go:build !windows

package profile

import (
	"errors"
	"os"
	"syscall"
)

// alive reports whether a process with this id may be running. One that must
// not be signalled is.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || !errors.Is(err, syscall.ESRCH)
}

// foreign reports whether other users may write the file at path.
func foreign(st os.FileInfo) bool { return st.Mode().Perm()&0o022 != 0 }
