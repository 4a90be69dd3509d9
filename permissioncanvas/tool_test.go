package permissioncanvas_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
)

func TestPC14RawCoordinatesAndDragAreRefused(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	o := d.look(console)
	_, err := d.Act(ctx, canvas.Drag{Window: o.Window().Ref})
	refused(t, err, canvas.DragRefused)
	for _, tc := range []struct {
		name, tool, args string
		code             canvas.Code
	}{
		{"point", "click", `{"pid":4242,"window_id":77,"x":10,"y":10}`, canvas.CoordinatesRefused},
		{"point beside a token", "click", `{"element_token":"` + string(d.token(o, "button", "Save")) + `","x":1,"y":1}`, canvas.CoordinatesRefused},
		{"bare index", "click", `{"pid":4242,"element_index":3}`, canvas.StaleToken},
		{"desktop", "click", `{"scope":"desktop","x":1,"y":1}`, canvas.DesktopPlacementRefused},
		{"desktop target", "type_text", `{"target":{"kind":"desktop","display_id":"primary"},"text":"x"}`, canvas.DesktopPlacementRefused},
		{"file", "get_window_state", `{"pid":4242,"window_id":77,"screenshot_out_file":"/tmp/x"}`, canvas.ArgumentUnknown},
		{"typing at a point", "type_text", `{"pid":4242,"window_id":77,"x":1,"y":1,"text":"a"}`, canvas.CoordinatesRefused},
		{"scroll at a point", "scroll", `{"pid":4242,"window_id":77,"x":1,"y":1,"direction":"down"}`, canvas.CoordinatesRefused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := d.Call(ctx, tc.tool, json.RawMessage(tc.args))
			refused(t, err, tc.code)
		})
	}
	require.Empty(t, d.sim.Events())
}

func TestPC30UncoveredAndUnknownToolsAreRefused(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}), nil)
	tools, err := d.Tools(ctx)
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, tool := range tools {
		listed[tool.Name] = true
	}
	require.True(t, listed["click"] && listed["get_window_state"])
	for name, code := range map[string]canvas.Code{
		"get_desktop_state": canvas.ToolUncovered, "clipboard_read": canvas.ToolUncovered, "page": canvas.ToolUncovered,
		"run_script": canvas.ToolUncovered, "run_steps": canvas.ToolUncovered, "zoom": canvas.ToolUncovered,
		"kill_app": canvas.ToolDenied, "set_config": canvas.ToolDenied, "made_up": canvas.ToolDenied,
	} {
		require.False(t, listed[name], name)
		_, err := d.Call(ctx, name, nil)
		refused(t, err, code)
	}
	require.Empty(t, d.sim.Events())
}
