//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
)

// terminal is a pseudo terminal: what is written to hand is typed into tty.
func terminal(t *testing.T) (hand, tty *os.File) {
	t.Helper()
	hand, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	t.Cleanup(func() { hand.Close() })
	var unlock, number int32
	for request, arg := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, hand.Fd(), request, uintptr(unsafe.Pointer(arg)))
		require.Zero(t, errno)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { tty.Close() })
	return hand, tty
}

// typed is pc under a person's hand.
type typed struct {
	hand   *os.File
	cmd    *exec.Cmd
	notes  *bufio.Reader
	out    bytes.Buffer
	prompt string
}

// command is pc for the profile in dir.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("pc")
	require.NoError(t, err)
	return exec.Command(path, append(args, "--data-dir", dir)...)
}

// start starts pc on a terminal, with early typed before it asks anything, and
// returns when it waits for an answer.
func start(t *testing.T, cmd *exec.Cmd, early string) *typed {
	t.Helper()
	r := &typed{cmd: cmd}
	hand, tty := terminal(t)
	r.hand = hand
	_, err := io.WriteString(hand, early)
	require.NoError(t, err)
	r.cmd.Stdin, r.cmd.Stdout = tty, &r.out
	notes, err := r.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() { r.cmd.Process.Kill() })
	r.notes = bufio.NewReader(notes)
	for !strings.HasSuffix(r.prompt, "open: ") && !strings.HasSuffix(r.prompt, "y/N ") {
		b, err := r.notes.ReadByte()
		require.NoError(t, err, r.prompt)
		r.prompt += string(b)
	}
	return r
}

// answer types a line and returns the exit code.
func (r *typed) answer(t *testing.T, line string) int {
	t.Helper()
	_, err := io.WriteString(r.hand, line)
	require.NoError(t, err)
	return r.end(t)
}

func (r *typed) end(t *testing.T) int {
	t.Helper()
	done := make(chan struct{})
	go func() {
		io.Copy(io.Discard, r.notes)
		r.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		require.Fail(t, "pc does not end")
	}
	return r.cmd.ProcessState.ExitCode()
}

func profileWithAsk(t *testing.T) (dir string, store *approval.Store, id string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	_, err := control.Open(dir, nil)
	require.NoError(t, err)
	store, err = approval.Open(filepath.Join(dir, "approvals"), nil)
	require.NoError(t, err)
	p, err := store.Request(t.Context(), approval.Ask{Digest: strings.Repeat("ab", 32), Session: "s", Agent: "robot", Verb: "CLICK",
		Target: "button Save", Window: "app", Place: "page", Arguments: "{}"})
	require.NoError(t, err)
	return dir, store, p.ID
}

func stateOf(t *testing.T, s *approval.Store, id string) approval.State {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	state, _ := s.Wait(ctx, id)
	return state
}

func TestPC40TwoLettersOfThisAsk(t *testing.T) {
	letters := regexp.MustCompile("Type ([a-z]{2}) and Enter")
	t.Run("approve it", func(t *testing.T) {
		dir, store, id := profileWithAsk(t)
		r := start(t, command(t, dir, "approve", id), "")
		require.Contains(t, r.prompt, "Permission Canvas", "the terminal says whose it is")
		require.True(t, handoff.Open(dir).CardOpen(), "PC20: no input goes out meanwhile")
		require.Equal(t, 0, r.answer(t, letters.FindStringSubmatch(r.prompt)[1]+"\n"))
		require.Contains(t, r.out.String(), "CLICK \"button Save\"")
		require.Equal(t, approval.StateGranted, stateOf(t, store, id))
		require.False(t, handoff.Open(dir).CardOpen())
	})
	for _, word := range []string{"y\n", "\n", "yes\n", "\x04"} {
		t.Run(fmt.Sprintf("%q does not", word), func(t *testing.T) {
			dir, store, id := profileWithAsk(t)
			r := start(t, command(t, dir, "approve", id), "")
			require.Equal(t, 1, r.answer(t, word))
			require.Equal(t, approval.StatePending, stateOf(t, store, id))
		})
	}
	t.Run("nor what was typed before it asked", func(t *testing.T) {
		dir, store, id := profileWithAsk(t)
		cards, err := reviewed(t, dir)
		require.NoError(t, err)
		r := start(t, command(t, dir, "approve", id), cards[0].Code+"\n")
		require.Equal(t, 1, r.answer(t, "\n"))
		require.Equal(t, approval.StatePending, stateOf(t, store, id))
	})
	t.Run("an interrupt leaves it open", func(t *testing.T) {
		dir, store, id := profileWithAsk(t)
		r := start(t, command(t, dir, "approve", id), "")
		require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
		require.Equal(t, 1, r.end(t))
		require.Equal(t, approval.StatePending, stateOf(t, store, id))
	})
	t.Run("an ask that is over is not shown as one", func(t *testing.T) {
		dir, store, id := profileWithAsk(t)
		_, err := store.Withdraw(t.Context(), approval.Filter{ID: id})
		require.NoError(t, err)
		_, tty := terminal(t)
		var out, notes bytes.Buffer
		code := run(t.Context(), []string{"approve", id, "--data-dir", dir}, streams{in: tty, out: &out, err: &notes})
		require.Equal(t, 1, code)
		require.Contains(t, notes.String(), "withdrawn")
	})
}

func reviewed(t *testing.T, dir string) ([]control.Card, error) {
	t.Helper()
	desk, err := control.Open(dir, nil)
	require.NoError(t, err)
	return desk.Pending(t.Context())
}

func TestResumingAsksOnATerminal(t *testing.T) {
	dir, _, _ := profileWithAsk(t)
	gate := handoff.Open(dir)
	r := start(t, command(t, dir, "resume", "--driver", "sim"), "y\n")
	require.Equal(t, 1, r.answer(t, "n\n"))
	require.Contains(t, r.out.String(), "No window is selected")
	require.True(t, gate.State().Paused)
	r = start(t, command(t, dir, "resume", "--driver", "sim"), "")
	require.Equal(t, 0, r.answer(t, "y\n"))
	require.False(t, gate.State().Paused)
	require.Contains(t, gate.State().By, "@terminal")

	require.NoError(t, gate.SetPaused("me", ""))
	_, tty := terminal(t)
	require.Equal(t, 0, run(t.Context(), []string{"resume", "--yes", "--driver", "sim", "--data-dir", dir}, streams{in: tty, out: io.Discard, err: io.Discard}))
	require.False(t, gate.State().Paused)
}

func TestPC43NotDumpable(t *testing.T) {
	dir, _, id := profileWithAsk(t)
	r := start(t, command(t, dir, "approve", id), "")
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", r.cmd.Process.Pid))
	require.NoError(t, err)
	require.Regexp(t, `Max core file size +0 +0 `, string(limits))
	st, err := os.Stat(fmt.Sprintf("/proc/%d/environ", r.cmd.Process.Pid))
	require.NoError(t, err)
	require.Zero(t, st.Sys().(*syscall.Stat_t).Uid, "files of a process that is not dumpable are root's")
	require.Equal(t, 1, r.answer(t, "\n"))
}

func TestPC20TheTerminalInWhichPCRunsIsNeverSelectable(t *testing.T) {
	dir, _, id := profileWithAsk(t)
	direct := command(t, dir, "approve", id)
	// The shell stands for a terminal's process: it does not end itself for pc.
	r := start(t, exec.Command("sh", append([]string{"-c", `"$@"; exit $?`, "sh"}, direct.Args...)...), "")
	desk, err := control.Open(dir, &control.Options{Driver: shellWindow{sim.New(nil), r.cmd.Process.Pid}})
	require.NoError(t, err)
	all, err := desk.Windows(t.Context())
	require.NoError(t, err)
	require.Contains(t, all[len(all)-1].Never, "where you answer")
	require.Equal(t, 1, r.answer(t, "\n"))
	all, err = desk.Windows(t.Context())
	require.NoError(t, err)
	require.Empty(t, all[len(all)-1].Never)
}

// shellWindow is a desktop on which a process has a window.
type shellWindow struct {
	driver.Driver
	pid int
}

func (d shellWindow) Windows(ctx context.Context) ([]driver.Window, error) {
	all, err := d.Driver.Windows(ctx)
	return append(all, driver.Window{Ref: driver.WindowRef{PID: d.pid, ID: 1}, Exe: "editor"}), err
}
