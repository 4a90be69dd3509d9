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

// A process is one of /proc.
type process struct {
	name   string
	parent int
	start  uint64 // as a window's Start is
}

// answering returns the processes in or above which one of the person's
// programs runs, this one included, with their starts: a window of any of them
// is a terminal, an editor or a panel in which she answers. A process that only
// bears such a name takes its windows away from agents, no more.
func answering() map[int]uint64 {
	all := map[int]process{}
	entries, _ := os.ReadDir("/proc") // without it only this process counts
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := stat(pid); ok {
				all[pid] = p
			}
		}
	}
	ours := map[int]uint64{os.Getpid(): all[os.Getpid()].start, os.Getppid(): all[os.Getppid()].start}
	for pid, p := range all {
		if pid != os.Getpid() && !slices.Contains(programs, p.name) {
			continue
		}
		// 1 is the system's own. The count ends a circle of ids used again.
		for n := 0; pid > 1 && n < 100; n++ {
			ours[pid] = all[pid].start
			pid = all[pid].parent
		}
	}
	return ours
}

// stat reads one process.
func stat(pid int) (process, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	// The name stands in parentheses and may hold any byte.
	first, last := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if first < 0 || last < first {
		return process{}, false
	}
	// What follows are fields 3 and on: the parent is field 4, the start 22.
	fields := strings.Fields(string(data[last+1:]))
	if len(fields) < 20 {
		return process{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	start, wrong := strconv.ParseUint(fields[19], 10, 64)
	return process{string(data[first+1 : last]), parent, start}, err == nil && wrong == nil
}
