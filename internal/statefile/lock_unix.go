//go:build !windows

package statefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFlags follow no link and wait for no pipe.
const lockFlags = os.O_CREATE | os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK
