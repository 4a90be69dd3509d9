package main

import (
	"os"
	"syscall"
	"unsafe"
)

// isTerminal reports whether a person types into f.
func isTerminal(f *os.File) bool {
	var settings syscall.Termios
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&settings)))
	return errno == 0
}

// forget drops what was typed into f before it was asked for.
func forget(f *os.File) {
	const flush, input = 0x540b, 0 // TCFLSH, TCIFLUSH
	syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), flush, input)
}
