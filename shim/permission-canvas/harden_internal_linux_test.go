package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPC43Dumpable(t *testing.T) {
	const get, set = 3, 4 // PR_GET_DUMPABLE and PR_SET_DUMPABLE of prctl(2)
	dumpable := func() uintptr {
		v, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, get, 0, 0)
		require.Zero(t, errno)
		return v
	}
	before := dumpable()
	defer syscall.RawSyscall(syscall.SYS_PRCTL, set, before, 0)
	require.NoError(t, harden())
	require.Zero(t, dumpable())
	var core syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_CORE, &core))
	require.Equal(t, syscall.Rlimit{}, core)
}
