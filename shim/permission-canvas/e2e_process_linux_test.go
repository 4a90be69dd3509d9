package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// descendants returns the processes that pid started, and those that they
// started, by the kernel's own list.
func descendants(pid int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name stands in parentheses and may hold anything.
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	var all []int
	for next := children[pid]; len(next) > 0; next = next[1:] {
		all = append(all, next[0])
		next = append(next, children[next[0]]...)
	}
	return all
}

// driverPID returns the process of the driver that the child runs now.
func (c *child) driverPID() int {
	c.t.Helper()
	all := descendants(c.pid())
	require.NotEmpty(c.t, all, "no driver runs")
	return all[0]
}

// alive reports whether the process is there and not merely uncollected.
func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	return len(fields) > 0 && fields[0] != "Z" && fields[0] != "X"
}

// ended waits until none of the processes is left.
func ended(t *testing.T, pids []int, within time.Duration) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, pid := range pids {
			if alive(pid) {
				return false
			}
		}
		return true
	}, within, 20*time.Millisecond, "%v are orphans", pids)
}

// killProcess ends a process as nothing else would, and waits until it is gone.
func killProcess(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	ended(t, []int{pid}, patience)
}

// environ returns a process's environment.
func environ(t *testing.T, pid int) map[string]string {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	require.NoError(t, err)
	env := map[string]string{}
	for _, v := range strings.Split(strings.TrimRight(string(data), "\x00"), "\x00") {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	return env
}

// internet returns the sockets of the process that are of an internet
// protocol, as the kernel's tables have them.
func internet(t *testing.T, pid int) []string {
	t.Helper()
	inodes := map[string]bool{}
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	require.NoError(t, err)
	require.NotEmpty(t, links, "the files of process %d cannot be looked at", pid)
	for _, link := range links {
		to, _ := os.Readlink(link)
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
	var found []string
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6", "raw", "raw6"} {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue // no such protocol here
		}
		for _, line := range strings.Split(string(data), "\n")[1:] {
			if f := strings.Fields(line); len(f) > 9 && inodes[f[9]] {
				found = append(found, table+" "+line)
			}
		}
	}
	return found
}

// TestPC22Quiet: on the simulated desktop nothing is started, and no socket of
// an internet protocol is open.
func TestPC22Quiet(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.console()
	h := d.host("e2e")
	h.call("set_value", map[string]any{"element_token": h.capture(w).token("textbox", "Name"), "value": "Ada"}).done()
	require.Empty(t, descendants(h.pid()))
	require.Empty(t, internet(t, h.pid()))
	h.ends(2 * time.Second)
}
