package cua_test

import (
	"strconv"

	"github.com/permission-canvas/permission-canvas/driver/drivertest"
)

var answers = map[string]drivertest.Func{}

func itoa(n int) string { return strconv.Itoa(n) }
