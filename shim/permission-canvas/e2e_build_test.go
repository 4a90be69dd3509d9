// The tests in this package build the executables and use them as an agent's
// host and a person do: as processes, over their pipes and command lines.
package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long anything here is waited for. Only a failure waits this
// long.
const patience = 60 * time.Second

// The executables, as TestMain built them.
var canvasProgram, pcProgram string

func TestMain(m *testing.M) { os.Exit(withPrograms(m.Run)) }

// withPrograms builds what the tests run.
func withPrograms(run func() int) int {
	dir, err := os.MkdirTemp("", "pc-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	name := func(program string) string {
		if runtime.GOOS == "windows" {
			program += ".exe"
		}
		return filepath.Join(dir, program)
	}
	canvasProgram, pcProgram = name("permission-canvas"), name("pc")
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), ".", "../pc")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the executables: %v\n%s", err, out)
		return 1
	}
	return run()
}

// cleanEnv is this process's environment without what would lead a child to
// another profile, driver or desktop, and with extra.
func cleanEnv(extra ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "AT_SPI_BUS_ADDRESS":
			return true
		}
		return strings.HasPrefix(name, "PERMISSION_CANVAS_") || strings.HasPrefix(name, "HERMES_") || strings.HasPrefix(name, "PC_TEST_")
	})
	return append(env, extra...)
}
