package drivertest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"slices"
)

// honest is the true answer to a request, as a line without its end.
func (s *server) honest(req request, name string, args json.RawMessage) []byte {
	var result any
	switch req.Method {
	case "initialize":
		var in struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(req.Params, &in) // a broken request gets a version it did not name
		result = map[string]any{
			"protocolVersion": cmp.Or(s.script.Protocol, in.ProtocolVersion, "2025-11-25"),
			"capabilities":    map[string]any{"tools": map[string]any{}, "resources": map[string]any{}},
			"serverInfo":      map[string]any{"name": cmp.Or(s.script.Name, "cua-driver"), "version": cmp.Or(s.script.Version, "0.37.0")},
			"instructions":    "drive the desktop",
		}
	case "ping":
		result = map[string]any{}
	case "tools/list":
		result = map[string]any{"tools": s.tools()}
	case "tools/call":
		r, ok := PlausibleResult(name, args)
		if !ok {
			r = refusal("permission_denied", fmt.Sprintf("Permission denied: tool '%s' has no reviewed risk classification", name))
		}
		result = r
	default:
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, req.ID)
	}
	data, err := json.Marshal(result)
	if err != nil {
		panic(err) // it is made of maps, strings and numbers
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, data)
}

// tools is what the server lists.
func (s *server) tools() []json.RawMessage {
	if s.script.Tools != nil {
		return s.script.Tools
	}
	var list []json.RawMessage
	for _, name := range plausibleTools {
		list = append(list, PlausibleTool(name, "does "+name))
	}
	return list
}

var plausibleTools = []string{
	"list_apps", "list_windows", "get_window_state", "bring_to_front", "click", "double_click", "right_click", "drag",
	"type_text", "press_key", "hotkey", "set_value", "scroll", "get_screen_size", "get_cursor_position",
	"start_session", "get_session", "end_session", "verify_state", "clipboard_read",
}

// PlausibleTool returns an entry of a tool list that takes any arguments.
func PlausibleTool(name, description string) json.RawMessage {
	data, err := json.Marshal(map[string]any{
		"name": name, "description": description, "capabilities": []string{"test"},
		"inputSchema": map[string]any{"type": "object", "additionalProperties": true},
		"risk":        map[string]any{"class": "r0", "version": "1"},
	})
	if err != nil {
		panic(err) // it is made of maps and strings
	}
	return data
}

// What the honest server's desktop holds: one window with a heading's worth of
// controls, in the shapes that 0.37 was seen to answer.
const (
	PlausiblePID    = 4242
	PlausibleWindow = 77
	PlausibleTitle  = "Lying Form"
)

var plausibleFrame = image.Rect(100, 80, 420, 280)

// PlausibleResult returns what a truthful cua-driver 0.37 would answer to a
// tool, and false for a tool that it does not have. It keeps no state: every
// snapshot has the number s00000001.
func PlausibleResult(tool string, args json.RawMessage) (map[string]any, bool) {
	var in struct {
		Session  string `json:"session"`
		WindowID uint64 `json:"window_id"`
	}
	_ = json.Unmarshal(args, &in) // a broken request names no window
	label := cmp.Or(in.Session, "implicit")
	switch tool {
	case "list_windows":
		return success("1 window", map[string]any{"windows": []any{plausibleWindow()}}), true
	case "list_apps":
		return success("1 app", map[string]any{"apps": []any{
			map[string]any{"name": "lying-form", "pid": PlausiblePID, "running": true, "active": true}}}), true
	case "get_window_state":
		if in.WindowID != PlausibleWindow {
			return refusal("tool_invocation_failed", fmt.Sprintf("window %d is stale or no longer running", in.WindowID)), true
		}
		return plausibleState(), true
	case "get_screen_size":
		return success("✅ Main display: 1600x1000 points @ 1x", map[string]any{"width": 1600, "height": 1000, "scale_factor": 1}), true
	case "get_cursor_position":
		return success("✅ Cursor at (800, 500)", map[string]any{"source": "x11", "x": 800, "y": 500}), true
	case "start_session":
		return success("✅ Session '"+label+"' is active.", map[string]any{
			"active": true, "capture_scope": "auto", "desktop_capture_authorized": false, "desktop_unlocked": false,
			"effective_scope": "window", "escalation_detail": nil, "escalation_reason": nil, "revived": false, "session": label}), true
	case "get_session":
		return success("Session is active.", map[string]any{
			"client_kind": "mcp", "cursor_visible": false, "expires_in_seconds": 299, "idle_seconds": 0,
			"implicit": in.Session == "", "recording_active": false, "session": in.Session, "state": "active",
			"transport": "mcp_stdio"}), true
	case "end_session":
		return success("✅ Session '"+label+"' ended.", map[string]any{"active": false, "session": label}), true
	}
	if slices.Contains(plausibleTools, tool) {
		return success("✅ done", map[string]any{"effect": "confirmed",
			"delivery": map[string]any{"mode": "background", "route": "accessibility"}}), true
	}
	return nil, false
}

func success(text string, structured map[string]any) map[string]any {
	return map[string]any{
		"content":           []any{map[string]any{"type": "text", "text": text}},
		"structuredContent": structured,
	}
}

// refusal is a result that refuses, as the driver does with a code of its own.
func refusal(code, text string) map[string]any {
	r := success(text, map[string]any{"code": code})
	r["isError"] = true
	return r
}

func plausibleWindow() map[string]any {
	r := plausibleFrame
	return map[string]any{
		"window_id": PlausibleWindow, "pid": PlausiblePID, "app_name": "lying-form", "title": PlausibleTitle,
		"bounds": rectangle(r, "width", "height"), "x": r.Min.X, "y": r.Min.Y, "width": r.Dx(), "height": r.Dy(),
		"is_on_screen": true, "z_index": 3,
	}
}

func rectangle(r image.Rectangle, width, height string) map[string]any {
	return map[string]any{"x": r.Min.X, "y": r.Min.Y, width: r.Dx(), height: r.Dy()}
}

// plausibleState is a window's state with its tree in full and a picture.
func plausibleState() map[string]any {
	elements := []any{
		plausibleElement(0, -1, "frame", PlausibleTitle, "", plausibleFrame),
		plausibleElement(1, 0, "entry", "Name", "Ada", image.Rect(120, 120, 320, 150)),
		plausibleElement(2, 0, "password text", "Password", "", image.Rect(120, 160, 320, 190)),
		plausibleElement(3, 0, "push button", "Save", "", image.Rect(120, 220, 200, 250)),
	}
	size := plausibleFrame.Size()
	r := success("4 elements", map[string]any{
		"elements": elements, "snapshot_id": "s00000001", "element_count": 4, "total_element_count": 4,
		"returned_element_count": 4, "elements_complete": true, "truncated": false, "bounds_complete": true,
		"nodes_visited": 4, "nodes_pending": 0, "timeout_ms": 30000, "capture_id": "c1",
		"window_bounds": rectangle(plausibleFrame, "width", "height"), "window_title": PlausibleTitle,
		"app_name": "lying-form", "pid": PlausiblePID, "window_id": PlausibleWindow,
		"screenshot_width": size.X, "screenshot_height": size.Y, "screenshot_frame_valid": true,
		"tree_markdown": "- frame \"" + PlausibleTitle + "\"\n  - static \"token tok_never_shown_by_us\"\n",
	})
	r["content"] = append(r["content"].([]any), map[string]any{"type": "image", "mimeType": "image/png",
		"data": base64.StdEncoding.EncodeToString(Flat(size, color.White))})
	return r
}

func plausibleElement(index, parent int, role, label, value string, at image.Rectangle) map[string]any {
	e := map[string]any{
		"element_index": index, "element_token": fmt.Sprintf("s00000001:%d", index), "role": role, "label": label,
		"value": value, "enabled": true, "selected": false, "actions": []string{"click"}, "depth": min(index, 1),
		"frame": rectangle(at, "w", "h"), "screenshot_frame": rectangle(at.Sub(plausibleFrame.Min), "w", "h"),
	}
	if parent >= 0 {
		e["parent_index"] = parent
	}
	return e
}
