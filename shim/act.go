package shim

import (
	"context"
	"encoding/json"
	"image"

	"github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// actLine is an act of any kind. Each kind takes some of the keys, and a key
// that its kind does not take is refused, so that none goes unjudged.
type actLine struct {
	Action    string                    `json:"action"`
	Token     permissioncanvas.Token    `json:"token"`
	PID       int                       `json:"pid"`
	ID        uint64                    `json:"window_id"`
	Button    permissioncanvas.Button   `json:"button"`
	Count     int                       `json:"count"`
	Modifiers []permissioncanvas.Key    `json:"modifiers"`
	Keys      []permissioncanvas.Key    `json:"keys"`
	Text      *string                   `json:"text"`
	Value     *string                   `json:"value"`
	By        *point                    `json:"by"`
	From      *point                    `json:"from"`
	To        *point                    `json:"to"`
	Delivery  permissioncanvas.Delivery `json:"delivery"`
	Steps     []json.RawMessage         `json:"steps"`
	Wait      *int                      `json:"wait"`
}

type point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

func act(ctx context.Context, desk Desk, params json.RawMessage) (any, error) {
	wait := usualWait
	a, err := readAct(params, &wait)
	if err != nil {
		return nil, err
	}
	ctx, err = waiting(ctx, wait)
	if err != nil {
		return nil, err
	}
	res, err := desk.Act(ctx, a)
	if err != nil {
		return nil, err
	}
	reply := struct {
		Effect permissioncanvas.Effect `json:"effect"`
		Done   int                     `json:"done,omitempty"` // of steps
		Popup  *windowLine             `json:"popup,omitempty"`
	}{Effect: res.Effect, Done: res.Done}
	if res.Popup != nil {
		w := windowOf(*res.Popup)
		reply.Popup = &w
	}
	return reply, nil
}

// takes lists, for each kind of act, the keys beside action.
func takes(action string) []string {
	switch action {
	case "click":
		return []string{"token", "button", "count", "modifiers", "delivery"}
	case "type_text":
		return []string{"token", "text", "delivery"}
	case "set_value":
		return []string{"token", "value", "delivery"}
	case "press_keys":
		return []string{"pid", "window_id", "keys", "delivery"}
	case "scroll":
		return []string{"token", "by", "delivery"}
	case "drag":
		return []string{"pid", "window_id", "from", "to", "delivery"}
	case "raise":
		return []string{"pid", "window_id"}
	case "steps":
		return []string{"steps"}
	}
	return nil
}

// readAct reads one act. A nil wait is a step's, which cannot wait by itself.
func readAct(params json.RawMessage, wait *int) (permissioncanvas.Action, error) {
	var l actLine
	if params == nil {
		params = json.RawMessage("{}")
	}
	if err := decode(params, &l); err != nil {
		return nil, err
	}
	known := takes(l.Action)
	if known == nil {
		return nil, bad("The action is click, type_text, set_value, press_keys, scroll, drag, raise or steps.")
	}
	if wait != nil {
		known = append(known, "wait")
		if l.Wait != nil {
			*wait = *l.Wait
		}
	}
	if err := only(params, known); err != nil {
		return nil, err
	}
	return l.act(wait != nil)
}

// only refuses a key that stands in params and not in known.
func only(params json.RawMessage, known []string) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(params, &keys); err != nil {
		return bad("The params are one JSON object.")
	}
	delete(keys, "action")
	for _, k := range known {
		delete(keys, k)
	}
	for k := range keys { // all are names of ours, or decode had refused them
		return &permissioncanvas.Error{
			Code: permissioncanvas.ArgumentUnknown, Next: permissioncanvas.Stop,
			Message: "This action takes no " + k + ". Leave it out.",
		}
	}
	return nil
}

// act makes the action. Steps stand at the top only.
func (l *actLine) act(top bool) (permissioncanvas.Action, error) {
	w := permissioncanvas.WindowRef{PID: l.PID, ID: l.ID}
	switch l.Action {
	case "click":
		return permissioncanvas.Click{Target: l.Token, Button: l.Button, Count: l.Count, Modifiers: l.Modifiers, Delivery: l.Delivery}, nil
	case "type_text":
		if l.Text != nil {
			return permissioncanvas.TypeText{Target: l.Token, Text: *l.Text, Delivery: l.Delivery}, nil
		}
	case "set_value":
		if l.Value != nil {
			return permissioncanvas.SetValue{Target: l.Token, Value: *l.Value, Delivery: l.Delivery}, nil
		}
	case "press_keys":
		return permissioncanvas.PressKeys{Window: w, Keys: l.Keys, Delivery: l.Delivery}, nil
	case "scroll":
		if l.By != nil {
			return permissioncanvas.Scroll{Target: l.Token, By: image.Pt(l.By.X, l.By.Y), Delivery: l.Delivery}, nil
		}
	case "drag":
		if l.From != nil && l.To != nil {
			return permissioncanvas.Drag{Window: w, From: image.Pt(l.From.X, l.From.Y), To: image.Pt(l.To.X, l.To.Y), Delivery: l.Delivery}, nil
		}
	case "raise":
		return permissioncanvas.Raise{Window: w}, nil
	case "steps":
		if top {
			return l.list()
		}
		return nil, bad("A step is one act, and no list of its own.")
	}
	return nil, bad("This action lacks what it is to do.")
}

func (l *actLine) list() (permissioncanvas.Action, error) {
	list := make(permissioncanvas.Steps, 0, len(l.Steps))
	for _, raw := range l.Steps {
		a, err := readAct(raw, nil)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}
