package sim

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/permission-canvas/permission-canvas/driver"
)

// toolsJSON is a part of what cua-driver 0.37.0 listed; recorded.go made it.
//
//go:embed tools.json
var toolsJSON []byte

// Version is the version of cua-driver whose tools are served.
const Version = "0.37.0"

// Tools implements driver.Tooler with the entries of cua-driver 0.37.0 that a
// guarded desktop uses or that touch neither screen nor input.
func (d *Desktop) Tools(ctx context.Context) (driver.Tools, error) {
	if err := d.enter(ctx); err != nil {
		return driver.Tools{}, err
	}
	d.mu.Unlock()
	list, err := recordedTools()
	if err != nil {
		return driver.Tools{}, err
	}
	return driver.Tools{Version: Version, Entries: list}, nil
}

func recordedTools() ([]driver.Tool, error) {
	var raws []json.RawMessage
	if err := json.Unmarshal(toolsJSON, &raws); err != nil {
		return nil, fmt.Errorf("sim: tools.json: %w", err)
	}
	list := make([]driver.Tool, len(raws))
	for i, raw := range raws {
		var entry struct{ Name string }
		if err := json.Unmarshal(raw, &entry); err != nil {
			return nil, fmt.Errorf("sim: tools.json: %w", err)
		}
		list[i] = driver.Tool{Name: entry.Name, Raw: raw}
	}
	return list, nil
}

// CallTool implements driver.Tooler for the tools that touch neither screen
// nor input. It returns the whole result of the call in the real driver's
// shape. The tools that Windows, Snapshot and Do stand for are ErrUnsupported
// here, all others ErrRefused.
func (d *Desktop) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if err := d.enter(ctx); err != nil {
		return nil, err
	}
	defer d.mu.Unlock()
	if !isHarmless(name) {
		return nil, notHarmless(name)
	}
	label, err := sessionLabel(name, args)
	if err != nil {
		return nil, err
	}
	key := label
	if key == "" {
		key = "implicit"
	}
	alive, known := d.sessions[key]
	if known && !alive && name != "start_session" && name != "end_session" {
		return nil, driver.ErrSessionEnded
	}
	switch name {
	case "get_screen_size":
		return reply(fmt.Sprintf("✅ Main display: %dx%d points @ 1x", screen.Dx(), screen.Dy()),
			map[string]any{"height": screen.Dy(), "scale_factor": json.Number("1.0"), "width": screen.Dx()})
	case "get_cursor_position":
		return reply(fmt.Sprintf("✅ Cursor at (%d, %d)", d.pointer.X, d.pointer.Y),
			map[string]any{"source": "sim", "x": d.pointer.X, "y": d.pointer.Y})
	case "get_session":
		if label != "" && !known {
			return nil, errRefused("session is not started")
		}
		return describeSession(label)
	case "end_session":
		d.sessions[key] = false
		return reply(fmt.Sprintf("✅ Session '%s' ended.", key), map[string]any{"active": false, "session": key})
	case "start_session":
		d.sessions[key] = true
		return reply(fmt.Sprintf("✅ Session '%s' is active.", key), map[string]any{
			"active": true, "capture_scope": "auto", "desktop_capture_authorized": false, "desktop_unlocked": false,
			"effective_scope": "window", "escalation_detail": nil, "escalation_reason": nil,
			"revived": known && !alive, "session": key})
	}
	return nil, notHarmless(name)
}

// notHarmless is why CallTool does not answer to a tool.
func notHarmless(tool string) error {
	list, err := recordedTools()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(t driver.Tool) bool { return t.Name == tool }) {
		return driver.ErrUnsupported
	}
	return errRefused("no such tool")
}

// isHarmless reports whether CallTool answers to a tool.
func isHarmless(tool string) bool {
	return slices.Contains([]string{"get_screen_size", "get_cursor_position", "get_session", "start_session", "end_session"}, tool)
}

// sessionLabel reads the one argument that all these tools take. Where the
// real tool refuses further ones, so does this.
func sessionLabel(name string, args json.RawMessage) (string, error) {
	var in map[string]json.RawMessage
	if len(args) != 0 {
		if err := json.Unmarshal(args, &in); err != nil {
			return "", errRefused("arguments are not an object")
		}
	}
	var label string
	for k, v := range in {
		switch {
		case k == "session":
			if err := json.Unmarshal(v, &label); err != nil {
				return "", errRefused("session is not a string")
			}
		case name == "get_screen_size" || name == "get_cursor_position":
			return "", errRefused("unknown argument")
		}
	}
	return label, nil
}

func describeSession(label string) (json.RawMessage, error) {
	session := any(label)
	if label == "" {
		session = nil
	}
	return reply("Session is active.", map[string]any{
		"client_kind": "mcp", "cursor_visible": false, "expires_in_seconds": 299, "idle_seconds": 0,
		"implicit": label == "", "recording_active": false, "session": session, "state": "active",
		"transport": "mcp_stdio"})
}

// reply is a tool's result as it stands on the wire.
func reply(text string, structured map[string]any) (json.RawMessage, error) {
	return json.Marshal(map[string]any{
		"content":           []map[string]string{{"text": text, "type": "text"}},
		"structuredContent": structured,
	})
}
