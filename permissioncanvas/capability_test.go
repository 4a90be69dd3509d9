package permissioncanvas_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// modes are all there are; "" is Standard.
var modes = []canvas.Mode{"", canvas.Standard, canvas.Bounded, canvas.Unrestricted}

// capabilities writes a capability manifest that grants tools, in windows of
// these titles.
func (d *desk) capabilities(lifetimes string, tools []string, titles ...string) string {
	d.t.Helper()
	text := "version: 3\n" + lifetimes + "\nallow: {tools: [" + strings.Join(tools, ", ") + "]}\nresources:\n  desktop:\n    display: true\n    windows:\n"
	for _, title := range titles {
		w := d.sim.Window(title)
		text += fmt.Sprintf("      - {pid: %d, window_id: %d}\n", w.PID, w.ID)
	}
	path := filepath.Join(d.t.TempDir(), "capabilities.yaml")
	require.NoError(d.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// held begins a session that holds itself to a manifest.
func (d *desk) held(mode canvas.Mode, file string) *desk {
	d.t.Helper()
	c, err := canvas.New(d.home, &canvas.Options{Agent: "tester", Driver: d.sim, NoWait: true, Mode: mode, Manifest: file})
	require.NoError(d.t, err)
	d.t.Cleanup(func() { c.Close() })
	other := *d
	other.Canvas = c
	return &other
}

const long = "expires_after: 8h\nidle_timeout: 1h"

func all() []string {
	return []string{"list_windows", "list_apps", "get_window_state", "click", "double_click", "right_click", "type_text",
		"set_value", "press_key", "hotkey", "scroll", "drag", "bring_to_front", "start_session", "end_session",
		"get_session", "get_screen_size", "get_cursor_position"}
}

func TestPC23WhatIsNotGrantedIsDeniedInEveryMode(t *testing.T) {
	for _, mode := range modes {
		t.Run("mode "+string(mode), func(t *testing.T) {
			ctx := context.Background()
			d := newDesk(t, selected([]string{console, login}, on(driver.LevelAllow, "button", "Save")), nil)
			h := d.held(mode, d.capabilities(long, []string{"list_windows", "get_window_state", "type_text", "start_session"}, console))

			o := h.look(console)
			_, err := h.Act(ctx, canvas.Click{Target: h.token(o, "button", "Save")})
			e := refused(t, err, canvas.ToolDenied)
			require.Contains(t, e.Message, "click")
			require.Zero(t, d.sim.Pressed("Save"))

			_, err = h.Capture(ctx, d.sim.Window(login), nil)
			e = refused(t, err, canvas.ToolDenied)
			require.Contains(t, e.Message, "get_window_state in this window")
			require.Equal(t, canvas.Stop, e.Next)

			_, err = h.Call(ctx, "get_screen_size", nil)
			refused(t, err, canvas.ToolDenied)
			_, err = h.Call(ctx, "list_windows", nil)
			require.NoError(t, err)

			listed, err := h.Tools(ctx)
			require.NoError(t, err)
			var names []string
			for _, tool := range listed {
				names = append(names, tool.Name)
			}
			require.ElementsMatch(t, []string{"list_windows", "get_window_state", "start_session"}, names,
				"typing begins with a click, which is not granted")
			require.Empty(t, d.entries("asked"))
			require.Empty(t, d.entries("intent"))
			require.GreaterOrEqual(t, len(d.entries("refused")), 3)
		})
	}
}

func TestPC23TheListNeedsTheDisplay(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	w := d.sim.Window(console)
	file := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil,
		`{"version":3,"allow":{"tools":["list_windows","get_window_state"]},"resources":{"desktop":{"windows":[{"pid":%d,"window_id":%d}]}}}`,
		w.PID, w.ID), 0o600))
	h := d.held("", file)
	_, err := h.ListWindows(ctx)
	require.Contains(t, refused(t, err, canvas.ToolDenied).Message, "desktop.display")
	_, err = h.Capture(ctx, w, nil)
	refused(t, err, canvas.ToolDenied)
}

// No mode, switch or manifest that grants everything answers an ask or lifts a
// level.
func TestPC23NothingRelaxesALevel(t *testing.T) {
	for _, name := range []string{"CUA_DRIVER_DANGEROUSLY_BYPASS_APPROVALS", "HERMES_YOLO_MODE", "CUA_DRIVER_PERMISSION_MODE"} {
		t.Setenv(name, "1")
	}
	for _, mode := range modes {
		for _, held := range []bool{false, true} {
			if mode == canvas.Bounded && !held {
				continue
			}
			t.Run(fmt.Sprintf("mode %s, manifest %v", mode, held), func(t *testing.T) {
				ctx := context.Background()
				d := newDesk(t, selected([]string{console}, on(driver.LevelReadOnly, "button", "Save"), on(driver.LevelHide, "button", "Delete")), nil)
				file := ""
				if held {
					file = d.capabilities(long, all(), console)
				}
				h := d.held(mode, file)
				o := h.look(console)
				require.NotContains(t, o.Text(), "Delete")
				require.Positive(t, o.Covered())
				_, err := h.Act(ctx, canvas.Click{Target: h.token(o, "button", "Save")})
				refused(t, err, canvas.ReadOnly)
				_, err = h.Act(ctx, canvas.SetValue{Target: h.token(o, "textbox", "Name"), Value: "Ada"})
				refused(t, err, canvas.ApprovalRequired)
				require.Empty(t, d.entries("intent"))
				require.Len(t, d.entries("asked"), 1)
			})
		}
	}
}

func TestPC23Frozen(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	file := d.capabilities("", []string{"list_windows"}, console)
	h := d.held("", file)
	require.NoError(t, os.Rename(d.capabilities("", all(), console), file))
	_, err := h.Capture(ctx, d.sim.Window(console), nil)
	refused(t, err, canvas.ToolDenied)
	require.NoError(t, os.Remove(file))
	_, err = h.ListWindows(ctx)
	require.NoError(t, err)
	d.held("", d.capabilities("", all(), console)).look(console)
}

func TestPC23Lifetimes(t *testing.T) {
	ctx := context.Background()
	for name, tt := range map[string]struct {
		lifetimes string
		used      bool
	}{
		"expires although used": {"expires_after: 2s\nidle_timeout: 2s", true},
		"not used":              {"expires_after: 8h\nidle_timeout: 1s", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, selected([]string{console}), nil)
			h := d.held(canvas.Bounded, d.capabilities(tt.lifetimes, all(), console))
			h.look(console)
			for end := time.Now().Add(2100 * time.Millisecond); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				if tt.used {
					_, _ = h.ListWindows(ctx)
				}
			}
			for range 2 { // for good
				_, err := h.ListWindows(ctx)
				e := refused(t, err, canvas.ManifestInvalid)
				require.Contains(t, e.Message, "is over")
			}
			_, err := h.Capture(ctx, d.sim.Window(console), nil)
			refused(t, err, canvas.ManifestInvalid)
		})
	}
}

func TestPC23Refused(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "m.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	const tools = "allow: {tools: [list_windows]}\n"
	for name, tt := range map[string]struct {
		options canvas.Options
		env     string
		code    canvas.Code
		says    string // the sentence, or what the person may know
	}{
		"bounded without a manifest":       {options: canvas.Options{Mode: canvas.Bounded}, code: canvas.ManifestInvalid, says: "needs a capability manifest"},
		"bounded without lifetimes":        {options: canvas.Options{Mode: canvas.Bounded, Manifest: write("version: 3\n" + tools)}, code: canvas.ManifestInvalid, says: "idle_timeout"},
		"no file":                          {options: canvas.Options{Manifest: filepath.Join(t.TempDir(), "none")}, code: canvas.ManifestInvalid, says: "no such file"},
		"a folder":                         {options: canvas.Options{Manifest: t.TempDir()}, code: canvas.ManifestInvalid, says: "directory"},
		"not understood":                   {options: canvas.Options{Manifest: write("version: 3\nallow: {tools: [click]}\ngrant: all\n")}, code: canvas.ManifestInvalid, says: `3:1: unknown key "grant"`},
		"not understood when unrestricted": {options: canvas.Options{Mode: canvas.Unrestricted, Manifest: write("{}")}, code: canvas.ManifestInvalid, says: "version 0"},
		"another mode":                     {options: canvas.Options{Mode: "yolo"}, code: canvas.BadRequest, says: "standard, bounded or unrestricted"},
		"another backend":                  {env: "mcp", code: canvas.MigrationRequired, says: "remove that variable"},
		"cua, in another spelling":         {env: "CUA", code: canvas.MigrationRequired, says: "PERMISSION_CANVAS_INNER"},
		"cua":                              {env: "cua"},
		"none":                             {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PERMISSION_CANVAS_INNER", tt.env)
			home := t.TempDir()
			tt.options.Driver = sim.New(nil)
			c, err := canvas.New(home, &tt.options)
			if tt.code == "" {
				require.NoError(t, err)
				require.NoError(t, c.Close())
				return
			}
			e := refused(t, err, tt.code)
			require.Contains(t, e.Message+"\n"+e.Detail(), tt.says)
			left, err := os.ReadDir(home)
			require.NoError(t, err)
			require.Empty(t, left, "nothing was made")
		})
	}
}

// A manifest that names an application by its executable grants the windows of
// that executable, by whatever link it is named, and of no other.
func TestPC23Executable(t *testing.T) {
	ctx := context.Background()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	real := filepath.Join(dir, "editor-1.2")
	require.NoError(t, os.WriteFile(real, nil, 0o700))
	link := filepath.Join(dir, "editor")
	require.NoError(t, os.Symlink(real, link))

	d := newDesk(t, selected([]string{console, login}), nil)
	file := filepath.Join(dir, "m.yaml")
	require.NoError(t, os.WriteFile(file, []byte("version: 3\nallow: {tools: [list_windows, get_window_state]}\n"+
		"resources: {apps: [{executable: '"+link+"'}], desktop: {display: true}}\n"), 0o600))
	c, err := canvas.New(d.home, &canvas.Options{Manifest: file, Driver: paths{d.sim, map[string]string{console: real, login: link + "x"}}})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Capture(ctx, d.sim.Window(console), nil)
	require.NoError(t, err)
	_, err = c.Capture(ctx, d.sim.Window(login), nil)
	refused(t, err, canvas.ToolDenied)
}

// paths tells windows' executables by their titles.
type paths struct {
	driver.Driver
	of map[string]string
}

func (p paths) Windows(ctx context.Context) ([]driver.Window, error) {
	all, err := p.Driver.Windows(ctx)
	for i := range all {
		all[i].Path = p.of[all[i].Title]
	}
	return all, err
}
