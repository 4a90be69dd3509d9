package permissioncanvas

import (
	"encoding/json"
	"image"
	"math"
	"sort"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
)

// callArguments reads the arguments of one call. What a method has read is
// used up; what is left at the end is unknown and refused, so that no key can
// change what a call does without having been judged.
type callArguments struct {
	left    map[string]json.RawMessage
	session string
	window  WindowRef // as pid, window_id or target name it; a part may be missing
}

// readArguments checks raw and takes what every tool has in common.
func readArguments(raw json.RawMessage) (*callArguments, error) {
	in := &callArguments{left: map[string]json.RawMessage{}}
	if len(raw) == 0 || string(raw) == "null" {
		return in, nil
	}
	if err := strictjson.Check(raw, nil); err != nil {
		return nil, refuse(BadRequest, err, "The arguments are not one plain JSON object.")
	}
	if err := json.Unmarshal(raw, &in.left); err != nil {
		return nil, refuse(BadRequest, err, "The arguments are not one plain JSON object.")
	}
	for k, v := range in.left {
		if string(v) == "null" {
			delete(in.left, k) // some hosts write every optional key
		}
	}
	var err error
	if in.session, err = take[string](in, "session", ""); err != nil {
		return nil, err
	}
	if len(in.session) > 200 {
		return nil, refuse(BadRequest, nil, "The session label is too long.")
	}
	return in, in.readWindow()
}

// take reads key as a T and uses it up; without it the answer is missing.
func take[T any](in *callArguments, key string, missing T) (T, error) {
	raw, ok := in.left[key]
	if !ok {
		return missing, nil
	}
	delete(in.left, key)
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return missing, refuse(BadRequest, err, "The argument "+key+" has the wrong type.")
	}
	return v, nil
}

// wholeNumber reads raw as an integer, however it is spelled.
func wholeNumber(raw json.RawMessage) (int, bool) {
	var f float64
	if len(raw) == 0 || json.Unmarshal(raw, &f) != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int(f), true
}

// takeInt is take for whole numbers: 1 and 1.0 are the same (D30).
func takeInt(in *callArguments, key string, missing int) (int, error) {
	raw, err := take(in, key, json.RawMessage(nil))
	if raw == nil || err != nil {
		return missing, err
	}
	n, ok := wholeNumber(raw)
	if !ok {
		return missing, refuse(BadRequest, nil, "The argument "+key+" is not a whole number.")
	}
	return n, nil
}

// readWindow takes pid, window_id, target and scope. A target that is the
// desktop is refused: a window is the most that can be named here.
func (in *callArguments) readWindow() error {
	scope, err := take(in, "scope", "window")
	if err != nil {
		return err
	}
	target, err := take(in, "target", map[string]json.RawMessage(nil))
	if err != nil {
		return err
	}
	if scope != "window" || target != nil && string(target["kind"]) != `"window"` {
		return refuse(DesktopPlacementRefused, nil)
	}
	pid, err := takeInt(in, "pid", 0)
	if err != nil {
		return err
	}
	id, err := takeInt(in, "window_id", 0)
	if err != nil {
		return err
	}
	if target != nil {
		tp, ok1 := wholeNumber(target["pid"])
		ti, ok2 := wholeNumber(target["window_id"])
		if !ok1 || !ok2 || len(target) != 3 || pid != 0 && pid != tp || id != 0 && id != ti {
			return refuse(AmbiguousWindow, nil)
		}
		pid, id = tp, ti
	}
	if pid < 0 || id < 0 || pid > 1<<31-1 {
		return refuse(AmbiguousWindow, nil)
	}
	in.window = WindowRef{PID: pid, ID: uint64(id)}
	return nil
}

// unused refuses what no method has read. Keys that name a point or a bare
// index get the code that says why.
func (in *callArguments) unused() error {
	if len(in.left) == 0 {
		return nil
	}
	keys := make([]string, 0, len(in.left))
	for k := range in.left {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		switch k {
		case "x", "y", "coordinate_frame", "capture_id", "from_zoom":
			return refuse(CoordinatesRefused, nil)
		case "element_index", "snapshot_id":
			return refuse(StaleToken, nil)
		}
	}
	return refuse(ArgumentUnknown, nil, quoteKey(keys[0]))
}

// quoteKey shows a key of the caller's own in a sentence.
func quoteKey(k string) string {
	if len(k) > 40 {
		k = k[:40]
	}
	return string(canonical(strings.ToValidUTF8(k, "?")))
}

// action reads the arguments of tool as an Action.
func (in *callArguments) action(tool string) (Action, error) {
	token, err := take(in, "element_token", Token(""))
	if err != nil {
		return nil, err
	}
	if token != "" {
		// An index counts only beside its token, and must agree with it.
		if err := in.checkIndex(token); err != nil {
			return nil, err
		}
	}
	mode, err := take(in, "delivery_mode", Delivery(""))
	if err != nil {
		return nil, err
	}
	switch tool {
	case "click", "double_click", "right_click":
		return in.click(tool, token, mode)
	case "type_text":
		text, err := take(in, "text", "")
		return TypeText{Target: token, Text: text, Delivery: mode}, err
	case "set_value":
		value, err := take(in, "value", "")
		if err == nil && token == "" {
			err = in.untargeted()
		}
		return SetValue{Target: token, Value: value, Delivery: mode}, err
	case "press_key", "hotkey":
		return in.keys(tool, token, mode)
	case "scroll":
		return in.scroll(token, mode)
	case "drag":
		return in.drag(mode)
	case "bring_to_front":
		return Raise{Window: in.window}, nil
	}
	return nil, refuse(ToolUncovered, nil)
}

func (in *callArguments) checkIndex(token Token) error {
	index, err := take(in, "element_index", json.Number(""))
	if err != nil {
		return err
	}
	if _, tail, ok := strings.Cut(string(token), ":"); index != "" && (!ok || tail != index.String()) {
		return refuse(StaleToken, nil)
	}
	return nil
}

// untargeted is the refusal of a call that names no control: by a point, by a
// bare index, or not at all.
func (in *callArguments) untargeted() error {
	if err := in.unused(); err != nil {
		return err
	}
	return refuse(StaleToken, nil)
}

func (in *callArguments) click(tool string, token Token, mode Delivery) (Action, error) {
	a := Click{Target: token, Delivery: mode}
	if token == "" {
		return nil, in.untargeted()
	}
	var err error
	if a.Modifiers, err = take(in, "modifier", []Key(nil)); err != nil {
		return nil, err
	}
	switch tool {
	case "double_click":
		a.Count = 2
	case "right_click":
		a.Button = driver.ButtonRight
	default:
		if a.Button, err = take(in, "button", Button("")); err != nil {
			return nil, err
		}
		a.Count, err = takeInt(in, "count", 0)
	}
	return a, err
}

func (in *callArguments) keys(tool string, token Token, mode Delivery) (Action, error) {
	if token != "" {
		// Keys go to what has the focus; a token that the driver may not
		// honour proves nothing.
		return nil, refuse(ArgumentUnknown, nil, `"element_token"`)
	}
	a := PressKeys{Window: in.window, Delivery: mode}
	if tool == "hotkey" {
		var err error
		a.Keys, err = take(in, "keys", []Key(nil))
		return a, err
	}
	key, err := take(in, "key", Key(""))
	if err != nil {
		return nil, err
	}
	held, err := take(in, "modifiers", []Key(nil))
	a.Keys = append(append(a.Keys, held...), key)
	return a, err
}

func (in *callArguments) scroll(token Token, mode Delivery) (Action, error) {
	if token == "" {
		if err := in.unusedBut("direction", "amount", "by"); err != nil {
			return nil, err
		}
		return nil, refuse(ScrollRefused, nil)
	}
	direction, err := take(in, "direction", "")
	if err != nil {
		return nil, err
	}
	amount, err := takeInt(in, "amount", 3)
	if err != nil {
		return nil, err
	}
	by, err := take(in, "by", "line")
	if err != nil {
		return nil, err
	}
	if by == "page" {
		amount *= 10
	} else if by != "line" {
		return nil, refuse(BadRequest, nil, "Scroll by line or page.")
	}
	unit, ok := map[string]image.Point{"up": {Y: -1}, "down": {Y: 1}, "left": {X: -1}, "right": {X: 1}}[direction]
	if !ok || amount < 1 {
		return nil, refuse(BadRequest, nil, "Scroll up, down, left or right by at least one.")
	}
	return Scroll{Target: token, By: unit.Mul(amount), Delivery: mode}, nil
}

// unusedBut is unused for a call whose own keys have not been read yet.
func (in *callArguments) unusedBut(own ...string) error {
	for _, k := range own {
		delete(in.left, k)
	}
	return in.unused()
}

func (in *callArguments) drag(mode Delivery) (Action, error) {
	a := Drag{Window: in.window, Delivery: mode}
	for _, p := range []struct {
		key string
		to  *int
	}{{"from_x", &a.From.X}, {"from_y", &a.From.Y}, {"to_x", &a.To.X}, {"to_y", &a.To.Y}} {
		if _, ok := in.left[p.key]; !ok {
			return nil, refuse(BadRequest, nil, "A drag needs from_x, from_y, to_x and to_y.")
		}
		v, err := takeInt(in, p.key, 0)
		if err != nil {
			return nil, err
		}
		*p.to = v
	}
	return a, nil
}
