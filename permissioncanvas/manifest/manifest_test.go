package manifest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/manifest"
)

// The head of a manifest that grants enough for bounded mode.
const head = "version: 3\nexpires_after: 30m\nidle_timeout: 10m\n"

const tools = "allow: {tools: [list_windows, get_window_state, click]}\n"

// A text is a file, and why it is none, "" where it is one.
type text struct {
	name, yaml, why string
}

// texts are read by this package's tests and by the real drivers: no driver
// may refuse what is read here.
func texts() []text {
	return []text{
		{"yaml", head + tools + "resources: {desktop: {display: true, windows: [{pid: 42, window_id: 77}]}}\n", ""},
		{"json", `{"version":3,"allow":{"tools":["click"]},"resources":{"apps":[{"executable":"/usr/bin/true"}]}}`, ""},
		{"version 1", strings.Replace(head, "3", "1\nmode: bounded", 1) + tools, ""},
		{"version 2", strings.Replace(head, "3", "2\nmode: autonomous", 1) + tools + "ask: {tools: [scroll]}\ndeny: {tools: [drag]}\n", ""},
		{"an old tool name", head + "allow: {tools: [type_text_chars]}\n", ""},
		{"empty parts", head + tools + "deny:\nresources:\n", ""},
		{"comments", "# who and why\n" + head + tools + "# end\n", ""},
		{"everything", head + "allow:\n  tools: [browser_navigate]\nresources:\n" +
			"  apps:\n    - {bundle_id: com.acme.editor, launch: true, windows: all, terminate: driver_launched}\n" +
			"  browser:\n    origins: ['https://acme.example']\n    profiles: [{kind: isolated}]\n    existing_profiles: [{pid: 4, window_id: 5}]\n" +
			"  desktop: {applications: [7]}\n  files: {read: [/var/empty], write: [{dir: /var/empty, recursive: true}]}\n" +
			"  processes: {terminate: [9]}\n  driver_configuration: {changes: [{key: theme, value: {a: [1]}}]}\n" +
			"  computer_history: {operations: [status, query]}\n", ""},

		{"empty", "", "empty"},
		{"only a comment", "# nothing\n", "nothing"},
		{"no mapping", "- version: 3\n", "one mapping"},
		{"not YAML", "version: [3\n", "not YAML"},
		{"a byte order mark", "\ufeff" + head + tools, "byte order mark"},
		{"not UTF-8", head + tools + "# \xff\n", "UTF-8"},
		{"two documents", head + tools + "---\nversion: 3\n", "more than one"},
		{"too long", head + tools + strings.Repeat("#", 300<<10), "longer"},
		{"too deep", head + tools + "resources: {driver_configuration: {changes: [{key: a, value: " + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "}]}}\n", "deeply"},
		{"an unknown key", head + tools + "extra: 1\n", `unknown key "extra"`},
		{"another case", head + strings.Replace(tools, "allow", "Allow", 1), `unknown key "Allow"`},
		{"an unknown part", head + tools + "resources: {screen: true}\n", `resources: unknown key "screen"`},
		{"a key twice", head + tools + tools, `key "allow" stands twice`},
		{"a key twice within", head + "allow: {tools: [click], tools: [drag]}\n", `key "tools" stands twice`},
		{"an anchor", strings.Replace(head, "10m", "&x 10m", 1) + tools, "anchors"},
		{"an alias", "version: 3\nexpires_after: &x 30m\nidle_timeout: *x\n" + tools, "anchors"},
		{"a tag", strings.Replace(head, "10m", "!!str 10m", 1) + tools, "tags"},
		{"a merge", head + tools + "resources: {desktop: {<<: {display: true}}}\n", "unknown key"},
		{"no version", tools, "version 0"},
		{"version 4", strings.Replace(head, "3", "4", 1) + tools, "version 4"},
		{"a version as text", strings.Replace(head, "3", `"3"`, 1) + tools, "whole number"},
		{"a number in hex", head + tools + "resources: {desktop: {windows: [{pid: 0x10, window_id: 5}]}}\n", "whole number"},
		{"a number too large", head + tools + "resources: {desktop: {windows: [{pid: 9007199254740993, window_id: 5}]}}\n", "whole number"},
		{"a window without id", head + tools + "resources: {desktop: {windows: [{pid: 4}]}}\n", "window_id"},
		{"a negative process", head + tools + "resources: {desktop: {applications: [-4]}}\n", "positive"},
		{"a truth of another kind", head + tools + "resources: {desktop: {display: yes}}\n", "true or false"},
		{"a truth shouted", head + tools + "resources: {desktop: {display: TRUE}}\n", "true or false"},
		{"a mode in version 3", head + "mode: bounded\n" + tools, "no mode"},
		{"another mode in version 2", strings.Replace(head, "3", "2\nmode: standard", 1) + tools, "mode: bounded"},
		{"version 2 without lifetimes", "version: 2\nmode: bounded\n" + tools, "needs expires_after"},
		{"asking in version 3", head + tools + "ask: {tools: [drag]}\n", "no ask"},
		{"apps in version 1", strings.Replace(head, "3", "1\nmode: bounded", 1) + tools + "resources: {apps: [{bundle_id: a}]}\n", "version 1"},
		{"history in version 2", strings.Replace(head, "3", "2\nmode: bounded", 1) + tools + "resources: {computer_history: {operations: [status]}}\n", "computer_history"},
		{"no tools", head, "names no tool"},
		{"a tool twice", head + "allow: {tools: [click, click]}\n", "stands twice"},
		{"a tool twice by its names", head + "allow: {tools: [type_text, type_text_chars]}\n", "stands twice"},
		{"allowed and denied", head + tools + "deny: {tools: [click]}\n", "both allowed and not"},
		{"a tool in capitals", head + "allow: {tools: [Click]}\n", "tool's name"},
		{"a tool that is a number", head + "allow: {tools: [5]}\n", "text belongs"},
		{"tools that are none", head + "allow: {tools: click}\n", "a list"},
		{"a part that is none", head + tools + "resources: [a]\n", "a mapping"},
		{"no unit", strings.Replace(head, "30m", "'30'", 1) + tools, "duration"},
		{"a day", strings.Replace(head, "30m", "1d", 1) + tools, "duration"},
		{"too long a life", strings.Replace(head, "30m", "25h", 1) + tools, "at most 24h"},
		{"a number that overflows", strings.Replace(head, "30m", "999999999h", 1) + tools, "at most 24h"},
		{"no life", strings.Replace(head, "10m", "0m", 1) + tools, "more than nothing"},
		{"idle for longer than it lives", strings.Replace(head, "10m", "31m", 1) + tools, "longer than expires_after"},
		{"an app with two names", head + tools + "resources: {apps: [{bundle_id: a, executable: /bin/b}]}\n", "one of the two"},
		{"an app without a name", head + tools + "resources: {apps: [{launch: true}]}\n", "one of the two"},
		{"an app by a bare name", head + tools + "resources: {apps: [{executable: mousepad}]}\n", "absolute"},
		{"an app that climbs", head + tools + "resources: {apps: [{executable: /usr/../bin/x}]}\n", "absolute"},
		{"an app twice", head + tools + "resources: {apps: [{bundle_id: a}, {bundle_id: a}]}\n", "stands twice"},
		{"some windows of an app", head + tools + "resources: {apps: [{bundle_id: a, windows: first}]}\n", "only be all"},
		{"another end of an app", head + tools + "resources: {apps: [{bundle_id: a, terminate: yes_please}]}\n", "terminate is"},
		{"origins and clicks", head + tools + "resources: {browser: {origins: ['https://acme.example']}}\n", "reach past"},
		{"an origin with a path", head + "allow: {tools: [browser_navigate]}\nresources: {browser: {origins: ['https://acme.example/a']}}\n", "origin"},
		{"an origin of a file", head + "allow: {tools: [browser_navigate]}\nresources: {browser: {origins: ['file:///etc']}}\n", "origin"},
		{"another profile", head + tools + "resources: {browser: {profiles: [{kind: mine}]}}\n", "kind is"},
		{"a relative path", head + tools + "resources: {files: {read: [etc]}}\n", "absolute path"},
		{"more about a directory", head + tools + "resources: {files: {read: [{dir: /etc, deep: true}]}}\n", "unknown key"},
		{"a retired setting", head + tools + "resources: {driver_configuration: {changes: [{key: capture_scope, value: 1}]}}\n", "setting"},
		{"another operation", head + tools + "resources: {computer_history: {operations: [delete]}}\n", "operation is"},
	}
}

func TestPC23Parse(t *testing.T) {
	for _, tt := range texts() {
		t.Run(tt.name, func(t *testing.T) {
			m, err := manifest.Parse([]byte(tt.yaml), nil)
			if tt.why == "" {
				require.NoError(t, err)
				require.Equal(t, tt.yaml, string(m.Bytes()))
				require.Len(t, m.Hash(), 64)
				return
			}
			require.Nil(t, m)
			require.ErrorContains(t, err, tt.why)
			require.ErrorAs(t, err, new(*manifest.FormError))
		})
	}
}

func TestPC23Place(t *testing.T) {
	_, err := manifest.Parse([]byte(head+tools+"resources:\n  desktop:\n    display: yes\n"), nil)
	require.EqualError(t, err, "7:14: resources.desktop.display: true or false belongs here")
}

func TestPC23Frozen(t *testing.T) {
	data := []byte(head + tools)
	m, err := manifest.Parse(data, nil)
	require.NoError(t, err)
	hash := m.Hash()
	data[0] = '#'
	m.Bytes()[0] = '#'
	require.Equal(t, head+tools, string(m.Bytes()))
	require.Equal(t, hash, m.Hash())
	require.Equal(t, 3, m.Version())
	require.Equal(t, int64(1800), m.Expires())
	require.Equal(t, int64(600), m.Idle())

	other, err := manifest.Parse([]byte(head+tools+"\n"), nil)
	require.NoError(t, err)
	require.NotEqual(t, hash, other.Hash())
}

func TestPC23Bounded(t *testing.T) {
	for text, ok := range map[string]bool{
		head + tools:           true,
		"version: 3\n" + tools: false,
		"version: 3\nexpires_after: 90s\n" + tools:                  false,
		"version: 3\nidle_timeout: 8h\n" + tools:                    false,
		"version: 3\nidle_timeout: 8h\nexpires_after: 8h\n" + tools: true,
	} {
		m, err := manifest.Parse([]byte(text), nil)
		require.NoError(t, err)
		require.Equal(t, ok, m.Bounded() == nil, text)
	}
}

func TestPC23Check(t *testing.T) {
	granted := manifest.Window{PID: 42, ID: 77}
	parse := func(resources string) *manifest.Manifest {
		m, err := manifest.Parse([]byte(head+"allow: {tools: [list_windows, get_window_state, click, type_text_chars, get_session, brand_new]}\ndeny: {tools: [drag]}\nresources: "+resources+"\n"),
			&manifest.Options{Resolve: func(p string) (string, error) { return strings.Replace(p, "/link/", "/real/", 1), nil }})
		require.NoError(t, err)
		return m
	}
	byWindow := parse("{desktop: {windows: [{pid: 42, window_id: 77}]}}")
	byApp := parse("{apps: [{executable: /link/editor}, {bundle_id: com.acme.editor}]}")
	byPID := parse("{desktop: {applications: [42]}}")
	display := parse("{desktop: {display: true}}")
	byProfile := parse("{browser: {existing_profiles: [{pid: 42, window_id: 77}]}}")

	for _, tt := range []struct {
		name   string
		m      *manifest.Manifest
		call   manifest.Call
		target manifest.Target
		denied bool
	}{
		{"the window", byWindow, manifest.Call{Tool: "click", Window: granted}, 0, false},
		{"a profile's window", byProfile, manifest.Call{Tool: "click", Window: granted}, 0, false},
		{"an old tool name", byWindow, manifest.Call{Tool: "type_text", Window: granted}, 0, false},
		{"another window", byWindow, manifest.Call{Tool: "click", Window: manifest.Window{PID: 42, ID: 78}}, manifest.ToWindow, true},
		{"a recycled id", byWindow, manifest.Call{Tool: "click", Window: manifest.Window{PID: 43, ID: 77}}, manifest.ToWindow, true},
		{"no window", byWindow, manifest.Call{Tool: "click"}, manifest.ToWindow, true},
		{"an unknown tool reaches a window", byWindow, manifest.Call{Tool: "brand_new"}, manifest.ToWindow, true},
		{"a tool not named", byWindow, manifest.Call{Tool: "scroll", Window: granted}, manifest.ToNothing, true},
		{"a tool denied", byWindow, manifest.Call{Tool: "drag", Window: granted}, manifest.ToNothing, true},
		{"the list without the display", byWindow, manifest.Call{Tool: "list_windows"}, manifest.ToDisplay, true},
		{"the list", display, manifest.Call{Tool: "list_windows"}, 0, false},
		{"the display is no window", display, manifest.Call{Tool: "click", Window: granted}, manifest.ToWindow, true},
		{"neither", byWindow, manifest.Call{Tool: "get_session"}, 0, false},
		{"an executable", byApp, manifest.Call{Tool: "click", Window: granted, Executable: "/real/editor"}, 0, false},
		{"an executable as written", byApp, manifest.Call{Tool: "click", Window: granted, Executable: "/link/editor"}, manifest.ToWindow, true},
		{"an executable not known", byApp, manifest.Call{Tool: "click", Window: granted}, manifest.ToWindow, true},
		{"a bundle", byApp, manifest.Call{Tool: "click", Window: granted, Bundle: "com.acme.editor"}, 0, false},
		{"a process is no window", byPID, manifest.Call{Tool: "click", Window: granted}, manifest.ToWindow, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.m.Check(tt.call)
			if !tt.denied {
				require.NoError(t, err)
				return
			}
			var e *manifest.DeniedError
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.call.Tool, e.Tool)
			require.Equal(t, tt.target, e.Target)
			require.Contains(t, e.Error(), tt.call.Tool)
			require.Contains(t, e.Error(), "capability manifest")
		})
	}
	require.Equal(t, []string{"brand_new", "click", "get_session", "get_window_state", "list_windows", "type_text"}, byWindow.Tools())
	require.False(t, byWindow.Display())
	require.True(t, display.Display())
}

func TestPC23ExecutableNotFound(t *testing.T) {
	gone := errors.New("gone")
	_, err := manifest.Parse([]byte(head+tools+"resources: {apps: [{executable: /bin/x}]}\n"),
		&manifest.Options{Resolve: func(string) (string, error) { return "", gone }})
	require.ErrorIs(t, err, gone)
}

func FuzzParse(f *testing.F) {
	for _, tt := range texts() {
		f.Add([]byte(tt.yaml))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := manifest.Parse(data, nil)
		if err != nil {
			require.Nil(t, m)
			return
		}
		require.NotEmpty(t, m.Tools())
		again, err := manifest.Parse(m.Bytes(), nil)
		require.NoError(t, err)
		require.Equal(t, m.Hash(), again.Hash())
		require.Error(t, m.Check(manifest.Call{Tool: m.Tools()[0] + "x", Window: manifest.Window{PID: 1, ID: 1}}))
	})
}
