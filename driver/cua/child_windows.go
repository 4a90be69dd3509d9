package cua

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// neutralDir is the system's own directory, where nothing of a user's lies
// that a library could be loaded from.
func neutralDir() string {
	if root := os.Getenv("SystemRoot"); root != "" {
		return root
	}
	return os.TempDir()
}

// setAttributes keeps the process out of our console's Ctrl-C, without a
// window of its own.
func setAttributes(cmd *exec.Cmd) {
	const createNoWindow = 0x08000000
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow, HideWindow: true}
}

func askToEnd(*os.Process) error { return errors.ErrUnsupported }
