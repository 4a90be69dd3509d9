package main_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// What serves an agent leaves no core dump, and neither does the driver that it
// starts. That nobody may look into it is asked of the process itself, in
// TestPC43Dumpable.
func TestPC43Limits(t *testing.T) {
	d := simulated(t)
	p := d.plugin()
	p.ask("list_windows", nil)
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", p.cmd.Process.Pid))
	require.NoError(t, err)
	require.Regexp(t, regexp.MustCompile(`(?m)^Max core file size +0 +0 `), string(limits))
	p.ends()
}
