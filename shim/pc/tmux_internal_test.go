//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
)

// A terminalWindow is pc in a real terminal.
type terminalWindow struct {
	t      *testing.T
	socket string
}

// inTerminal starts pc in a terminal of this size.
func inTerminal(t *testing.T, width, height int, dir string, args ...string) *terminalWindow {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux")
	}
	w := &terminalWindow{t, filepath.Join(t.TempDir(), "tmux")}
	line := append([]string{"-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height),
		"-e", "LC_ALL=C.UTF-8", "-e", "PC_SIM=1",
		"sh", "-c", `"$@"; printf 'ended with %s\n' $?; exec sleep 1000`, "sh"}, command(t, dir, args...).Args...)
	w.tmux(append([]string{"-u"}, line...)...)
	t.Cleanup(func() { exec.Command("tmux", "-S", w.socket, "kill-server").Run() })
	w.tmux("set-option", "-g", "monitor-bell", "on")
	return w
}

func (w *terminalWindow) tmux(args ...string) string {
	w.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-S", w.socket}, args...)...).CombinedOutput()
	require.NoError(w.t, err, string(out))
	return string(out)
}

func (w *terminalWindow) screen() string { return w.tmux("capture-pane", "-p") }

// shows waits until the screen matches, and returns it.
func (w *terminalWindow) shows(pattern string) string {
	w.t.Helper()
	re, last := regexp.MustCompile(pattern), ""
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if last = w.screen(); re.MatchString(last) {
			return last
		}
	}
	require.FailNow(w.t, pattern+" is not on the screen", "%s", last)
	return last
}

// types presses keys as a person would, no sooner than they count.
func (w *terminalWindow) types(keys ...string) {
	w.t.Helper()
	time.Sleep(700 * time.Millisecond)
	w.tmux(append([]string{"send-keys"}, keys...)...)
}

// ends waits until the program is over, pressing keys for it if there are any,
// and requires its exit code. The shell around it says it; tmux itself does not
// always learn it.
func (w *terminalWindow) ends(status int, keys ...string) {
	w.t.Helper()
	want := fmt.Sprintf("ended with %d", status)
	if len(keys) == 0 {
		w.shows(want)
		return
	}
	w.typesUntil(want, keys...)
}

// typesUntil presses keys, again where they came while keys were dead, until
// the screen matches, and returns it.
func (w *terminalWindow) typesUntil(pattern string, keys ...string) string {
	w.t.Helper()
	re := regexp.MustCompile(pattern)
	for range 10 {
		w.types(keys...)
		for range 15 {
			if last := w.screen(); re.MatchString(last) {
				return last
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return w.shows(pattern)
}

func TestWatchInATerminal(t *testing.T) {
	dir, store, id := profileWithAsk(t)
	gate := handoff.Open(dir)
	require.NoError(t, gate.SetResumed("ada"))
	w := inTerminal(t, 80, 20, dir, "watch", "--driver", "sim")
	w.shows(`> ` + id + `  1:\d\d  "robot"  CLICK "button Save"`)
	require.Equal(t, "Permission Canvas\n", w.tmux("display-message", "-p", "#{pane_title}"))
	require.True(t, gate.Answering(), "agents know that somebody is there")
	require.False(t, gate.State().Paused, "it does not take the desktop")
	require.False(t, gate.CardOpen(), "nor hold input, while no card is open")

	letters := regexp.MustCompile(`type  ([a-z]{2})  to approve once`).FindStringSubmatch(w.typesUntil(`to approve once`, "Enter"))[1]
	require.Eventually(t, gate.CardOpen, 5*time.Second, 20*time.Millisecond)
	w.types("y")
	w.types("Enter")
	require.Equal(t, approval.StatePending, stateOf(t, store, id))
	w.typesUntil(`Approved once: CLICK "button Save"`, letters)
	require.Equal(t, approval.StateGranted, stateOf(t, store, id))
	require.Eventually(t, func() bool { return !gate.CardOpen() }, 5*time.Second, 20*time.Millisecond)

	p, err := store.Request(t.Context(), approval.Ask{Digest: strings.Repeat("cd", 32), Session: "s", Agent: "robot", Verb: "CLICK AND TYPE",
		Target: "textbox Notes", Window: "app", Place: "page", Arguments: `{"text":"` + strings.Repeat("many words ", 150) + `end"}`})
	require.NoError(t, err)
	w.shows(`> ?` + p.ID + `|  ` + p.ID)
	w.tmux("resize-window", "-x", "40", "-y", "14")
	w.shows(`(?m)^ WAITING 1$`)
	for !strings.Contains(w.screen(), `> 1:`) || !strings.Contains(w.screen(), `CLICK AND TYPE`) {
		w.types("Down")
	}
	w.typesUntil(`scroll to the end`, "Enter")
	w.types("End")
	w.shows(`type  [a-z]{2}  to approve once`)
	w.typesUntil(`No to:`, "d")
	w.types("wrong field")
	w.typesUntil(`Denied: CLICK AND TYPE`, "Enter")
	require.Equal(t, approval.StateDenied, stateOf(t, store, p.ID))

	w.types("p")
	w.shows(`Agents are paused`)
	require.True(t, gate.State().Paused)
	w.ends(0, "q")
	require.False(t, gate.Answering())
}

func TestWatchIsNotAnsweredByTypeAhead(t *testing.T) {
	dir, store, id := profileWithAsk(t)
	cards, err := reviewed(t, dir)
	require.NoError(t, err)
	w := inTerminal(t, 80, 20, dir, "watch")
	w.tmux("send-keys", "Enter", cards[0].Code, "y", "Enter", cards[0].Code)
	w.shows(id)
	time.Sleep(time.Second)
	require.Equal(t, approval.StatePending, stateOf(t, store, id))
	w.ends(0, "q")
}

func TestWatchRingsTheBell(t *testing.T) {
	dir, store, _ := profileWithAsk(t)
	_, err := store.Withdraw(t.Context(), approval.Filter{Session: "s"})
	require.NoError(t, err)
	w := inTerminal(t, 80, 20, dir, "watch")
	w.shows(`Nobody asks|No window is selected`)
	w.tmux("new-window", "-d", "sleep", "60")
	w.tmux("select-window", "-t", ":1") // a bell of the window in sight leaves no mark
	require.Equal(t, "0\n", w.tmux("display-message", "-t", ":0", "-p", "#{window_bell_flag}"))
	_, err = store.Request(t.Context(), approval.Ask{Digest: strings.Repeat("ef", 32), Session: "s", Agent: "robot", Verb: "CLICK",
		Window: "app", Place: "page", Arguments: "{}"})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return w.tmux("display-message", "-t", ":0", "-p", "#{window_bell_flag}") == "1\n" },
		10*time.Second, 100*time.Millisecond)
}
