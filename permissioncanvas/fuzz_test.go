package permissioncanvas_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// tokensIn replaces the words of call by those of a live capture.
func tokensIn(o *canvas.Observation, args string) string {
	for e := range o.Elements() {
		for word, is := range map[string]bool{
			"SAVE": e.Role == "button" && e.Label == "Save", "NAME": e.Role == "textbox" && e.Label == "Name",
			"DELETE": e.Role == "button" && e.Label == "Delete", "FORM": e.Role == "form",
		} {
			if is {
				args = strings.ReplaceAll(args, word, string(e.Token))
			}
		}
	}
	return args
}

// fuzzed is a desk that many inputs share, in memory where that is possible.
func fuzzed(f *testing.F) (*canvas.Canvas, *sim.Desktop, *drivertest.Liar, string) {
	home, err := os.MkdirTemp("/dev/shm", "pc-fuzz")
	if err != nil {
		home = f.TempDir()
	}
	f.Cleanup(func() { os.RemoveAll(home) })
	dir := filepath.Join(home, "permission-canvas")
	p, err := profile.Open(dir)
	require.NoError(f, err)
	require.NoError(f, p.Init())
	desktop := sim.New(&sim.Options{Scenes: []sim.Scene{sim.Console}})
	doc := policy.New()
	selected([]string{console}, on(driver.LevelAllow, "button", "Save"), on(driver.LevelAllow, "textbox", "Name"),
		on(driver.LevelReadOnly, "button", "Delete"), hideKey())(&doc, desktop)
	rules, err := policy.Compile(doc)
	require.NoError(f, err)
	require.NoError(f, statefile.Replace(filepath.Join(dir, profile.PolicyFile), rules.Encode(), nil))
	require.NoError(f, handoff.Open(dir).SetResumed("fuzz"))
	liar := drivertest.NewLiar(desktop)
	c, err := canvas.New(home, &canvas.Options{Agent: "fuzz", Driver: liar, NoWait: true})
	require.NoError(f, err)
	f.Cleanup(func() { c.Close() })
	return c, desktop, liar, dir
}

// FuzzCall: whatever is called with whatever, nothing panics, every refusal is
// whole, and what is dispatched was put on record first and is allowed.
func FuzzCall(f *testing.F) {
	for _, tool := range []string{"click", "type_text", "set_value", "press_key", "hotkey", "scroll", "drag", "bring_to_front",
		"list_windows", "get_window_state", "start_session", "run_steps"} {
		for _, args := range []string{
			`{"element_token":"SAVE","count":1}`, `{"element_token":"DELETE"}`, `{"element_token":"FORM","direction":"down"}`,
			`{"element_token":"NAME","text":"x","value":"y"}`, `{"element_token":"NAME","value":"y"}`, `{"element_token":"NAME","text":"y"}`,
			`{"pid":4242,"window_id":77,"keys":["ctrl","a"]}`, `{"pid":4242,"window_id":77,"key":"end"}`,
			`{"pid":4242,"window_id":77,"from_x":1,"from_y":1,"to_x":2,"to_y":2}`, `{"target":{"kind":"window","pid":4242,"window_id":77}}`, `null`,
		} {
			f.Add(tool, args)
		}
	}
	c, desktop, liar, dir := fuzzed(f)
	var unrecorded atomic.Bool
	liar.On(drivertest.Do, drivertest.First(func() {
		all, err := audit.Tail(filepath.Join(dir, "audit"), 1)
		if err != nil || len(all) != 1 || all[0].Kind != "intent" {
			unrecorded.Store(true)
		}
	}))
	f.Fuzz(func(t *testing.T, tool, args string) {
		o, err := c.Capture(context.Background(), desktop.Window(console), &canvas.CaptureOptions{NoImage: true})
		require.NoError(t, err)
		happened := len(desktop.Events())
		res, err := c.Call(context.Background(), tool, json.RawMessage(tokensIn(o, args)))
		if err != nil {
			mum(t, err)
		}
		require.False(t, unrecorded.Load(), "dispatched without an intent before it")
		require.NotContains(t, res.Text, secret)
		require.NotContains(t, toJSON(t, res.Structured), secret)
		require.Zero(t, desktop.Pressed("Delete"))
		for _, e := range desktop.Events()[happened:] {
			require.Regexp(t, `"(Save|Name)"|^scroll `, e)
		}
	})
}
