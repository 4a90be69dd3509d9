package main

import (
	"os"
	"syscall"
)

// isTerminal reports whether a person types into f.
func isTerminal(f *os.File) bool {
	var mode uint32
	return syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil
}

// forget drops what was typed into f before it was asked for.
func forget(f *os.File) {
	flush := syscall.NewLazyDLL("kernel32.dll").NewProc("FlushConsoleInputBuffer")
	if flush.Find() == nil {
		flush.Call(f.Fd())
	}
}
