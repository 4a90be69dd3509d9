package cua

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// processOf asks the kernel. The start is in microseconds since 1970.
func processOf(pid int) process {
	var p process
	if k, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err == nil {
		t := k.Proc.P_starttime
		p.start = uint64(t.Sec)*1_000_000 + uint64(t.Usec)
	}
	// The answer is the number of arguments, then the executable's path.
	if b, err := unix.SysctlRaw("kern.procargs2", pid); err == nil && len(b) > 4 {
		if path, _, ok := bytes.Cut(b[4:], []byte{0}); ok {
			p.path = string(path)
		}
	}
	return p
}
