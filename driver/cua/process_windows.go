package cua

import (
	"golang.org/x/sys/windows"
)

// processOf asks the kernel. The start is a FILETIME: 100 ns since 1601.
func processOf(pid int) process {
	var p process
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return p
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) == nil {
		p.start = uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
	}
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(buf))
	if windows.QueryFullProcessImageName(h, 0, &buf[0], &n) == nil {
		p.exe = exeName(windows.UTF16ToString(buf[:n]))
	}
	return p
}
