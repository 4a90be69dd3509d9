package control

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// programs are the person's own, by the names that the system cuts to 15 bytes.
var programs = []string{"pc", "pc-approve", "pc-canvas"}

// answering returns the processes in or above which one of the person's
// programs runs, this one included: a window of any of them is a terminal, an
// editor or a panel in which she answers. A process that only bears such a name
// takes its windows away from agents, no more.
func answering() map[int]bool {
	parents, names := map[int]int{}, map[int]string{}
	entries, _ := os.ReadDir("/proc") // without it only this process counts
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if name, parent, ok := stat(pid); ok {
				names[pid], parents[pid] = name, parent
			}
		}
	}
	ours := map[int]bool{}
	for pid, name := range names {
		if pid != os.Getpid() && !slices.Contains(programs, name) {
			continue
		}
		// 1 is the system's own. What was marked already, so is all above it.
		for up := pid; up > 1 && !ours[up]; up = parents[up] {
			ours[up] = true
		}
	}
	ours[os.Getpid()], ours[os.Getppid()] = true, true
	return ours
}

// stat reads a process's name and parent.
func stat(pid int) (name string, parent int, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, false
	}
	// The name stands in parentheses and may hold any byte.
	first, last := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if first < 0 || last < first {
		return "", 0, false
	}
	fields := strings.Fields(string(data[last+1:]))
	if len(fields) < 2 {
		return "", 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return string(data[first+1 : last]), parent, err == nil
}
