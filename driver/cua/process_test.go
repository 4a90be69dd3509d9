//go:build unix

package cua_test

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/cua"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
)

func TestUnavailable(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	policy := func(path string, err error) *cua.Options {
		return &cua.Options{PolicyFile: func([]string) (string, error) { return path, err }}
	}
	tests := []struct {
		name string
		exe  string
		opts *cua.Options
		say  string
	}{
		{name: "nothing there", exe: filepath.Join(here, "no-such-driver")},
		{name: "a relative path", exe: "cua-driver", say: "absolute"},
		{name: "a directory", exe: here},
		{name: "no policy file", exe: "/bin/cat", opts: policy("", errors.New("disk full")), say: "policy file"},
		{name: "a policy file of no name", exe: "/bin/cat", opts: policy("", nil), say: "policy file"},
		{name: "a program that is no driver", exe: "/bin/echo", opts: &cua.Options{Args: []string{"hello"}}},
		{name: "a program that echoes", exe: "/bin/cat", opts: &cua.Options{Args: []string{}}},
		{name: "a program that ends", exe: "/bin/true"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			d := cua.New(tt.exe, tt.opts)
			_, err := d.Windows(short)
			require.ErrorIs(t, err, driver.ErrUnavailable)
			require.ErrorContains(t, err, tt.say)
			_, err = d.Do(short, driver.WindowRef{PID: 1, ID: 1}, driver.Raise{})
			require.ErrorIs(t, err, driver.ErrNoEffect)
			require.NoError(t, d.Close())
			_, err = d.Windows(ctx)
			require.ErrorIs(t, err, driver.ErrUnavailable)
			_, err = d.Do(ctx, driver.WindowRef{PID: 1, ID: 1}, driver.Raise{})
			require.ErrorIs(t, err, driver.ErrUnavailable)
			_, err = d.WindowAt(ctx, image.Pt(1, 1))
			require.ErrorIs(t, err, driver.ErrUnsupported)
		})
	}
}

func TestADriverThatIsOurselvesIsRefused(t *testing.T) {
	s := replay(t, "0.37", "page")
	s.Name = "Permission-Canvas"
	d, _ := play(t, s, nil)
	_, err := d.Windows(t.Context())
	require.ErrorIs(t, err, driver.ErrUnavailable)
	require.ErrorContains(t, err, "permission-canvas itself")
}

func TestPC46AToolListThatIsWrong(t *testing.T) {
	for name, list := range map[string][]json.RawMessage{
		"twice":    {json.RawMessage(`{"name":"click"}`), json.RawMessage(`{"name":"click"}`)},
		"nameless": {json.RawMessage(`{"title":"click"}`)},
		"a number": {json.RawMessage(`{"name":7}`)},
	} {
		t.Run(name, func(t *testing.T) {
			s := replay(t, "0.37", "page")
			s.Tools = list
			d, _ := play(t, s, nil)
			_, err := d.Tools(t.Context())
			require.ErrorIs(t, err, driver.ErrUnavailable)
		})
	}
}

// TestPC21OneProcess: calls that come at once start one process, and it ends
// with Close.
func TestPC21OneProcess(t *testing.T) {
	d, child := play(t, replay(t, "0.37", "page"), nil)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, err := d.Windows(t.Context())
			require.NoError(t, err)
		})
	}
	wg.Wait()
	starts := 0
	for _, r := range child.Received(t) {
		if r.Method == "initialize" {
			starts++
		}
	}
	require.Equal(t, 1, starts)
	pid := cua.OnlyTestPID(d)
	require.NotZero(t, pid)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
	if p, err := os.FindProcess(pid); err == nil {
		require.Error(t, p.Signal(os.Interrupt), "the process is gone")
	}
}

func TestPC21CloseEndsCallsUnderWay(t *testing.T) {
	s := replay(t, "0.37", "page")
	s.Answers["get_window_state"] = []drivertest.Answer{{Mode: drivertest.ModeNever}}
	d, child := play(t, s, nil)
	over := make(chan error, 1)
	go func() {
		_, err := d.Snapshot(context.Background(), refOf(t, "0.37", "page"), driver.SnapshotOptions{})
		over <- err
	}()
	require.Eventually(t, func() bool { return child.Calls(t, "get_window_state") == 1 }, 5*time.Second, 5*time.Millisecond)
	require.NoError(t, d.Close())
	select {
	case err := <-over:
		require.ErrorIs(t, err, driver.ErrUnavailable)
	case <-time.After(3 * time.Second):
		require.Fail(t, "a call under way did not return")
	}
}

func TestPC22WhatTheProcessGets(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "sk-1", "AWS_SECRET_ACCESS_KEY": "x", "HERMES_CUA_DRIVER_CMD": "permission-canvas", "LD_PRELOAD": "",
		"CUA_DRIVER_POLICY_FILE": "/tmp/other", "CUA_DRIVER_PERMISSION_MODE": "unrestricted", "DISPLAY": ":77", "LANG": "de_DE.UTF-8",
		"WAYLAND_DISPLAY": "wayland-9", "PATH": os.Getenv("PATH") + ":/home/x/bin",
	} {
		t.Setenv(name, value)
	}
	out := filepath.Join(t.TempDir(), "environment")
	script := filepath.Join(t.TempDir(), "driver")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n{ echo \"args $*\"; pwd; env; } > '"+out+"'\n"), 0o700))
	var admitted []string
	d := cua.New(script, &cua.Options{
		Mode: "bounded", Env: []string{"DISPLAY=:78", "WAYLAND_DISPLAY=", "OPENAI_API_KEY=sk-2", "nonsense"},
		PolicyFile: func(tools []string) (string, error) { admitted = tools; return "/data/policy.yaml", nil },
	})
	_, err := d.Windows(t.Context())
	require.ErrorIs(t, err, driver.ErrUnavailable)
	require.NoError(t, d.Close())
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	require.Equal(t, []string{"args mcp", "/"}, lines[:2])
	for _, want := range []string{
		"DISPLAY=:78", "LANG=de_DE.UTF-8", "CUA_DRIVER_RS_TELEMETRY_ENABLED=false", "CUA_DRIVER_RS_UPDATE_CHECK=false",
		"CUA_DRIVER_POLICY_FILE=/data/policy.yaml", "CUA_DRIVER_PERMISSION_MODE=bounded", "PERMISSION_CANVAS_DEPTH=1",
	} {
		require.Contains(t, lines, want)
	}
	for _, line := range lines[2:] {
		for _, never := range []string{"KEY", "SECRET", "HERMES", "LD_", "WAYLAND", "/home/x/bin", "unrestricted"} {
			require.NotContains(t, line, never)
		}
	}
	require.Equal(t, cua.ToolNames(), admitted)
	require.False(t, slices.ContainsFunc(admitted, func(s string) bool {
		return strings.Contains(s, "clipboard") || strings.Contains(s, "run_") || strings.Contains(s, "desktop")
	}))
}

func TestPC21ASessionThatEnds(t *testing.T) {
	ended := answersOf(t, "0.37")["session ended"]
	opts := &cua.Options{Name: "agent x"}
	t.Run("a reading revives it once, under the same name", func(t *testing.T) {
		s := replay(t, "0.37", "page")
		honest := s.Answers["get_window_state"][0]
		s.Answers["get_window_state"] = []drivertest.Answer{honest, {Result: ended}, honest}
		d, child, ref, old := ready(t, s, "0.37", opts)
		_, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{})
		require.NoError(t, err)
		require.Equal(t, 2, child.Calls(t, "start_session"))
		require.Equal(t, 3, child.Calls(t, "get_window_state"))
		for _, r := range child.Received(t) {
			if r.Tool == "start_session" {
				require.JSONEq(t, `{"session":"agent x"}`, string(r.Args))
			}
		}
		_, err = d.Do(t.Context(), ref, click(old))
		require.NoError(t, err, "the tokens are alike, being of the same reading's number")
	})
	t.Run("a session that ends at once is given up", func(t *testing.T) {
		s := replay(t, "0.37", "page")
		s.Answers["get_window_state"] = []drivertest.Answer{{Result: ended}}
		d, child := play(t, s, opts)
		_, err := d.Snapshot(t.Context(), refOf(t, "0.37", "page"), driver.SnapshotOptions{})
		require.ErrorIs(t, err, driver.ErrSessionEnded)
		require.Equal(t, 2, child.Calls(t, "get_window_state"))
	})
	t.Run("input is not repeated, and does not revive", func(t *testing.T) {
		s := replay(t, "0.37", "page")
		s.Answers["click"] = []drivertest.Answer{{Result: ended}}
		d, child, ref, token := ready(t, s, "0.37", opts)
		for range 3 {
			_, err := d.Do(t.Context(), ref, click(token))
			require.ErrorIs(t, err, driver.ErrSessionEnded)
			require.ErrorIs(t, err, driver.ErrNoEffect)
		}
		require.Equal(t, 1, child.Calls(t, "click"))
		require.Equal(t, 1, child.Calls(t, "start_session"))
	})
	t.Run("a session that cannot be begun", func(t *testing.T) {
		s := replay(t, "0.37", "page")
		s.Answers["start_session"] = []drivertest.Answer{{Result: answersOf(t, "0.37")["unknown tool"]}}
		d, child := play(t, s, opts)
		_, err := d.Snapshot(t.Context(), refOf(t, "0.37", "page"), driver.SnapshotOptions{})
		require.ErrorIs(t, err, driver.ErrUnavailable)
		_, err = d.Do(t.Context(), refOf(t, "0.37", "page"), driver.PressKeys{Keys: []driver.Key{"a"}})
		require.ErrorIs(t, err, driver.ErrNoEffect)
		require.Zero(t, child.Calls(t, "press_key"))
	})
}

func TestWindowGoneInTheDriversWords(t *testing.T) {
	for version := range versions {
		s := replay(t, version, "page")
		ref := refOf(t, version, "page")
		words := strings.Replace(string(answersOf(t, version)["gone"]), "window_id 4242", "window_id "+itoa(int(ref.ID)), 1)
		s.Answers["get_window_state"] = []drivertest.Answer{{Result: json.RawMessage(words)}}
		d, _ := play(t, s, nil)
		_, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{})
		require.ErrorIs(t, err, driver.ErrWindowGone, version)

		s.Answers["get_window_state"] = []drivertest.Answer{{Result: answersOf(t, version)["gone"]}}
		d, _ = play(t, s, nil)
		_, err = d.Snapshot(t.Context(), ref, driver.SnapshotOptions{})
		require.NotErrorIs(t, err, driver.ErrWindowGone, "it is said of another window")
		require.ErrorIs(t, err, driver.ErrUnavailable)

		s.Answers["get_window_state"] = []drivertest.Answer{{Result: answersOf(t, version)["unknown tool"]}}
		d, _ = play(t, s, nil)
		_, err = d.Snapshot(t.Context(), ref, driver.SnapshotOptions{})
		require.ErrorIs(t, err, driver.ErrRefused)
	}
}

func TestTools(t *testing.T) {
	s := replay(t, "0.37", "page")
	s.Answers["get_screen_size"] = []drivertest.Answer{{Result: json.RawMessage(`{"content":[],"structuredContent":{"width":9007199254740991,"n":1.0}}`)}}
	s.Answers["click"] = []drivertest.Answer{{Error: json.RawMessage(`{"code":-32603,"message":"label: sk-1"}`)}}
	d, child := play(t, s, nil)
	tools, err := d.Tools(t.Context())
	require.NoError(t, err)
	require.Equal(t, "0.37.0", tools.Version)
	require.Len(t, tools.Entries, len(s.Tools))
	raw, err := d.CallTool(t.Context(), "get_screen_size", nil)
	require.NoError(t, err)
	require.Equal(t, string(s.Answers["get_screen_size"][0].Result), string(raw))
	_, err = d.CallTool(t.Context(), "kill_app", json.RawMessage(`{"pid":1}`))
	require.ErrorIs(t, err, driver.ErrNoEffect)
	require.Zero(t, child.Calls(t, "kill_app"))
	_, err = d.CallTool(t.Context(), "click", json.RawMessage(`{}`))
	require.Error(t, err)
	require.NotErrorIs(t, err, driver.ErrNoEffect)
	require.NotContains(t, err.Error(), "sk-1")
}

// TestPC21AProcessThatDoesNotEnd is asked, then killed.
func TestPC21AProcessThatDoesNotEnd(t *testing.T) {
	for name, trap := range map[string]string{"obeys a request": "", "obeys nothing": "trap '' TERM\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script, out := filepath.Join(dir, "driver"), filepath.Join(dir, "pid")
			require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"+trap+"echo $$ > '"+out+"'\nwhile :; do sleep 0.1; done\n"), 0o700))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			d := cua.New(script, nil)
			_, err := d.Windows(ctx)
			require.ErrorIs(t, err, driver.ErrUnavailable)
			data, err := os.ReadFile(out)
			require.NoError(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			require.NoError(t, err)
			p, err := os.FindProcess(pid)
			require.NoError(t, err)
			require.Eventually(t, func() bool { return p.Signal(syscall.Signal(0)) != nil }, 15*time.Second, 50*time.Millisecond)
			require.NoError(t, d.Close())
		})
	}
}
