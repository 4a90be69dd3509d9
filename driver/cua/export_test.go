package cua

import "time"

// OnlyTestLimits shortens the deadlines of d's calls.
func OnlyTestLimits(d *Driver, observe, input time.Duration) {
	d.observeLimit, d.inputLimit = observe, input
}

// OnlyTestPID returns the driver's process, 0 where none runs.
func OnlyTestPID(d *Driver) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.link == nil {
		return 0
	}
	return d.link.child.cmd.Process.Pid
}

// OnlyTestDropped counts what the driver sent without being asked.
func OnlyTestDropped(d *Driver) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.link == nil {
		return 0
	}
	return d.link.client.Dropped()
}
