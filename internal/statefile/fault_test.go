package statefile_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/stretchr/testify/require"
)

// The test binary is also the process that fails: it does what STATEFILE_TEST
// says to STATEFILE_TEST_PATH and prints "done" or the error.
func TestMain(m *testing.M) {
	what, path := os.Getenv("STATEFILE_TEST"), os.Getenv("STATEFILE_TEST_PATH")
	if what == "" {
		os.Exit(m.Run())
	}
	if err := act(what, path); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("done")
}

func act(what, path string) error {
	switch what {
	case "replace":
		return statefile.Replace(path, []byte(fresh), nil)
	case "replace without fsync":
		return statefile.Replace(path, []byte(fresh), &statefile.ReplaceOptions{NoSync: true})
	case "create":
		return statefile.Create(path, []byte(fresh))
	case "remove":
		return statefile.Remove(path)
	case "append":
		a, err := statefile.OpenAppend(path)
		if err != nil {
			return err
		}
		return a.Append([]byte(fresh))
	case "lock":
		if _, err := statefile.LockContext(context.Background(), path); err != nil {
			return err
		}
		select {}
	}
	return fmt.Errorf("what is %q", what)
}

const old = "old content\n"

var fresh = strings.Repeat("new content\n", 1000)

// Each call of the sequence is made to fail, and to be the last that the
// process makes. What is found afterwards is the old or the new content, the
// new one where success was reported.
func TestPC25FaultAtEachStep(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not here: the faults of statefile were NOT tried")
	}
	tests := []struct {
		what  string
		calls []string
	}{
		{"replace", []string{"fchmod", "write", "fsync", "renameat", "close"}},
		{"replace without fsync", []string{"write", "renameat"}},
		{"create", []string{"write", "fsync", "linkat", "unlinkat"}},
		{"append", []string{"pwrite64", "fsync"}},
		{"remove", []string{"unlinkat", "fsync"}},
	}
	for _, tt := range tests {
		for _, call := range tt.calls {
			for _, fault := range []string{"error=EIO", "error=ENOSPC", "signal=KILL"} {
				for n := 1; n <= 2; n++ {
					t.Run(fmt.Sprint(tt.what, "/", call, " ", n, " ", fault), func(t *testing.T) {
						fail(t, tt.what, []string{strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + call,
							"-e", "inject=" + call + ":" + fault + ":when=" + strconv.Itoa(n)})
					})
				}
			}
		}
	}
}

// The same without a tracer: the disk takes only so many bytes.
func TestPC25DiskFull(t *testing.T) {
	prlimit, err := exec.LookPath("prlimit")
	if err != nil {
		t.Skip("prlimit is not here: a full disk was NOT tried")
	}
	for _, what := range []string{"replace", "replace without fsync", "create", "append"} {
		t.Run(what, func(t *testing.T) {
			out := fail(t, what, []string{prlimit, "--fsize=8192"})
			require.NotEqual(t, "done", out)
		})
	}
}

// fail does what under wrap, checks what is left and returns what was said.
func fail(t *testing.T, what string, wrap []string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	before, exists := old, what != "create"
	if exists {
		require.NoError(t, os.WriteFile(path, []byte(old), 0o600))
	} else {
		before = ""
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(wrap[0], append(wrap[1:], self)...)
	cmd.Env = append(os.Environ(), "STATEFILE_TEST="+what, "STATEFILE_TEST_PATH="+path, "GOCOVERDIR="+t.TempDir())
	said, _ := cmd.Output()
	out := strings.TrimSpace(string(said))

	got, err := os.ReadFile(path)
	after := map[string]string{"append": old + fresh, "remove": ""}[what]
	if after == "" && what != "remove" {
		after = fresh
	}
	switch {
	case what == "remove":
		require.True(t, err == nil && string(got) == old || os.IsNotExist(err))
	case what == "create" && os.IsNotExist(err):
	case what == "append" && out == "": // killed: the reader's to find
		require.True(t, strings.HasPrefix(after, string(got)) && strings.HasPrefix(string(got), old))
	default:
		require.NoError(t, err)
		require.Contains(t, []string{before, after}, string(got))
		require.NotEmpty(t, got)
	}
	if out == "done" && what != "remove" {
		require.Equal(t, after, string(got))
	}
	if out == "done" && what == "remove" {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	return out
}
