package handoff_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/stretchr/testify/require"
)

// The test binary is also the other processes: what HANDOFF_TEST names is done
// in HANDOFF_TEST_DIR, "ready" is printed, and then it waits to be killed or
// for its standard input to end.
func TestMain(m *testing.M) {
	what, dir := os.Getenv("HANDOFF_TEST"), os.Getenv("HANDOFF_TEST_DIR")
	if what == "" {
		os.Exit(m.Run())
	}
	if err := act(handoff.Open(dir), what); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadByte()
	os.Exit(0)
}

func act(g *handoff.Gate, what string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	switch what {
	case "enter":
		_, err = g.Enter()
	case "take":
		_, err = g.Take(ctx, "other person", "editing")
	case "input":
		_, err = g.Input(ctx)
	case "card":
		_, err = g.HoldInput()
	case "turns":
		err = turns(ctx, g)
	}
	return err
}

// turns takes the input twenty times and fails where somebody else has it too.
func turns(ctx context.Context, g *handoff.Gate) error {
	for range 20 {
		in, err := g.Input(ctx)
		if err != nil {
			return err
		}
		if in.Epoch() != g.Epoch() || in.Before() != 0 && in.Epoch() != in.Before()+1 {
			return fmt.Errorf("epoch %d after %d, on disk %d", in.Epoch(), in.Before(), g.Epoch())
		}
		fmt.Println("epoch", in.Epoch())
		in.Release()
	}
	return nil
}

type other struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin interface{ Close() error }
	lines []string
}

// process starts another process and returns once it has done what.
func process(t *testing.T, dir, what string) *other {
	t.Helper()
	o := begin(t, dir, what)
	o.wait()
	return o
}

func begin(t *testing.T, dir, what string) *other {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "HANDOFF_TEST="+what, "HANDOFF_TEST_DIR="+dir, "GOCOVERDIR="+t.TempDir())
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := os.CreateTemp(t.TempDir(), "out")
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	require.NoError(t, cmd.Start())
	require.NoError(t, out.Close()) // the process has its own: Windows removes no file that is open
	o := &other{t: t, cmd: cmd, stdin: in, lines: []string{out.Name()}}
	t.Cleanup(o.kill)
	return o
}

// wait returns what the process has printed before it was ready.
func (o *other) wait() []string {
	o.t.Helper()
	var text string
	require.Eventually(o.t, func() bool {
		b, err := os.ReadFile(o.lines[0])
		text = string(b)
		return err == nil && strings.HasSuffix(text, "ready\n")
	}, 20*time.Second, 5*time.Millisecond, "%s", &text)
	return strings.Split(strings.TrimSuffix(text, "ready\n"), "\n")
}

func (o *other) kill() {
	o.cmd.Process.Kill()
	o.cmd.Wait()
}

func gate(t *testing.T) (*handoff.Gate, string) {
	t.Helper()
	dir := t.TempDir()
	return handoff.Open(dir), dir
}

// resumed is a gate that lets agents in.
func resumed(t *testing.T) (*handoff.Gate, string) {
	t.Helper()
	g, dir := gate(t)
	require.NoError(t, g.SetResumed("setup"))
	return g, dir
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
}
