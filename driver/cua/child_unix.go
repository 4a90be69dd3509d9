//go:build unix

package cua

import (
	"os"
	"os/exec"
	"syscall"
)

func neutralDir() string { return "/" }

// setAttributes gives the process a group of its own, so that a person's
// Ctrl-C reaches us first and we end it in order.
func setAttributes(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func askToEnd(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
