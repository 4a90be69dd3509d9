package permissioncanvas

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// Tools is the Backend under the driver's own tool names, for hosts that
// speak them. Every error is an *Error.
type Tools interface {
	// Tools returns what can be called now: the driver's entries as it
	// describes them, without those that the person's settings deny and those
	// that would go past the rules.
	Tools(ctx context.Context) ([]Tool, error)
	// Call answers one call. Names that observe or act become Capture,
	// ListWindows or Act; a name that is not in Tools is refused. Arguments
	// are one JSON object, the session label among them.
	Call(ctx context.Context, name string, args json.RawMessage) (ToolResult, error)
}

// A Tool is one entry of a tool list.
type Tool struct {
	Name string
	Raw  json.RawMessage // the whole entry, to be served as it is
}

// ToolResult is the answer to a call.
type ToolResult struct {
	Text       string
	Image      []byte // PNG, or nil
	Structured any    // marshals to one JSON object
}

// IsAct reports whether a call of name goes to the desktop in the order of
// arrival: it acts, or ends what earlier calls returned.
func IsAct(name string) bool {
	c := guard.Canonical(name)
	return guard.CoverageOf(c) == guard.Enforced && c != "list_windows" && c != "list_apps"
}

// Tools returns what can be called now.
func (c *Canvas) Tools(ctx context.Context) ([]Tool, error) {
	t, ok := c.desktop.(driver.Tooler)
	if !ok {
		return nil, refuse(DriverFailed, driver.ErrUnsupported)
	}
	listed, err := t.Tools(ctx)
	if err != nil {
		return nil, driverError(err)
	}
	rules, err := c.rules()
	if err != nil {
		// The list says nothing of the screen, and each call is refused with
		// the reason: a host that starts on a broken file can say so.
		rules, err = policy.Compile(policy.New())
		if err != nil {
			return nil, refuse(PolicyInvalid, err)
		}
	}
	cfg := c.guard(rules)
	known, ok := guard.Known(listed.Version)
	if !ok {
		known = guard.Recorded()
	}
	var out []Tool
	for _, e := range listed.Entries {
		d := cfg.Decide(e.Name)
		if d.Tier == guard.Deny || guard.Canonical(e.Name) != e.Name {
			continue
		}
		raw, err := plainEntry(e, known)
		if err != nil {
			return nil, refuse(DriverFailed, err)
		}
		if raw != nil {
			out = append(out, Tool{Name: e.Name, Raw: raw})
		}
	}
	if len(out) == 0 {
		return nil, refuse(DriverFailed, errors.New("the driver lists no tool that can be used"))
	}
	return out, nil
}

// plainEntry returns e as it is where all of it is on record. Where only its
// input schema is, that goes out with a name and a description that is on
// record or ours; where not even that is, nothing does. Every word in an entry
// is a text for the model, and the driver's may have been changed (D44).
func plainEntry(e driver.Tool, known guard.Catalogue) (json.RawMessage, error) {
	var entry struct {
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if err := json.Unmarshal(e.Raw, &entry); err != nil {
		return nil, err
	}
	if known.EntryKnown(e.Name, e.Raw) {
		return e.Raw, nil
	}
	if !known.SchemaKnown(e.Name, entry.InputSchema) {
		return nil, nil
	}
	description := entry.Description
	if !known.DescriptionKnown(e.Name, description) {
		description = "The driver's tool " + e.Name + ", under the person's rules."
	}
	return canonical(map[string]any{"name": e.Name, "description": description, "inputSchema": entry.InputSchema}), nil
}

// Call answers one call of a tool.
func (c *Canvas) Call(ctx context.Context, name string, args json.RawMessage) (ToolResult, error) {
	tool := guard.Canonical(name)
	fields := map[string]string{"act": tool}
	if err := c.allowed(tool); err != nil {
		return ToolResult{}, c.refused(ctx, err, fields)
	}
	in, err := readArguments(args)
	if err != nil {
		return ToolResult{}, c.refused(ctx, err, fields)
	}
	switch tool {
	case "list_windows":
		return c.callListWindows(ctx, in)
	case "list_apps":
		return c.callListApps(ctx, in)
	case "get_window_state":
		return c.callWindowState(ctx, in)
	case "get_screen_size", "get_cursor_position", "start_session", "end_session", "get_session":
		return c.callHarmless(ctx, tool, in)
	}
	a, err := in.action(tool)
	if err == nil {
		err = in.unused()
	}
	if err == nil {
		err = c.agrees(in, a)
	}
	if err != nil {
		return ToolResult{}, c.refused(ctx, err, fields)
	}
	res, err := c.act(ctx, a, in.session)
	if err != nil {
		return ToolResult{}, err
	}
	return actionResult(tool, res), nil
}

// allowed says whether tool may be called at all.
func (c *Canvas) allowed(tool string) error {
	rules, err := c.rules()
	if err != nil {
		return refuse(PolicyInvalid, err)
	}
	d := c.guard(rules).Decide(tool)
	switch d.Code {
	case "":
		return nil
	case guard.CodeUncovered:
		return refuse(ToolUncovered, nil)
	}
	return refuse(ToolDenied, nil, "this tool")
}

// agrees refuses a call whose pid or window_id names another window than its
// token does.
func (c *Canvas) agrees(in *callArguments, a Action) error {
	t, named := target(a)
	if !named || t == "" || in.window == (WindowRef{}) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s, _, err := lookUp(t, c.seen)
	if err != nil {
		return err
	}
	w := s.look.Window.Ref
	if in.window.PID != 0 && in.window.PID != w.PID || in.window.ID != 0 && in.window.ID != w.ID {
		return refuse(AmbiguousWindow, nil)
	}
	return nil
}
