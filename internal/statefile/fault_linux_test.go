package statefile_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const old = "old content\n"

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
