package cua

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// processOf reads /proc. The start is field 22 of stat, in clock ticks since
// the system's start; the name in field 2 may hold anything, so fields are
// counted behind its last bracket.
func processOf(pid int) process {
	var p process
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 {
			if fields := bytes.Fields(stat[i+1:]); len(fields) > 19 {
				p.start, _ = strconv.ParseUint(string(fields[19]), 10, 64)
			}
		}
	}
	if path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil {
		p.path = path
	}
	return p
}
