package main

import "syscall"

// harden keeps what this process reads of the screen from core dumps, and from
// other processes of the same user (PC43).
func harden() error {
	const setDumpable = 4 // PR_SET_DUMPABLE of prctl(2)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setDumpable, 0, 0); errno != 0 {
		return errno
	}
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}
