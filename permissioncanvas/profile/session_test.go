package profile_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// The test binary is also a process with a session, for TestSession to kill.
func TestMain(m *testing.M) {
	dir := os.Getenv("PROFILE_TEST_HOLDER")
	if dir == "" {
		os.Exit(m.Run())
	}
	p, err := profile.Open(dir)
	if err == nil {
		_, err = p.WriteSession(desktop(":9"))
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
}

func desktop(display string) profile.Session {
	env := map[string]string{
		"DISPLAY": display, "XAUTHORITY": "/run/x", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus,guid=00", "SECRET": "s",
	}
	return profile.SessionOf("claude-code", func(name string) string { return env[name] })
}

func TestSession(t *testing.T) {
	t.Run("is there while it runs", func(t *testing.T) {
		p := opened(t)
		none, err := p.Sessions()
		require.NoError(t, err)
		require.Empty(t, none)

		first := desktop(":1")
		removeFirst, err := p.WriteSession(first)
		require.NoError(t, err)
		second := desktop(":2")
		second.Started = first.Started.Add(time.Second)
		removeSecond, err := p.WriteSession(second)
		require.NoError(t, err)

		running, err := p.Sessions()
		require.NoError(t, err)
		require.Len(t, running, 2)
		require.Equal(t, ":2", running[0].Display)
		require.Equal(t, []string{"DISPLAY=:1", "XAUTHORITY=/run/x", "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/bus,guid=00"}, running[1].Environ())
		require.Equal(t, os.Getpid(), running[0].PID)
		require.Equal(t, "claude-code", running[0].Agent)

		require.NoError(t, removeSecond())
		running, err = p.Sessions()
		require.NoError(t, err)
		require.Len(t, running, 1)
		require.NoError(t, removeFirst())
		entries, err := os.ReadDir(filepath.Join(p.Dir(), "session"))
		require.NoError(t, err)
		require.Empty(t, entries)
	})
	t.Run("is gone with its process", func(t *testing.T) {
		p := opened(t)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PROFILE_TEST_HOLDER="+p.Dir())
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		said, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "held\n", said)
		running, err := p.Sessions()
		require.NoError(t, err)
		require.Len(t, running, 1)
		require.Equal(t, cmd.Process.Pid, running[0].PID)

		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		running, err = p.Sessions()
		require.NoError(t, err)
		require.Empty(t, running)
		entries, err := os.ReadDir(filepath.Join(p.Dir(), "session"))
		require.NoError(t, err)
		require.Empty(t, entries)
	})
	t.Run("is left out when it cannot be read", func(t *testing.T) {
		p := opened(t)
		remove, err := p.WriteSession(desktop(":1"))
		require.NoError(t, err)
		files, err := filepath.Glob(filepath.Join(p.Dir(), "session", "*.json"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		for _, text := range []string{"{", `{"pid":1,"display":":1\nLD_PRELOAD=x"}`, `{"display":":1"}`} {
			require.NoError(t, os.WriteFile(files[0], []byte(text), 0o600))
			running, err := p.Sessions()
			require.NoError(t, err)
			require.Empty(t, running)
		}
		require.NoError(t, remove())
	})
	t.Run("holds values of an environment only", func(t *testing.T) {
		p := opened(t)
		_, err := p.WriteSession(desktop(":1\nLD_PRELOAD=x"))
		require.ErrorContains(t, err, "environment")
		_, err = p.WriteSession(profile.Session{Display: ":1"})
		require.ErrorContains(t, err, "process")
		late := desktop(":1")
		late.Started = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		_, err = p.WriteSession(late)
		require.Error(t, err)
	})
}
