package shim

import (
	"context"
	"encoding/json"
	"io"

	"github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
)

// Call answers one call of a tool by one JSON document on out, as the driver's
// own command does, and returns the refusal that it wrote, if it wrote one. It
// observes only: what acts needs a snapshot that outlives the call (D4).
func Call(ctx context.Context, open func() (Desk, error), name string, args json.RawMessage, out io.Writer) error {
	reply, err := single(ctx, open, name, args)
	if err != nil {
		r := refused(err)
		reply = r
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if failed := e.Encode(reply); failed != nil {
		return failed
	}
	return err
}

func single(ctx context.Context, open func() (Desk, error), name string, args json.RawMessage) (any, error) {
	if inputs(name) {
		return nil, &permissioncanvas.Error{
			Code: permissioncanvas.StaleSnapshot, Next: permissioncanvas.Stop,
			Message: "One call keeps no snapshot, so it can only look. Nothing was done. To act, use mcp.",
		}
	}
	desk, err := open()
	if err != nil {
		return nil, err
	}
	res, err := desk.Call(ctx, name, args)
	if err != nil {
		return nil, err
	}
	reply := map[string]any{}
	data, err := json.Marshal(res.Structured)
	if err == nil {
		err = json.Unmarshal(data, &reply)
	}
	if err != nil {
		return nil, err
	}
	if res.Image != nil {
		reply["screenshot_png_b64"] = res.Image
	}
	return reply, nil
}

// inputs reports whether a tool acts on a window.
func inputs(name string) bool {
	switch name = guard.Canonical(name); name {
	case "list_windows", "list_apps", "get_window_state":
		return false
	}
	return guard.CoverageOf(name) == guard.Enforced
}
