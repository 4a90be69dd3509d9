package permissioncanvas_test

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// call answers one call whose arguments may hold SAVE, NAME, NOTES and HIDDEN
// in place of tokens.
func (d *desk) call(o *canvas.Observation, tool, args string) (canvas.ToolResult, error) {
	d.t.Helper()
	save, name, notes := d.token(o, "button", "Save"), d.token(o, "textbox", "Name"), d.token(o, "textbox", "Notes")
	_, row, _ := strings.Cut(string(save), ":")
	args = strings.NewReplacer("SAVE", string(save), "NAME", string(name), "NOTES", string(notes), "ROW", row).Replace(args)
	return d.Call(context.Background(), tool, json.RawMessage(args))
}

// What every tool takes and does, and what it refuses.
func TestPC14ArgumentsOfEveryTool(t *testing.T) {
	quick(t)
	const w = `"pid":4242,"window_id":77`
	for _, tc := range []struct {
		tool, args string
		code       canvas.Code // "": done
		acts       int
	}{
		// Observation.
		{"list_windows", ``, "", 0},
		{"list_windows", `null`, "", 0},
		{"list_windows", `{}`, "", 0},
		{"list_windows", `{"pid":4242}`, "", 0},
		{"list_windows", `{"app":"SIM","on_screen_only":true,"session":"a"}`, "", 0},
		{"list_windows", `{"pid":null,"app":null}`, "", 0},
		{"list_windows", `{"everything":true}`, canvas.ArgumentUnknown, 0},
		{"list_windows", `{"on_screen_only":"yes"}`, canvas.BadRequest, 0},
		{"list_windows", `{"pid":"4242"}`, canvas.BadRequest, 0},
		{"list_windows", `{"pid":-1}`, canvas.AmbiguousWindow, 0},
		{"list_windows", `[]`, canvas.BadRequest, 0},
		{"list_windows", `"x"`, canvas.BadRequest, 0},
		{"list_windows", `{`, canvas.BadRequest, 0},
		{"list_windows", `{}{}`, canvas.BadRequest, 0},
		{"list_windows", `{"pid":4242,"pid":4243}`, canvas.BadRequest, 0},
		{"list_windows", `{"pid":4242,"PID":4243}`, canvas.BadRequest, 0},
		{"list_windows", `{"app":"\ud800"}`, canvas.BadRequest, 0},
		{"list_windows", "{\"app\":\"\xff\"}", canvas.BadRequest, 0},
		{"list_windows", `{"pid":9007199254740993}`, canvas.BadRequest, 0},
		{"list_apps", `{}`, "", 0},
		{"list_apps", `{"all":true}`, canvas.ArgumentUnknown, 0},
		{"get_window_state", `{` + w + `}`, "", 0},
		{"get_window_state", `{"target":{"kind":"window","pid":4242,"window_id":77}}`, "", 0},
		{"get_window_state", `{` + w + `,"target":{"kind":"window","pid":4242,"window_id":77}}`, "", 0},
		{"get_window_state", `{"pid":4243,"target":{"kind":"window","pid":4242,"window_id":77}}`, canvas.AmbiguousWindow, 0},
		{"get_window_state", `{"target":{"kind":"window","pid":4242}}`, canvas.AmbiguousWindow, 0},
		{"get_window_state", `{"target":{"kind":"window","pid":4242,"window_id":77,"display":1}}`, canvas.AmbiguousWindow, 0},
		{"get_window_state", `{"target":{"kind":"window","pid":"4242","window_id":77}}`, canvas.AmbiguousWindow, 0},
		{"get_window_state", `{"target":{"kind":"desktop"}}`, canvas.DesktopPlacementRefused, 0},
		{"get_window_state", `{"target":{}}`, canvas.DesktopPlacementRefused, 0},
		{"get_window_state", `{"target":"window"}`, canvas.BadRequest, 0},
		{"get_window_state", `{` + w + `,"scope":"desktop"}`, canvas.DesktopPlacementRefused, 0},
		{"get_window_state", `{"pid":0,"window_id":0}`, canvas.AmbiguousWindow, 0},
		{"get_window_state", `{"pid":4242}`, canvas.AmbiguousWindow, 0},
		{"get_window_state", `{"window_id":77}`, canvas.AmbiguousWindow, 0},
		{"get_window_state", `{"pid":4242,"window_id":78}`, canvas.NoWindowSelected, 0},
		{"get_window_state", `{"pid":4242,"window_id":-1}`, canvas.AmbiguousWindow, 0},
		{"get_window_state", `{"pid":2147483648,"window_id":77}`, canvas.AmbiguousWindow, 0},
		{"get_window_state", `{"pid":4242.5,"window_id":77}`, canvas.BadRequest, 0},
		{"get_window_state", `{` + w + `,"query":"Save","max_elements":3,"max_image_dimension":100,"max_dimension":50}`, "", 0},
		{"get_window_state", `{` + w + `,"max_elements":-1}`, canvas.BadRequest, 0},
		{"get_window_state", `{` + w + `,"max_image_dimension":-1}`, canvas.BadRequest, 0},
		{"get_window_state", `{` + w + `,"include_screenshot":false,"include_accessibility_tree":false}`, canvas.BadRequest, 0},
		{"get_window_state", `{` + w + `,"screenshot_out_file":"/tmp/x.png"}`, canvas.ArgumentUnknown, 0},
		{"get_window_state", `{` + w + `,"javascript":"1"}`, canvas.ArgumentUnknown, 0},
		{"get_window_state", `{` + w + `,"full_output":true,"verbose":true,"timeout_ms":1,"tree_format":"x","max_depth":1,"since":"x"}`, "", 0},
		// Pointer.
		{"click", `{"element_token":"SAVE"}`, "", 1},
		{"CLICK", `{"element_token":"SAVE"}`, "", 1},
		{"click", `{"element_token":"SAVE","element_index":ROW,` + w + `}`, "", 1},
		{"click", `{"element_token":"SAVE","count":2,"button":"left","modifier":["shift"],"delivery_mode":"background"}`, canvas.ApprovalRequired, 0},
		{"click", `{"element_token":"SAVE","count":2,"button":"left","delivery_mode":"background"}`, "", 1},
		{"double_click", `{"element_token":"SAVE"}`, "", 1},
		{"right_click", `{"element_token":"SAVE"}`, "", 1},
		{"click", `{"element_token":"SAVE","pid":4243}`, canvas.AmbiguousWindow, 0},
		{"click", `{"element_token":"SAVE","window_id":78}`, canvas.AmbiguousWindow, 0},
		{"click", `{"element_token":"SAVE","element_index":999}`, canvas.StaleToken, 0},
		{"click", `{"element_token":"SAVE","element_index":-1}`, canvas.StaleToken, 0},
		{"click", `{"element_token":"SAVE","element_index":true}`, canvas.BadRequest, 0},
		{"click", `{"element_token":"SAVE","snapshot_id":"s1"}`, canvas.StaleToken, 0},
		{"click", `{"element_token":"SAVE","x":1,"y":1}`, canvas.CoordinatesRefused, 0},
		{"click", `{"element_token":"SAVE","from_zoom":true}`, canvas.CoordinatesRefused, 0},
		{"click", `{"element_token":"SAVE","Element_Token":"NAME"}`, canvas.BadRequest, 0},
		{"click", `{"element_token":"SAVE","button":"fourth"}`, canvas.BadRequest, 0},
		{"click", `{"element_token":"SAVE","count":4}`, canvas.BadRequest, 0},
		{"click", `{"element_token":"SAVE","count":-1}`, canvas.BadRequest, 0},
		{"click", `{"element_token":"SAVE","count":1.5}`, canvas.BadRequest, 0},
		{"click", `{"element_token":"SAVE","count":"2"}`, canvas.BadRequest, 0},
		{"click", `{"element_token":"SAVE","modifier":["hyper"]}`, canvas.BadRequest, 0},
		{"click", `{"element_token":"SAVE","modifier":"shift"}`, canvas.BadRequest, 0},
		{"click", `{"element_token":"SAVE","delivery_mode":"sideways"}`, canvas.BadRequest, 0},
		{"click", `{"element_token":"SAVE","delivery_mode":"foreground"}`, canvas.ApprovalRequired, 0},
		{"click", `{"element_token":"SAVE","dispatch":"x"}`, canvas.ArgumentUnknown, 0},
		{"click", `{"element_token":"SAVE","scope":"desktop"}`, canvas.DesktopPlacementRefused, 0},
		{"click", `{"element_token":"SAVE","session":"other"}`, canvas.StaleToken, 0},
		{"click", `{"element_token":["SAVE"]}`, canvas.BadRequest, 0},
		{"click", `{}`, canvas.StaleToken, 0},
		{"click", `{"element_token":""}`, canvas.StaleToken, 0},
		{"click", `{"element_token":null}`, canvas.StaleToken, 0},
		{"click", `{` + w + `,"element_index":3}`, canvas.StaleToken, 0},
		{"click", `{` + w + `,"x":1,"y":1,"capture_id":"c"}`, canvas.CoordinatesRefused, 0},
		{"double_click", `{"element_token":"SAVE","count":3}`, canvas.ArgumentUnknown, 0},
		{"right_click", `{"element_token":"SAVE","button":"left"}`, canvas.ArgumentUnknown, 0},
		{"click", `{"element_token":"NAME","button":"middle"}`, canvas.ClipboardRefused, 0},
		{"drag", `{` + w + `,"from_x":1,"from_y":1,"to_x":9,"to_y":9}`, canvas.DragRefused, 0},
		{"drag", `{` + w + `,"from_x":1}`, canvas.BadRequest, 0},
		{"drag", `{` + w + `,"from_x":1.5,"from_y":1,"to_x":9,"to_y":9}`, canvas.BadRequest, 0},
		{"drag", `{"from_x":1,"from_y":1,"to_x":9,"to_y":9}`, canvas.AmbiguousWindow, 0},
		{"scroll", `{"element_token":"NOTES","direction":"down"}`, "", 1},
		{"scroll", `{"element_token":"NOTES","direction":"up","amount":2,"by":"page"}`, "", 1},
		{"scroll", `{"element_token":"NOTES","direction":"down","amount":11,"by":"page"}`, canvas.BadRequest, 0},
		{"scroll", `{"element_token":"NOTES","direction":"down","amount":9007199254740991,"by":"page"}`, canvas.BadRequest, 0},
		{"scroll", `{"element_token":"NOTES","direction":"down","amount":0}`, canvas.BadRequest, 0},
		{"scroll", `{"element_token":"NOTES","direction":"down","amount":-3}`, canvas.BadRequest, 0},
		{"scroll", `{"element_token":"NOTES","direction":"in"}`, canvas.BadRequest, 0},
		{"scroll", `{"element_token":"NOTES","direction":"down","by":"mile"}`, canvas.BadRequest, 0},
		{"scroll", `{` + w + `,"direction":"down"}`, canvas.ScrollRefused, 0},
		{"scroll", `{"direction":"down","x":1,"y":1}`, canvas.CoordinatesRefused, 0},
		// Text.
		{"set_value", `{"element_token":"NAME","value":"Ada"}`, "", 1},
		{"set_value", `{"element_token":"NAME"}`, "", 1},
		{"set_value", `{"element_token":"NAME","value":7}`, canvas.BadRequest, 0},
		{"set_value", `{"element_token":"NAME","value":"a\nb"}`, canvas.BadRequest, 0},
		{"set_value", `{"element_token":"NAME","value":"a","text":"b"}`, canvas.ArgumentUnknown, 0},
		{"set_value", `{"value":"Ada"}`, canvas.StaleToken, 0},
		{"type_text", `{"element_token":"NAME","text":"Ada"}`, "", 2},
		{"type_text_chars", `{"element_token":"NAME","text":"Ada"}`, "", 2},
		{"type_text", `{"element_token":"NOTES","text":"a\nb"}`, "", 2},
		{"type_text", `{"element_token":"NAME","text":"a\nb"}`, canvas.BadRequest, 0},
		{"type_text", `{"element_token":"NAME","text":"a\tb"}`, canvas.BadRequest, 0},
		{"type_text", `{"element_token":"NAME","text":"a\u0000b"}`, canvas.BadRequest, 0},
		{"type_text", `{"element_token":"NAME","text":""}`, canvas.BadRequest, 0},
		{"type_text", `{"element_token":"NAME"}`, canvas.BadRequest, 0},
		{"type_text", `{"element_token":"SAVE","text":"Ada"}`, canvas.BadRequest, 0},
		{"type_text", `{"element_token":"NAME","text":"Ada","replace":true}`, canvas.ArgumentUnknown, 0},
		{"type_text", `{"text":"Ada"}`, canvas.FocusUnknown, 0},
		{"type_text", `{"element_token":"NAME","text":"` + strings.Repeat("a", 64<<10+1) + `"}`, canvas.BadRequest, 0},
		// Keys.
		{"press_key", `{` + w + `,"key":"end"}`, canvas.FocusUnknown, 0},
		{"press_key", `{` + w + `,"key":"c","modifiers":["ctrl"]}`, canvas.ClipboardRefused, 0},
		{"press_key", `{` + w + `,"element_token":"NAME","key":"a"}`, canvas.ArgumentUnknown, 0},
		{"press_key", `{` + w + `}`, canvas.BadRequest, 0},
		{"press_key", `{` + w + `,"key":"nokey"}`, canvas.BadRequest, 0},
		{"press_key", `{"key":"a"}`, canvas.AmbiguousWindow, 0},
		{"press_key", `{` + w + `,"keys":["a"]}`, canvas.ArgumentUnknown, 0},
		{"hotkey", `{` + w + `,"keys":["cmd","v"]}`, canvas.ClipboardRefused, 0},
		{"hotkey", `{` + w + `,"keys":["alt","f4"]}`, canvas.ToolDenied, 0},
		{"hotkey", `{` + w + `,"keys":[]}`, canvas.BadRequest, 0},
		{"hotkey", `{` + w + `,"keys":["a","b"]}`, canvas.BadRequest, 0},
		{"hotkey", `{` + w + `,"keys":"ctrl+c"}`, canvas.BadRequest, 0},
		{"hotkey", `{"keys":["ctrl","end"]}`, canvas.AmbiguousWindow, 0},
		{"hotkey", `{"pid":4243,"window_id":78,"keys":["ctrl","end"]}`, canvas.StaleSnapshot, 0},
		// Windows.
		{"bring_to_front", `{` + w + `}`, canvas.ApprovalRequired, 0},
		{"bring_to_front", `{"pid":4242}`, canvas.AmbiguousWindow, 0},
		{"bring_to_front", `{` + w + `,"element_token":"SAVE"}`, "", 0},
		{"bring_to_front", `{` + w + `,"force":true}`, canvas.ArgumentUnknown, 0},
		// Harmless.
		{"get_screen_size", `{}`, "", 0},
		{"get_screen_size", `{"display":1}`, canvas.ArgumentUnknown, 0},
		{"get_cursor_position", `{}`, "", 0},
		{"start_session", `{"session":"a","capture_scope":"desktop","cursor_theme":{}}`, "", 0},
		{"start_session", `{"session":"` + strings.Repeat("a", 201) + `"}`, canvas.BadRequest, 0},
		{"start_session", `{"record":true}`, canvas.ArgumentUnknown, 0},
		{"get_session", `{}`, "", 0},
		{"end_session", `{"session":"a"}`, "", 0},
		// What is none of ours.
		{"run_script", `{"code":"x"}`, canvas.ToolUncovered, 0},
		{"kill_app", `{"pid":1}`, canvas.ToolDenied, 0},
		{"", `{}`, canvas.ToolDenied, 0},
		{"click\x00", `{"element_token":"SAVE"}`, canvas.ToolDenied, 0},
		{"click ", `{"x":1}`, canvas.CoordinatesRefused, 0},
	} {
		short := tc.args
		if len(short) > 60 {
			short = short[:60]
		}
		t.Run(tc.tool+" "+short, func(t *testing.T) {
			d, liar := lying(t, fields())
			o := d.look(console)
			res, err := d.call(o, tc.tool, tc.args)
			require.Equal(t, tc.acts, liar.Dispatched(), "%v", err)
			if tc.tool == "bring_to_front" && tc.code == "" || tc.tool == "click " {
				if err != nil {
					typed(t, err)
				}
				return // either is right, as long as nothing is done
			}
			if tc.code != "" {
				refused(t, err, tc.code)
				return
			}
			require.NoError(t, err)
			require.NotEmpty(t, res.Text)
			b, err := json.Marshal(res.Structured)
			require.NoError(t, err)
			require.Equal(t, byte('{'), b[0])
		})
	}
}

// One request has one meaning, however its numbers and keys are written (D30).
func TestPC19FormsOfOneRequestAreOneQuestion(t *testing.T) {
	for _, tc := range []struct{ name, one, two string }{
		{"key order", `{"element_token":"SAVE","count":1,"button":"left"}`, `{"button":"left","count":1,"element_token":"SAVE"}`},
		{"defaults", `{"element_token":"SAVE"}`, `{"element_token":"SAVE","count":1,"button":"left","delivery_mode":"background"}`},
		{"escapes", `{"element_token":"SAVE","button":"left"}`, `{"element_token":"SAVE","button":"\u006ceft"}`},
		{"null", `{"element_token":"SAVE"}`, `{"element_token":"SAVE","modifier":null}`},
		{"empty list", `{"element_token":"SAVE"}`, `{"element_token":"SAVE","modifier":[]}`},
		{"order of modifiers", `{"element_token":"SAVE","modifier":["ctrl","shift"]}`, `{"element_token":"SAVE","modifier":["shift","ctrl","shift"]}`},
		{"1.0", `{"element_token":"SAVE","count":1}`, `{"element_token":"SAVE","count":1.0}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDesk(t, selected([]string{console}), nil)
			o := d.look(console)
			_, err := d.call(o, "click", tc.one)
			one := refused(t, err, canvas.ApprovalRequired)
			_, err = d.call(o, "click", tc.two)
			two := refused(t, err, canvas.ApprovalRequired)
			require.Equal(t, one.Approval.ID, two.Approval.ID)
		})
	}
}

// A window is named by whole numbers.
func TestPC10TargetIsWholeNumbers(t *testing.T) {
	d := newDesk(t, fields(), nil)
	for _, target := range []string{`{"kind":"window","pid":4242.7,"window_id":77}`, `{"kind":"window","pid":4242,"window_id":77.2}`} {
		_, err := d.Call(context.Background(), "get_window_state", json.RawMessage(`{"target":`+target+`}`))
		typed(t, err)
	}
}

// The Go API is held to the same bounds.
func TestActRefusesWhatNoDriverShouldGet(t *testing.T) {
	d, liar := lying(t, func(doc *policy.Document, s *sim.Desktop) {
		fields()(doc, s)
		doc.RealMouse = policy.MouseAllow
	})
	o := d.look(console)
	save, name := d.token(o, "button", "Save"), d.token(o, "textbox", "Name")
	for n, a := range []canvas.Action{
		nil, canvas.Click{}, canvas.TypeText{}, canvas.SetValue{}, canvas.PressKeys{}, canvas.Scroll{}, canvas.Drag{}, canvas.Raise{},
		canvas.Click{Target: save, Count: 4}, canvas.Click{Target: save, Count: -1}, canvas.Click{Target: save, Count: math.MinInt},
		canvas.Click{Target: save, Button: "x"}, canvas.Click{Target: save, Delivery: "x"},
		canvas.Click{Target: save, Modifiers: []canvas.Key{""}}, canvas.Click{Target: save, Modifiers: []canvas.Key{"a"}},
		canvas.Scroll{Target: name, By: image.Pt(1, 1)}, canvas.Scroll{Target: name, By: image.Pt(0, 101)},
		canvas.Scroll{Target: name, By: image.Pt(0, math.MaxInt)},
		canvas.SetValue{Target: name, Value: "\xff"}, canvas.TypeText{Target: name, Text: "\xed\xa0\x80"},
		canvas.TypeText{Target: name, Text: "a\u2028b\x7f"},
		canvas.PressKeys{Window: o.Window().Ref, Keys: []canvas.Key{"\xff"}},
		canvas.PressKeys{Window: o.Window().Ref, Keys: []canvas.Key{"ctrl", "shift"}},
		canvas.PressKeys{Window: canvas.WindowRef{PID: -1, ID: 77}, Keys: []canvas.Key{"a"}},
		canvas.Raise{Window: canvas.WindowRef{PID: 4242}},
	} {
		_, err := d.Act(context.Background(), a)
		require.Error(t, err, n)
		typed(t, err)
	}
	require.Zero(t, liar.Dispatched())
}

func TestActRefusesTheSmallestScroll(t *testing.T) {
	d, liar := lying(t, fields())
	name := d.token(d.look(console), "textbox", "Name")
	for _, by := range []image.Point{{Y: math.MinInt}, {X: math.MinInt}} {
		_, err := d.Act(context.Background(), canvas.Scroll{Target: name, By: by})
		refused(t, err, canvas.BadRequest)
	}
	require.Zero(t, liar.Dispatched())
}

// Every spelling of copy, cut, paste, undo and their menus is refused, in a
// window where everything else may be done.
func TestPC15ClipboardInEverySpelling(t *testing.T) {
	quick(t)
	green := func(doc *policy.Document, s *sim.Desktop) {
		selected([]string{console})(doc, s)
		doc.DefaultLevel = driver.LevelAllow
		doc.RealMouse = policy.MouseAllow
	}
	for _, tc := range []struct {
		keys []canvas.Key
		why  string
	}{
		{[]canvas.Key{"ctrl", "c"}, ""}, {[]canvas.Key{"CTRL", "C"}, ""}, {[]canvas.Key{"control", "x"}, ""}, {[]canvas.Key{"meta", "v"}, ""},
		{[]canvas.Key{"shift", "insert"}, ""}, {[]canvas.Key{"ctrl", "ins"}, ""}, {[]canvas.Key{"shift", "del"}, ""},
		{[]canvas.Key{"ctrl", "shift", "v"}, ""}, {[]canvas.Key{"ctrl", "alt", "v"}, ""}, {[]canvas.Key{"ctrl", "z"}, ""},
		{[]canvas.Key{"ctrl", "shift", "z"}, ""}, {[]canvas.Key{"ctrl", "y"}, ""}, {[]canvas.Key{"ctrl", "k"}, ""},
		{[]canvas.Key{"xf86paste"}, ""}, {[]canvas.Key{"copy"}, ""}, {[]canvas.Key{"cmd", "shift", "v"}, ""}, {[]canvas.Key{"menu"}, ""},
		{[]canvas.Key{"ctrl", "с"}, "с of another alphabet, on the key of c"},
		{[]canvas.Key{"cmd", "м"}, "м, on the key of v"},
		{[]canvas.Key{"ctrl", "ｖ"}, "fullwidth"},
		{[]canvas.Key{"alt", "backspace"}, "Alt+Backspace is undo on Windows"},
		{[]canvas.Key{"shift", "f10"}, "Shift+F10 opens the menu that the menu key does"},
	} {
		t.Run(fmt.Sprint(tc.keys), func(t *testing.T) {
			d, liar := lying(t, green)
			d.look(console)
			err := keys(d, d.Canvas, tc.keys...)
			e := typed(t, err)
			require.Contains(t, []canvas.Code{canvas.ClipboardRefused, canvas.ToolDenied, canvas.BadRequest}, e.Code)
			require.Zero(t, liar.Dispatched(), tc.why)
		})
	}
}

// Menu items that copy, paste, print, save or inspect are refused (PC15, PC36).
func TestPC36MenuItemsOfTheClipboard(t *testing.T) {
	quick(t)
	for _, words := range []string{"Paste", "Copy", "Cut", "Paste as plain text", "Print…", "Inspect", "Save as…"} {
		t.Run(words, func(t *testing.T) {
			d, liar := lying(t, selected([]string{console}, on(driver.LevelAllow, "menuitem", words)))
			liar.OnSnapshot(drivertest.Spoil(0, func(s *driver.Snapshot) {
				e := s.Elements[len(s.Elements)-1]
				e.Role, e.RawRole, e.Label, e.Value = driver.RoleMenuItem, "menu item", words, ""
				e.Bounds = image.Rect(0, 0, 20, 20).Add(s.Window.Bounds.Min)
				s.Elements = append(s.Elements[:len(s.Elements):len(s.Elements)], e)
			}))
			_, err := d.Act(context.Background(), canvas.Click{Target: d.token(d.look(console), "menuitem", words)})
			typed(t, err)
			require.Zero(t, liar.Dispatched())
		})
	}
}

// Drags go only where a person allowed points, by a path that crosses nothing
// restricted, and never begin in text.
func TestPC14DragWherePointsAreAllowed(t *testing.T) {
	at := func(x, y int) image.Point { return image.Pt(x, y) }
	for _, tc := range []struct {
		name     string
		from, to image.Point
		cover    bool
		code     canvas.Code // "": done once
	}{
		{"over free ground", at(500, 505), at(560, 510), false, ""},
		{"from the picture's edge out", at(10, 500), at(640, 520), false, canvas.BadRequest},
		{"negative", at(-1, 5), at(10, 10), false, canvas.BadRequest},
		{"across a read-only control", at(200, 424), at(400, 424), false, canvas.ReadOnly},
		{"across what is hidden", at(100, 108), at(400, 108), false, canvas.Hidden},
		{"out of a text field", at(130, 200), at(500, 505), false, canvas.ClipboardRefused},
		{"in front, under another window", at(130, 420), at(150, 430), true, canvas.Covered},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, liar := lying(t, func(doc *policy.Document, s *sim.Desktop) {
				selected([]string{console}, hideKey(), on(driver.LevelReadOnly, "button", "Delete"))(doc, s)
				doc.DefaultLevel, doc.RealMouse = driver.LevelAllow, policy.MouseAllow
				doc.Coordinates = doc.Windows
			})
			o := d.look(console)
			liar.OnDo(func(context.Context, int, drivertest.Act, func(context.Context) (driver.Result, error)) (driver.Result, error) {
				return driver.Result{Effect: driver.EffectConfirmed}, nil
			})
			a := canvas.Drag{Window: o.Window().Ref, From: tc.from, To: tc.to}
			if tc.cover {
				a.Delivery = canvas.Foreground
				d.sim.Cover(o.Window().Ref, "Save")
			}
			_, err := d.Act(context.Background(), a)
			if tc.code == "" {
				require.NoError(t, err)
				require.Equal(t, 1, liar.Dispatched())
				return
			}
			refused(t, err, tc.code)
			require.Zero(t, liar.Dispatched())
		})
	}
}

// The wheel over or on a value control is a click on it (PC16).
func TestPC16WheelOnValueControls(t *testing.T) {
	quick(t)
	for _, level := range []driver.Level{driver.LevelReadOnly, driver.LevelAsk, driver.LevelHide} {
		for _, delivery := range []canvas.Delivery{canvas.Background, canvas.Foreground} {
			t.Run(string(level)+" "+string(delivery), func(t *testing.T) {
				d, liar := lying(t, func(doc *policy.Document, s *sim.Desktop) {
					selected([]string{browser}, on(level, "slider", "Discount"))(doc, s)
					doc.RealMouse = policy.MouseAllow
				})
				o := d.look(browser)
				for e := range o.Elements() {
					if e.Role == "slider" {
						_, err := d.Act(context.Background(), canvas.Scroll{Target: e.Token, By: down(1), Delivery: delivery})
						typed(t, err)
					}
				}
				require.Zero(t, liar.Dispatched())
				// By its container, whose middle is put over it.
				liar.OnSnapshot(drivertest.Spoil(0, func(s *driver.Snapshot) {
					for i := range s.Elements {
						if e := &s.Elements[i]; e.Role == driver.RoleDocument {
							c := boundsOf(s, "Discount")
							e.Bounds = image.Rect(c.Min.X-50, c.Min.Y-50, c.Max.X+50, c.Max.Y+50)
						}
					}
				}))
				o, err := d.Capture(context.Background(), d.sim.Window(browser), nil)
				if err != nil {
					typed(t, err)
					return
				}
				for e := range o.Elements() {
					if e.Role == "document" {
						_, err := d.Act(context.Background(), canvas.Scroll{Target: e.Token, By: down(1), Delivery: delivery})
						typed(t, err)
					}
				}
				require.Zero(t, liar.Dispatched())
				require.Equal(t, "10", d.sim.Value(d.sim.Window(browser), "Discount"))
			})
		}
	}
}

// An ask that is too large for a person is the agent's fault, not the rules'.
func TestPC19AskThatIsTooLong(t *testing.T) {
	d := newDesk(t, selected([]string{console}), nil)
	name := d.token(d.look(console), "textbox", "Name")
	for _, value := range []string{strings.Repeat("\u0416", 32<<10), strings.Repeat("<", 64<<10), strings.Repeat("\"", 64<<10)} {
		_, err := d.Act(context.Background(), canvas.SetValue{Target: name, Value: value})
		require.Contains(t, []canvas.Code{canvas.ApprovalRequired, canvas.BadRequest}, typed(t, err).Code)
	}
}

// Typed text is in clear only while the person may have to read it (D14).
func TestPC24TypedTextIsNowhereAfterTheEnd(t *testing.T) {
	const typedText = "Grace Hopper 77"
	for _, end := range []string{"done", "denied", "withdrawn", "closed"} {
		t.Run(end, func(t *testing.T) {
			d := newDesk(t, selected([]string{console}), nil)
			o := d.look(console)
			set := canvas.SetValue{Target: d.token(o, "textbox", "Name"), Value: typedText}
			_, err := d.Act(context.Background(), set)
			refused(t, err, canvas.ApprovalRequired)
			switch end {
			case "done":
				d.person(true)
				_, err = d.Act(context.Background(), set)
				require.NoError(t, err)
			case "denied":
				d.person(false)
				_, err = d.Act(context.Background(), set)
				refused(t, err, canvas.ApprovalDenied)
			case "withdrawn":
				d.look(console)
			}
			require.NoError(t, d.Close())
			canary(t, d.dir, typedText)
		})
	}
}
