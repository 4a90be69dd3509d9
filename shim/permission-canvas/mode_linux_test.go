package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/fixture"
)

// A plugin is a host that speaks JSON lines, one request after the other.
type plugin struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	n   int
}

// plugin starts serve --jsonl with these flags. Its host has every switch on
// that is known to bypass something.
func (d *desk) plugin(flags ...string) *plugin {
	d.t.Helper()
	p := &plugin{t: d.t}
	p.cmd = exec.Command(canvasProgram, append([]string{"serve", "--jsonl", "--driver", d.driver, "--data-dir", d.dir}, flags...)...)
	p.cmd.Env = append([]string{
		"CUA_DRIVER_DANGEROUSLY_BYPASS_APPROVALS=1", "CUA_DRIVER_PERMISSION_MODE=unrestricted", "HERMES_YOLO_MODE=1",
	}, d.env...)
	var err error
	p.in, err = p.cmd.StdinPipe()
	require.NoError(d.t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(d.t, err)
	require.NoError(d.t, p.cmd.Start())
	p.out = bufio.NewReader(out)
	d.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

// told is an answer.
type told struct {
	Result struct {
		Text     string
		Elements []struct{ Token, Role, Label string }
	}
	Error struct{ Code, Message string }
	raw   string
}

// ask makes a request and returns its answer.
func (p *plugin) ask(method string, params map[string]any) told {
	p.t.Helper()
	p.n++
	line, err := json.Marshal(map[string]any{"id": p.n, "method": method, "params": params})
	require.NoError(p.t, err)
	_, err = fmt.Fprintf(p.in, "%s\n", line)
	require.NoError(p.t, err)
	watch := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer watch.Stop()
	answer, err := p.out.ReadString('\n')
	require.NoError(p.t, err)
	a := told{raw: answer}
	require.NoError(p.t, json.Unmarshal([]byte(answer), &a))
	return a
}

// click asks for a click on the button, and for no waiting.
func (p *plugin) click(seen told, label string) string {
	p.t.Helper()
	for _, e := range seen.Result.Elements {
		if e.Role == "button" && e.Label == label {
			return p.ask("act", map[string]any{"action": "click", "token": e.Token, "wait": 0}).Error.Code
		}
	}
	require.Fail(p.t, "no such button", "%s in %s", label, seen.Result.Text)
	return ""
}

// ends closes the input, and requires the process to end with success.
func (p *plugin) ends() {
	p.t.Helper()
	require.NoError(p.t, p.in.Close())
	require.NoError(p.t, p.cmd.Wait())
}

// driverEnv is the environment of the driver that the process runs.
func (p *plugin) driverEnv() map[string]string {
	p.t.Helper()
	all := descendants(p.cmd.Process.Pid)
	require.NotEmpty(p.t, all)
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", all[0]))
	require.NoError(p.t, err)
	env := map[string]string{}
	for v := range strings.SplitSeq(string(data), "\x00") {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	return env
}

func TestPC23OnRealDrivers(t *testing.T) {
	fixture.Each(t, func(t *testing.T, screen fixture.Desktop) {
		server := fixture.Serve(t)
		browser := screen.Browse(t, server)
		d := &desk{
			t: t, dir: filepath.Join(t.TempDir(), "data"), driver: screen.Driver, env: cleanEnv(screen.Env()...),
		}
		w := d.choose(func(w window) bool { return w.PID == browser.PID && w.Title == browser.Title })
		d.rule(w, "hide", "button", fixture.KeyButton)
		d.rule(w, "readonly", "button", "Delete")
		d.resume()
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", w.PID))
		require.NoError(t, err)
		const tools = "version: 3\nexpires_after: 8h\nidle_timeout: 1h\nallow: {tools: [list_windows, get_window_state, click]}\n"
		mine := tools + "resources: {apps: [{executable: '" + exe + "'}], desktop: {display: true}}\n"
		other := tools + "resources: {desktop: {display: true, windows: [{pid: 1, window_id: 1}]}}\n"
		for _, tt := range []struct{ mode, manifest string }{
			{"", ""}, {"standard", ""}, {"unrestricted", ""}, {"", mine}, {"standard", mine}, {"bounded", mine}, {"unrestricted", mine},
		} {
			t.Run(fmt.Sprintf("mode %s, manifest %v", tt.mode, tt.manifest != ""), func(t *testing.T) {
				d := *d
				d.t = t
				held(t, &d, w, tt.mode, tt.manifest)
			})
		}
		t.Run("another window is not granted", func(t *testing.T) {
			d := *d
			d.t = t
			file := filepath.Join(t.TempDir(), "m.yaml")
			require.NoError(t, os.WriteFile(file, []byte(other), 0o600))
			p := d.plugin("--mode", "bounded", "--capability-manifest", file)
			require.Equal(t, "tool_denied", p.ask("capture", w.args()).Error.Code)
			require.Empty(t, p.ask("list_windows", nil).Error.Code)
			p.ends()
		})
		require.Zero(t, server.Pressed("Save"))
		require.Empty(t, server.Requests("/saved"))
	})
}

// held shows a session of one mode: levels and asks hold, the driver has
// exactly the mode, and the manifest is the one of the beginning.
func held(t *testing.T, d *desk, w window, mode, manifest string) {
	var flags []string
	if mode != "" {
		flags = append(flags, "--mode", mode)
	}
	file := filepath.Join(t.TempDir(), "m.yaml")
	if manifest != "" {
		require.NoError(t, os.WriteFile(file, []byte(manifest), 0o600))
		flags = append(flags, "--capability-manifest", file)
	}
	p := d.plugin(flags...)
	var seen told
	require.Eventually(t, func() bool { // the page may still be moving
		seen = p.ask("capture", w.args("no_image", true))
		return seen.Error.Code == ""
	}, 20*time.Second, 500*time.Millisecond)
	require.NotContains(t, seen.raw, fixture.KeyButton)
	require.Equal(t, "read_only", p.click(seen, "Delete"))
	require.Equal(t, "approval_required", p.click(seen, "Save"))

	env := p.driverEnv()
	require.Equal(t, mode, env["CUA_DRIVER_PERMISSION_MODE"])
	_, bypass := env["CUA_DRIVER_DANGEROUSLY_BYPASS_APPROVALS"]
	require.Equal(t, mode == "unrestricted", bypass)
	require.NotContains(t, env, "HERMES_YOLO_MODE")
	copied := env["CUA_DRIVER_CAPABILITY_MANIFEST_FILE"]
	if manifest == "" {
		require.Empty(t, copied)
		p.ends()
		return
	}
	require.Equal(t, "1", env["CUA_DRIVER_CAPABILITY_MANIFEST_APPROVED"])
	require.Equal(t, filepath.Join(d.dir, "driver"), filepath.Dir(copied))

	// What is edited later counts for nothing, not even for a driver that
	// starts anew.
	wider := strings.Replace(manifest, "click]", "click, set_value]", 1)
	for _, path := range []string{file, copied} {
		require.NoError(t, os.WriteFile(path, []byte(wider), 0o600))
	}
	killProcess(t, descendants(p.cmd.Process.Pid)[0])
	require.Eventually(t, func() bool { return p.ask("list_windows", nil).Error.Code == "" }, 20*time.Second, 500*time.Millisecond)
	data, err := os.ReadFile(p.driverEnv()["CUA_DRIVER_CAPABILITY_MANIFEST_FILE"])
	require.NoError(t, err)
	require.Equal(t, manifest, string(data))
	a := p.ask("call", map[string]any{"name": "set_value", "arguments": map[string]any{"element_token": seen.Result.Elements[0].Token, "value": "x"}})
	require.Equal(t, "tool_denied", a.Error.Code)
	p.ends()
}
