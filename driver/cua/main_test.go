package cua_test

import (
	"os"
	"testing"

	"github.com/permission-canvas/permission-canvas/driver/drivertest"
)

func TestMain(m *testing.M) {
	drivertest.Serve(nil)
	code := m.Run()
	endShared()
	os.Exit(code)
}
