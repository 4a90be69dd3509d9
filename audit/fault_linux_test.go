package audit_test

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/stretchr/testify/require"
)

// Each call that changes the disk is made to fail, and to be the last one that
// the process makes: two entries are there, the third is there or not.
func TestPC24FaultAtEachCall(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not here: the faults of audit were NOT tried")
	}
	for _, call := range []string{"pwrite64", "fsync", "ftruncate", "flock"} {
		for _, fault := range []string{"error=EIO", "error=ENOSPC", "signal=KILL"} {
			for n := 1; n <= 3; n++ {
				t.Run(call+" "+strconv.Itoa(n)+" "+fault, func(t *testing.T) {
					dir := written(t, 2)
					cmd, out := spawn(t, dir, 1, strace, "-f", "-qq", "-o", os.DevNull,
						"-e", "trace="+call, "-e", "inject="+call+":"+fault+":when="+strconv.Itoa(n))
					cmd.Stderr = nil
					said := out.Scan() && out.Text() == "3"
					cmd.Wait()
					r := verify(t, dir)
					require.Nil(t, r.Broken)
					require.GreaterOrEqual(t, r.Entries, 2)
					if said {
						require.Equal(t, 3, r.Entries)
					}
					l, err := audit.Open(dir)
					require.NoError(t, err)
					_, err = l.Append(context(), entry("s", 3))
					require.NoError(t, err)
					require.Equal(t, audit.Report{Entries: r.Entries + 1}, verify(t, dir))
				})
			}
		}
	}
}
