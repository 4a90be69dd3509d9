package audit_test

import (
	"bufio"
	stdcontext "context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/stretchr/testify/require"
)

// The test binary is also the other processes: with these variables set it
// appends and prints the number of each entry that was acknowledged.
const (
	childDir   = "AUDIT_TEST_DIR"
	childCount = "AUDIT_TEST_COUNT" // 0: until killed
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	n, _ := strconv.Atoi(os.Getenv(childCount))
	l, err := audit.Open(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for i := 0; n == 0 || i < n; i++ {
		ctx, cancel := stdcontext.WithTimeout(context(), 20*time.Second)
		seq, err := l.Append(ctx, entry(strconv.Itoa(os.Getpid()), i))
		cancel()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(seq)
	}
	return 0
}

func entry(session string, i int) audit.Entry {
	return audit.Entry{Session: session, Agent: "tester", Kind: audit.Intent, Fields: map[string]string{"n": strconv.Itoa(i), "tool": "click"}}
}

// spawn starts this binary as a child that appends to dir, run by what is in
// wrap, if anything.
func spawn(t *testing.T, dir string, count int, wrap ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	args := append(wrap, self)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), childDir+"="+dir, childCount+"="+strconv.Itoa(count), "GOCOVERDIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}
