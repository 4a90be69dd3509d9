package cua

import (
	"golang.org/x/sys/windows"
)

// processOf asks the kernel. The start is in milliseconds since 1601: the
// kernel's 100 ns do not fit the integers that JSON carries.
func processOf(pid int) process {
	var p process
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return p
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) == nil {
		p.start = (uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)) / 10_000
	}
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(buf))
	if windows.QueryFullProcessImageName(h, 0, &buf[0], &n) == nil {
		p.path = windows.UTF16ToString(buf[:n])
	}
	return p
}
