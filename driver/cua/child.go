package cua

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// grace is how long the process gets at each stage of its end.
const grace = 2 * time.Second

// child is a process of ours.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	exited chan struct{}
}

// spawn starts exe with the given environment and nothing else of ours.
func spawn(exe string, args, env []string) (*child, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, args...)
	cmd.Env, cmd.Dir = env, neutralDir()
	cmd.Stdout = in // a file, so that no goroutine stands between
	cmd.Stderr = nil
	setAttributes(cmd)
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	_ = in.Close()
	if err != nil {
		_ = out.Close()
		return nil, startError(err)
	}
	c := &child{cmd: cmd, stdin: stdin, stdout: out, exited: make(chan struct{})}
	go c.wait()
	return c, nil
}

// wait collects the process. What it had written may still be read for a
// moment; a descendant that keeps the pipe open does not keep us.
func (c *child) wait() {
	_ = c.cmd.Wait()
	close(c.exited)
	time.Sleep(grace / 4)
	_ = c.stdout.Close()
}

// stop ends the process: its input ends, then it is asked, then killed.
func (c *child) stop() {
	_ = c.stdin.Close()
	if c.gone(grace) {
		return
	}
	if askToEnd(c.cmd.Process) == nil && c.gone(grace) {
		return
	}
	_ = c.cmd.Process.Kill()
	c.gone(grace)
}

func (c *child) gone(within time.Duration) bool {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-c.exited:
		return true
	case <-t.C:
		return false
	}
}

// startError keeps the reason of a failed start without the path's spelling.
func startError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("start: %w", path.Err)
	}
	return fmt.Errorf("start: %w", err)
}
