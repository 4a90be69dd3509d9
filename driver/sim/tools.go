package sim

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

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
// nor input; all others are ErrUnsupported. It returns the whole result of the
// call in the real driver's shape, which is a result too where it refuses.
func (d *Desktop) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if err := d.enter(ctx); err != nil {
		return nil, err
	}
	defer d.mu.Unlock()
	strict := false
	switch name {
	case "get_screen_size", "get_cursor_position":
		strict = true
	case "get_session", "start_session", "end_session":
	default:
		return nil, driver.ErrUnsupported
	}
	label, ok := sessionLabel(args, strict)
	if !ok {
		return refusal("invalid_arguments", name+": invalid arguments")
	}
	key := label
	if key == "" {
		key = "implicit"
	}
	alive, known := d.sessions[key]
	if known && !alive && name != "start_session" && name != "end_session" {
		return refusal("session_ended", fmt.Sprintf(
			"session '%[1]s' has ended; call start_session with session '%[1]s' to start it again, or use a new session label", key))
	}
	switch name {
	case "get_screen_size":
		return reply(fmt.Sprintf("✅ Main display: %dx%d points @ 1x", screen.Dx(), screen.Dy()),
			map[string]any{"height": screen.Dy(), "scale_factor": json.Number("1.0"), "width": screen.Dx()})
	case "get_cursor_position":
		return reply(fmt.Sprintf("✅ Cursor at (%d, %d)", d.pointer.X, d.pointer.Y),
			map[string]any{"source": "sim", "x": d.pointer.X, "y": d.pointer.Y})
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
	if label != "" && !known {
		return failure("session is not visible to this transport", map[string]any{"code": "session_not_started"})
	}
	return describeSession(label)
}

// sessionLabel reads the one argument that all these tools take; a strict one
// takes no other.
func sessionLabel(args json.RawMessage, strict bool) (label string, ok bool) {
	var in map[string]json.RawMessage
	if len(args) != 0 && json.Unmarshal(args, &in) != nil {
		return "", false
	}
	for k, v := range in {
		if k == "session" && json.Unmarshal(v, &label) != nil || k != "session" && strict {
			return "", false
		}
	}
	return label, true
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

// refusal is the result of a call that did nothing.
func refusal(code, text string) (json.RawMessage, error) {
	return failure(text, map[string]any{"refusal": map[string]string{"code": code, "message": text}, "status": "refused"})
}

func failure(text string, structured map[string]any) (json.RawMessage, error) {
	return json.Marshal(map[string]any{
		"content":           []map[string]string{{"text": text, "type": "text"}},
		"isError":           true,
		"structuredContent": structured,
	})
}
