package cua_test

import (
	"encoding/json"
	"image"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/cua"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
)

func byLabel(t *testing.T, s *driver.Snapshot, label string) *driver.Element {
	t.Helper()
	for i := range s.Elements {
		if s.Elements[i].Label == label {
			return &s.Elements[i]
		}
	}
	require.Failf(t, "no such element", "%q", label)
	return nil
}

func TestRecordedPage(t *testing.T) {
	for version := range versions {
		t.Run(version, func(t *testing.T) {
			d, child := play(t, replay(t, version, "page"), &cua.Options{Name: "agent x"})
			ref := refOf(t, version, "page")
			s, err := d.Snapshot(t.Context(), ref, driver.SnapshotOptions{})
			require.NoError(t, err)
			require.Equal(t, ref, s.Window.Ref)
			require.Equal(t, "Chromium", s.Window.App)
			require.Equal(t, image.Rect(10, 10, 910, 710), s.Frame)
			require.Equal(t, image.Pt(900, 700), s.Size)
			require.NotEmpty(t, s.Image)
			require.Equal(t, 8, s.Slack, "no X server could be asked")
			button := byLabel(t, s, "Target")
			require.Equal(t, driver.RoleButton, button.Role)
			require.Equal(t, "push button", button.RawRole)
			require.True(t, button.Web)
			require.True(t, button.HasBounds())
			require.Empty(t, button.Text, "what the driver itself remarks is not the page's text")
			document := s.Elements[button.Parent]
			require.Equal(t, driver.RoleDocument, document.Role)
			require.True(t, document.Web)
			require.Equal(t, driver.RoleWindow, s.Elements[0].Role)
			require.Equal(t, -1, s.Elements[0].Parent)
			require.False(t, s.AllText)
			require.False(t, s.FocusKnown)
			for i, e := range s.Elements {
				require.Less(t, e.Parent, i)
			}

			var args map[string]any
			for _, r := range child.Received(t) {
				if r.Tool == "get_window_state" {
					require.NoError(t, json.Unmarshal(r.Args, &args))
				}
			}
			want := map[string]any{"pid": float64(ref.PID), "window_id": float64(ref.ID), "max_elements": 100000.0, "session": "agent x"}
			if version == "0.37" {
				want["full_output"], want["timeout_ms"] = true, 30000.0
			}
			require.Equal(t, want, args)
			require.Equal(t, 2, child.Calls(t, "list_windows"), "before and after")
			require.Equal(t, 1, child.Calls(t, "start_session"))
		})
	}
}

func TestRecordedDialog(t *testing.T) {
	for version := range versions {
		t.Run(version, func(t *testing.T) {
			d, _ := play(t, replay(t, version, "dialog"), nil)
			s, err := d.Snapshot(t.Context(), refOf(t, version, "dialog"), driver.SnapshotOptions{})
			require.NoError(t, err)
			require.Len(t, s.Elements, 5)
			roles := []driver.Role{}
			for _, e := range s.Elements {
				roles = append(roles, e.Role)
				require.Equal(t, -1, e.Parent, "this toolkit's controls come without ancestry")
				require.False(t, e.Web)
			}
			require.Equal(t, []driver.Role{driver.RoleTextbox, driver.RolePassword, driver.RoleTextbox, driver.RoleButton, driver.RoleButton}, roles)
			require.Equal(t, image.Rect(744, 579, 830, 613), byLabel(t, s, "Cancel").Bounds)
		})
	}
}

func TestPC12WhatMayBeCutIsRefused(t *testing.T) {
	sc := func(path ...any) []any { return append([]any{"structuredContent"}, path...) }
	tests := []struct {
		name  string
		value any
		path  []any
		both  bool // 0.21's reply must be refused for it as well
	}{
		{"truncated", true, sc("truncated"), true},
		{"not said whether truncated", nil, sc("truncated"), false},
		{"nodes are pending", 3, sc("nodes_pending"), true},
		{"not said whether nodes are pending", nil, sc("nodes_pending"), false},
		{"fewer returned", 4, sc("returned_element_count"), true},
		{"more in all", 99, sc("total_element_count"), true},
		{"another count", 4, sc("element_count"), true},
		{"no count", nil, sc("total_element_count"), true},
		{"not complete", false, sc("elements_complete"), false},
		{"not said whether complete", nil, sc("elements_complete"), false},
		{"degraded", true, sc("degraded"), true},
		{"places missing", false, sc("bounds_complete"), true},
		{"not said whether places are missing", nil, sc("bounds_complete"), false},
		{"picture not valid", false, sc("screenshot_frame_valid"), true},
		{"not said whether the picture is valid", nil, sc("screenshot_frame_valid"), false},
		{"no elements", nil, sc("elements"), true},
		{"elements are none", "many", sc("elements"), true},
		{"no width", nil, sc("screenshot_width"), true},
		{"another width", 901, sc("screenshot_width"), true},
		{"no height", 0, sc("screenshot_height"), true},
		{"another process", 1, sc("pid"), true},
		{"no process", nil, sc("pid"), true},
		{"another window", 1, sc("window_id"), true},
		{"the window moved", map[string]any{"x": 11, "y": 10, "width": 900, "height": 700}, sc("window_bounds"), true},
		{"no place of the window", nil, sc("window_bounds"), false},
		{"another title", "x", sc("window_title"), true},
		{"no title", nil, sc("window_title"), false},
		{"another application", "x", sc("app_name"), true},
		{"an element twice", 0, sc("elements", 1, "element_index"), true},
		{"a token twice", "s00000001:0", sc("elements", 1, "element_token"), true},
		{"an element without an index", nil, sc("elements", 1, "element_index"), true},
		{"a negative index", -1, sc("elements", 1, "element_index"), true},
		{"a parent that is not there", 77, sc("elements", 1, "parent_index"), true},
		{"a parent behind its child", 3, sc("elements", 1, "parent_index"), true},
		{"its own parent", 1, sc("elements", 1, "parent_index"), true},
		{"a place of words", "left", sc("elements", 1, "frame"), true},
		{"half a place", map[string]any{"x": 1, "y": 2}, sc("elements", 1, "frame"), true},
		{"a label of numbers", 7, sc("elements", 1, "label"), true},
		{"an element of words", "button", sc("elements", 1), true},
		{"no structure", nil, []any{"structuredContent"}, true},
		{"no picture", []any{map[string]any{"type": "text", "text": "x"}}, []any{"content"}, true},
		{"a picture that is none", "aGVsbG8=", []any{"content", 1, "data"}, true},
		{"a picture that is not base64", "%%", []any{"content", 1, "data"}, true},
	}
	for version := range versions {
		script := replay(t, version, "page")
		state := golden(t, "state-page", version)
		script.Answers["get_window_state"] = nil // one for each test
		for _, tt := range tests {
			value := tt.value
			if tt.name == "a token twice" {
				value = firstToken(t, state)
			}
			answer := drivertest.Answer{Result: edited(t, state, value, tt.path...)}
			script.Answers["get_window_state"] = append(script.Answers["get_window_state"], answer)
		}
		d, child := play(t, script, nil)
		for i, tt := range tests {
			t.Run(version+"/"+tt.name, func(t *testing.T) {
				_, err := d.Snapshot(t.Context(), refOf(t, version, "page"), driver.SnapshotOptions{})
				require.Equal(t, i+1, child.Calls(t, "get_window_state"))
				if version == "0.21" && !tt.both {
					return // it says nothing of this
				}
				require.ErrorIs(t, err, driver.ErrIncomplete)
			})
		}
	}
}

func firstToken(t *testing.T, state json.RawMessage) string {
	t.Helper()
	var r struct {
		StructuredContent struct {
			Elements []struct {
				Token string `json:"element_token"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(state, &r))
	return r.StructuredContent.Elements[0].Token
}

// TestPC12AReplyAtTheCapIsRefused: 0.21 says nothing else of being cut (M6).
func TestPC12AReplyAtTheCapIsRefused(t *testing.T) {
	s := replay(t, "0.21", "dialog")
	many := make([]any, 100_000)
	for i := range many {
		many[i] = map[string]any{"element_index": i, "role": "text", "depth": 0}
	}
	state := golden(t, "state-dialog", "0.21")
	for _, key := range []string{"element_count", "total_element_count", "returned_element_count"} {
		state = edited(t, state, len(many), "structuredContent", key)
	}
	state = edited(t, state, many, "structuredContent", "elements")
	s.Answers["get_window_state"] = []drivertest.Answer{{Result: state}}
	d, _ := play(t, s, nil)
	_, err := d.Snapshot(t.Context(), refOf(t, "0.21", "dialog"), driver.SnapshotOptions{})
	require.ErrorIs(t, err, driver.ErrIncomplete)
}

// TestPC12AWindowThatChangesMeanwhile is what stands in for 0.21's silence.
func TestPC12AWindowThatChangesMeanwhile(t *testing.T) {
	changes := []struct {
		name  string
		path  []any
		value any
		want  error
	}{
		{"moved", []any{"structuredContent", "windows", 0, "bounds", "x"}, 11, driver.ErrIncomplete},
		{"renamed", []any{"structuredContent", "windows", 0, "title"}, "other", driver.ErrIncomplete},
		{"hidden", []any{"structuredContent", "windows", 0, "is_on_screen"}, false, driver.ErrIncomplete},
		{"gone", []any{"structuredContent", "windows"}, []any{}, driver.ErrWindowGone},
		{"other pid", []any{"structuredContent", "windows", 0, "pid"}, 5, driver.ErrWindowGone},
		{"restacked", []any{"structuredContent", "windows", 0, "z_index"}, 5, nil},
		{"no more z", []any{"structuredContent", "windows", 0, "z_index"}, nil, nil},
		{"misshapen", []any{"structuredContent", "windows", 0, "bounds"}, nil, driver.ErrUnavailable},
		{"without id", []any{"structuredContent", "windows", 0, "window_id"}, nil, driver.ErrUnavailable},
	}
	for version := range versions {
		script := replay(t, version, "dialog")
		list := golden(t, "windows-dialog", version)
		script.Answers["list_windows"] = nil // two for each test
		for _, c := range changes {
			script.Answers["list_windows"] = append(script.Answers["list_windows"],
				drivertest.Answer{Result: list}, drivertest.Answer{Result: edited(t, list, c.value, c.path...)})
		}
		d, _ := play(t, script, nil)
		for _, c := range changes {
			t.Run(version+"/"+c.name, func(t *testing.T) {
				_, err := d.Snapshot(t.Context(), refOf(t, version, "dialog"), driver.SnapshotOptions{})
				if c.want == nil {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, c.want)
			})
		}
	}
}

func TestWindowsAreReadAsTheyAre(t *testing.T) {
	window := func(change map[string]any) map[string]any {
		w := map[string]any{
			"window_id": uint64(1<<53 - 1), "pid": 7, "app_name": "app", "title": "t", "is_on_screen": true, "z_index": 3,
			"bounds": map[string]any{"x": -10.5, "y": 1.2, "width": 100.1, "height": 50},
		}
		for k, v := range change {
			w[k] = v
		}
		return w
	}
	tests := []struct {
		name string
		in   []any
		want []driver.Window
		err  error
	}{
		{name: "none", in: []any{}, want: []driver.Window{}},
		{
			name: "one, grown outwards", in: []any{window(nil)},
			want: []driver.Window{{Ref: driver.WindowRef{PID: 7, ID: 1<<53 - 1}, App: "app", Title: "t", Z: 3, Bounds: image.Rect(-11, 1, 90, 52)}},
		},
		{
			name: "no stacking known of one", in: []any{window(nil), window(map[string]any{"z_index": nil, "pid": nil})},
			want: []driver.Window{
				{Ref: driver.WindowRef{PID: 7, ID: 1<<53 - 1}, App: "app", Title: "t", Bounds: image.Rect(-11, 1, 90, 52)},
				{Ref: driver.WindowRef{ID: 1<<53 - 1}, App: "app", Title: "t", Bounds: image.Rect(-11, 1, 90, 52)},
			},
		},
		{
			name: "hidden in each way", in: []any{
				window(map[string]any{"is_on_screen": false}), window(map[string]any{"minimized": true}), window(map[string]any{"on_current_space": false}),
			},
			want: []driver.Window{
				{Ref: driver.WindowRef{PID: 7, ID: 1<<53 - 1}, App: "app", Title: "t", Z: 3, Hidden: true, Bounds: image.Rect(-11, 1, 90, 52)},
				{Ref: driver.WindowRef{PID: 7, ID: 1<<53 - 1}, App: "app", Title: "t", Z: 3, Hidden: true, Bounds: image.Rect(-11, 1, 90, 52)},
				{Ref: driver.WindowRef{PID: 7, ID: 1<<53 - 1}, App: "app", Title: "t", Z: 3, Hidden: true, Bounds: image.Rect(-11, 1, 90, 52)},
			},
		},
		{name: "a negative process", in: []any{window(map[string]any{"pid": -1})}, want: []driver.Window{
			{Ref: driver.WindowRef{ID: 1<<53 - 1}, App: "app", Title: "t", Z: 3, Bounds: image.Rect(-11, 1, 90, 52)},
		}},
		{
			name: "a place that cannot be", in: []any{window(map[string]any{"bounds": map[string]any{"x": math.MinInt32, "y": 0, "width": 1, "height": 1}})},
			want: []driver.Window{{Ref: driver.WindowRef{PID: 7, ID: 1<<53 - 1}, App: "app", Title: "t", Z: 3}},
		},
		{name: "no title", in: []any{window(map[string]any{"title": nil})}, err: driver.ErrUnavailable},
		{name: "no bounds", in: []any{window(map[string]any{"bounds": nil})}, err: driver.ErrUnavailable},
		{name: "a fraction for an id", in: []any{window(map[string]any{"window_id": 1.5})}, err: driver.ErrUnavailable},
	}
	s := replay(t, "0.37", "dialog")
	s.Answers["list_windows"] = nil
	for _, tt := range tests {
		result, err := json.Marshal(map[string]any{"content": []any{}, "structuredContent": map[string]any{"windows": tt.in}})
		require.NoError(t, err)
		s.Answers["list_windows"] = append(s.Answers["list_windows"], drivertest.Answer{Result: result})
	}
	d, _ := play(t, s, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := d.Windows(t.Context())
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			for i := range got {
				got[i].Start, got[i].Exe = 0, "" // of whatever process has that number here
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestElementsKeepEveryString(t *testing.T) {
	s := replay(t, "0.37", "dialog")
	state := golden(t, "state-dialog", "0.37")
	at := func(value any, key string) { state = edited(t, state, value, "structuredContent", "elements", 0, key) }
	at("help me", "help")
	at(map[string]any{"href": "https://acme.example/x", "n": 3, "deep": []any{"a", nil, true}}, "unheard_of")
	at(nil, "description")
	at("Ada", "value")
	at(false, "enabled")
	at(map[string]any{"x": 10.5, "y": 20.2, "w": 0.7, "h": 1}, "frame")
	state = edited(t, state, "●●●●", "structuredContent", "elements", 1, "label")
	state = edited(t, state, map[string]any{"x": 1, "y": 2, "w": 0, "h": 5}, "structuredContent", "elements", 2, "frame")
	state = edited(t, state, "fancy widget", "structuredContent", "elements", 3, "role")
	s.Answers["get_window_state"] = []drivertest.Answer{{Result: state}}
	d, _ := play(t, s, nil)
	got, err := d.Snapshot(t.Context(), refOf(t, "0.37", "dialog"), driver.SnapshotOptions{NoImage: true})
	require.NoError(t, err)
	e := got.Elements[0]
	require.ElementsMatch(t, []string{"help me", "https://acme.example/x", "a"}, e.Text)
	require.Equal(t, "Ada", e.Value)
	require.True(t, e.Disabled)
	require.Equal(t, image.Rect(10, 20, 12, 22), e.Bounds)
	require.Empty(t, got.Elements[1].Label, "the number of dots is a secret")
	require.False(t, got.Elements[2].HasBounds())
	require.Equal(t, driver.RoleUnknown, got.Elements[3].Role)
	require.Equal(t, "fancy widget", got.Elements[3].RawRole)
	require.Empty(t, got.Image)
}
