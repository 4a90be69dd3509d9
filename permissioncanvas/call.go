package permissioncanvas

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
)

// rect is a rectangle as the driver's replies spell one.
type rect struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"width"`
	H int `json:"height"`
}

func rectOf(r image.Rectangle) rect { return rect{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} }

// windowEntry is a window in the reply of list_windows, in the driver's keys.
type windowEntry struct {
	PID      int    `json:"pid"`
	ID       uint64 `json:"window_id"`
	App      string `json:"app_name"`
	Title    string `json:"title"`
	Bounds   rect   `json:"bounds"`
	OnScreen bool   `json:"is_on_screen"`
	Z        int    `json:"z_index"`
}

func (c *Canvas) callListWindows(ctx context.Context, in *callArguments) (ToolResult, error) {
	app, err := take(in, "app", "")
	if err == nil {
		_, err = take(in, "on_screen_only", false)
	}
	if err == nil {
		err = in.unused()
	}
	var ws []Window
	others := 0
	if err == nil {
		ws, others, err = c.windows(ctx)
	}
	if err != nil {
		return ToolResult{}, c.refused(ctx, err, map[string]string{"act": "list_windows"})
	}
	list := []windowEntry{}
	for i, w := range ws {
		if in.window.PID != 0 && in.window.PID != w.Ref.PID || app != "" && !containsFold(w.App, app) {
			continue
		}
		list = append(list, windowEntry{w.Ref.PID, w.Ref.ID, w.App, w.Title, rectOf(w.Bounds), true, len(ws) - 1 - i})
	}
	return ToolResult{
		Text:       listText(list, others),
		Structured: map[string]any{"windows": list, "other_windows": others},
	}, nil
}

func (c *Canvas) callListApps(ctx context.Context, in *callArguments) (ToolResult, error) {
	err := in.unused()
	var ws []Window
	if err == nil {
		ws, _, err = c.windows(ctx)
	}
	if err != nil {
		return ToolResult{}, c.refused(ctx, err, map[string]string{"act": "list_apps"})
	}
	type app struct {
		Name    string `json:"name"`
		PID     int    `json:"pid"`
		Running bool   `json:"running"`
	}
	apps, seen := []app{}, map[int]bool{}
	text := "Apps with a window the person chose for you:\n"
	for _, w := range ws {
		if !seen[w.Ref.PID] {
			seen[w.Ref.PID] = true
			apps = append(apps, app{w.App, w.Ref.PID, true})
			text += "- " + w.App + "\n"
		}
	}
	return ToolResult{Text: text, Structured: map[string]any{"apps": apps}}, nil
}

// stateElement is an element in the reply of get_window_state.
type stateElement struct {
	Index  int    `json:"element_index"`
	Token  Token  `json:"element_token"`
	Role   string `json:"role"`
	Label  string `json:"label,omitempty"`
	Value  string `json:"value,omitempty"`
	Parent *int   `json:"parent_index,omitempty"`
	Frame  *frame `json:"screenshot_frame,omitempty"`
	Level  Level  `json:"level,omitempty"`
}

// frame is an element's place in the picture.
type frame struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

func (c *Canvas) callWindowState(ctx context.Context, in *callArguments) (ToolResult, error) {
	o, tree, err := in.captureOptions()
	if err == nil {
		err = in.unused()
	}
	if err != nil {
		return ToolResult{}, c.refused(ctx, err, map[string]string{"act": "get_window_state"})
	}
	obs, s, err := c.capture(ctx, in.window, o, in.session)
	if err != nil {
		return ToolResult{}, err
	}
	w := obs.Window()
	reply := map[string]any{
		"pid": w.Ref.PID, "window_id": w.Ref.ID, "app_name": w.App, "window_title": w.Title,
		"window_bounds": rectOf(w.Bounds), "snapshot_id": s.id(), "covered": obs.Covered(),
		"expires_at": obs.Expires().UTC().Format(time.RFC3339),
	}
	out := ToolResult{Image: obs.PNG(), Structured: reply}
	if out.Image != nil {
		reply["screenshot_width"], reply["screenshot_height"] = obs.Size().X, obs.Size().Y
		reply["screenshot_mime_type"] = "image/png"
	}
	if tree {
		out.Text = obs.Text()
		elements := stateElements(obs)
		reply["tree_markdown"], reply["elements"] = obs.Text(), elements
		reply["element_count"], reply["returned_element_count"] = len(elements), len(elements)
	}
	return out, nil
}

func stateElements(obs *Observation) []stateElement {
	list := []stateElement{}
	for e := range obs.Elements() {
		se := stateElement{Index: e.Index, Token: e.Token, Role: e.Role, Label: e.Label, Value: e.Value, Level: e.Level}
		if e.Parent >= 0 {
			se.Parent = &e.Parent
		}
		if !e.Bounds.Empty() {
			se.Frame = &frame{e.Bounds.Min.X, e.Bounds.Min.Y, e.Bounds.Dx(), e.Bounds.Dy()}
		}
		list = append(list, se)
	}
	return list
}

// captureOptions reads what get_window_state takes. Keys that only choose
// among the driver's forms of one reply are read and change nothing; one that
// would write a file is left to be refused.
func (in *callArguments) captureOptions() (o *CaptureOptions, tree bool, err error) {
	o = &CaptureOptions{}
	var image bool
	read := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	read(func() (e error) { image, e = take(in, "include_screenshot", true); return })
	read(func() (e error) { tree, e = take(in, "include_accessibility_tree", true); return })
	read(func() (e error) { o.Query, e = take(in, "query", ""); return })
	read(func() (e error) { o.MaxElements, e = takeInt(in, "max_elements", 0); return })
	read(func() (e error) { o.MaxSide, e = takeInt(in, "max_image_dimension", 0); return })
	read(func() error {
		side, e := takeInt(in, "max_dimension", 0)
		if side > 0 && (o.MaxSide == 0 || side < o.MaxSide) {
			o.MaxSide = side
		}
		return e
	})
	for _, form := range []string{"full_output", "verbose", "timeout_ms", "tree_format", "max_depth", "since", "capture_mode"} {
		read(func() error { _, e := take(in, form, json.RawMessage(nil)); return e })
	}
	if err == nil && !image && !tree {
		err = refuse(BadRequest, nil, "Ask for the tree, the screenshot or both.")
	}
	o.NoImage = !image
	return o, tree, err
}

// actionResult is the reply to an act, in a form that every version of the
// driver's output schema admits.
func actionResult(tool string, r Result) ToolResult {
	return ToolResult{
		Text: "Done (" + tool + ", " + string(r.Effect) + "). Capture to see what came of it.",
		Structured: map[string]any{
			"status": "done", "effect": r.Effect, "next_call": "get_window_state",
		},
	}
}

// callHarmless answers the tools that touch neither screen nor input. A
// session label is a name in this connection and nothing in the driver: the
// driver's own session is this Canvas's.
func (c *Canvas) callHarmless(ctx context.Context, tool string, in *callArguments) (ToolResult, error) {
	switch tool {
	case "start_session":
		for _, k := range []string{"capture_scope", "cursor_motion", "cursor_theme"} {
			delete(in.left, k) // how the driver's own pointer looks; the scope is always a window
		}
	case "get_screen_size", "get_cursor_position":
		if err := in.unused(); err != nil {
			return ToolResult{}, c.refused(ctx, err, map[string]string{"act": tool})
		}
		return c.numbers(ctx, tool)
	}
	if err := in.unused(); err != nil {
		return ToolResult{}, c.refused(ctx, err, map[string]string{"act": tool})
	}
	reply := map[string]any{"session": in.session, "active": true}
	text := "The session is active."
	switch tool {
	case "start_session":
		reply["capture_scope"], reply["effective_scope"] = "window", "window"
		reply["desktop_capture_authorized"], reply["desktop_unlocked"] = false, false
		reply["escalation_reason"], reply["escalation_detail"], reply["revived"] = nil, nil, false
	case "end_session":
		c.endLabel(ctx, in.session)
		reply["active"], text = false, "The session has ended; its tokens are gone."
	case "get_session":
		reply["implicit"], reply["state"], reply["client_kind"] = in.session == "", "active", "mcp"
		reply["transport"], reply["cursor_visible"], reply["recording_active"] = "mcp_stdio", true, false
		reply["idle_seconds"], reply["expires_in_seconds"] = 0, int(lifetime/time.Second)
	}
	return ToolResult{Text: text, Structured: reply}, nil
}

// endLabel ends every token that the conversation label holds.
func (c *Canvas) endLabel(ctx context.Context, label string) {
	c.mu.Lock()
	var gone []WindowRef
	for w, s := range c.seen {
		if s.label == label {
			gone = append(gone, w)
		}
	}
	c.mu.Unlock()
	for _, w := range gone {
		c.drop(ctx, w)
	}
}

// numbers passes on the known numbers of a driver's reply and nothing else.
func (c *Canvas) numbers(ctx context.Context, tool string) (ToolResult, error) {
	fields := map[string]string{"act": tool}
	leave, _, err := c.enter()
	if err != nil {
		return ToolResult{}, c.refused(ctx, err, fields)
	}
	defer leave()
	t, ok := c.desktop.(driver.Tooler)
	if !ok {
		return ToolResult{}, c.refused(ctx, driverError(driver.ErrUnsupported), fields)
	}
	raw, err := t.CallTool(ctx, tool, json.RawMessage("{}"))
	if err != nil {
		return ToolResult{}, c.refused(ctx, driverError(err), fields)
	}
	var reply struct {
		Structured struct {
			Width  *float64 `json:"width,omitempty"`
			Height *float64 `json:"height,omitempty"`
			Scale  *float64 `json:"scale_factor,omitempty"`
			X      *float64 `json:"x,omitempty"`
			Y      *float64 `json:"y,omitempty"`
		} `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return ToolResult{}, c.refused(ctx, driverError(err), fields)
	}
	return ToolResult{Text: string(canonical(reply.Structured)), Structured: reply.Structured}, nil
}

// containsFold reports whether s contains part in any case.
func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// listText is the list of windows for a model to read.
func listText(list []windowEntry, others int) string {
	var b strings.Builder
	for _, w := range list {
		fmt.Fprintf(&b, "- %s %q (pid %d, window_id %d)\n", w.App, w.Title, w.PID, w.ID)
	}
	fmt.Fprintf(&b, "You see %d of %d windows; the person chose them.\n", len(list), len(list)+others)
	return b.String()
}
