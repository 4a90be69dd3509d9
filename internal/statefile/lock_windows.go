package statefile

import "os"

const lockFlags = os.O_CREATE | os.O_RDONLY
