package permissioncanvas

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/driver"
)

// maxText is how many bytes of text one action may carry.
const maxText = 64 << 10

// normal returns a with every default written out, so that one action has one
// form, or refuses what no driver should be given. It says nothing about
// permission.
func normal(a Action) (Action, error) {
	switch a := a.(type) {
	case Click:
		return normalClick(a)
	case TypeText:
		if err := checkText(a.Text); err != nil {
			return nil, err
		}
		if a.Text == "" {
			return nil, refuse(BadRequest, nil, "There is no text to type.")
		}
		d, err := delivery(a.Delivery)
		a.Delivery = d
		return a, err
	case SetValue:
		if err := checkText(a.Value); err != nil {
			return nil, err
		}
		d, err := delivery(a.Delivery)
		a.Delivery = d
		return a, err
	case PressKeys:
		keys, err := normalKeys(a.Keys)
		if err != nil {
			return nil, err
		}
		a.Keys = keys
		a.Delivery, err = delivery(a.Delivery)
		return a, err
	case Scroll:
		bounds := image.Rect(-100, -100, 101, 101)
		if a.By == (image.Point{}) || !a.By.In(bounds) || a.By.X != 0 && a.By.Y != 0 {
			return nil, refuse(BadRequest, nil, "Scroll by 1 to 100 lines, in one direction.")
		}
		d, err := delivery(a.Delivery)
		a.Delivery = d
		return a, err
	case Drag:
		d, err := delivery(a.Delivery)
		a.Delivery = d
		return a, err
	case Raise:
		return a, nil
	}
	return nil, refuse(BadRequest, nil, "That is no action.")
}

func normalClick(a Click) (Action, error) {
	switch a.Button {
	case "":
		a.Button = driver.ButtonLeft
	case driver.ButtonLeft, driver.ButtonRight, driver.ButtonMiddle:
	default:
		return nil, refuse(BadRequest, nil, "The button is left, right or middle.")
	}
	if a.Count == 0 {
		a.Count = 1
	}
	if a.Count < 1 || a.Count > 3 {
		return nil, refuse(BadRequest, nil, "A click is one, two or three presses.")
	}
	held := map[Key]bool{}
	for _, m := range a.Modifiers {
		m, ok := modifiers[Key(strings.ToLower(string(m)))]
		if !ok {
			return nil, refuse(BadRequest, nil, "The modifiers are ctrl, shift, alt and super.")
		}
		held[m] = true
	}
	a.Modifiers = inOrder(held)
	d, err := delivery(a.Delivery)
	a.Delivery = d
	return a, err
}

func delivery(d Delivery) (Delivery, error) {
	switch d {
	case "", driver.Background:
		return driver.Background, nil
	case driver.Foreground:
		return d, nil
	}
	return "", refuse(BadRequest, nil, "The delivery is background or foreground.")
}

// checkText refuses text that is no text. Line breaks are judged later, by
// the field they go to; every other control character moves focus, submits or
// worse, and is refused for every field (PC31).
func checkText(s string) error {
	if len(s) > maxText {
		return refuse(BadRequest, nil, fmt.Sprintf("The text is longer than %d bytes.", maxText))
	}
	if !utf8.ValidString(s) {
		return refuse(BadRequest, nil, "The text is not valid UTF-8.")
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unseen(r)) }) {
		return refuse(BadRequest, nil, "The text holds a control character such as Tab, which would reach another control. Send only what belongs in the field.")
	}
	return nil
}

// unseen says that r breaks a line or turns the reading order without being a
// control character.
func unseen(r rune) bool {
	return r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// lines says that text breaks lines, which only some fields may be given.
func lines(a Action) bool {
	switch a := a.(type) {
	case TypeText:
		return strings.Contains(a.Text, "\n")
	case SetValue:
		return strings.Contains(a.Value, "\n")
	}
	return false
}

// fills says that a puts a text or a value into a field.
func fills(a Action) bool {
	switch a.(type) {
	case TypeText, SetValue:
		return true
	}
	return false
}

// tool is the driver's name for a, which the guard judges.
func tool(a Action) string {
	switch a := a.(type) {
	case Click:
		switch {
		case a.Button == driver.ButtonRight:
			return "right_click"
		case a.Count == 2:
			return "double_click"
		}
		return "click"
	case TypeText:
		return "type_text"
	case SetValue:
		return "set_value"
	case PressKeys:
		if len(a.Keys) > 1 {
			return "hotkey"
		}
		return "press_key"
	case Scroll:
		return "scroll"
	case Drag:
		return "drag"
	case Raise:
		return "bring_to_front"
	}
	return ""
}

// target is the token of the control that a names; "" where it names none.
func target(a Action) (Token, bool) {
	switch a := a.(type) {
	case Click:
		return a.Target, true
	case TypeText:
		return a.Target, true
	case SetValue:
		return a.Target, true
	case Scroll:
		return a.Target, true
	}
	return "", false
}

// window is the window that a names itself.
func window(a Action) WindowRef {
	switch a := a.(type) {
	case PressKeys:
		return a.Window
	case Drag:
		return a.Window
	case Raise:
		return a.Window
	}
	return WindowRef{}
}

// deliveryOf is how a reaches the window.
func deliveryOf(a Action) Delivery {
	switch a := a.(type) {
	case Click:
		return a.Delivery
	case TypeText:
		return a.Delivery
	case SetValue:
		return a.Delivery
	case PressKeys:
		return a.Delivery
	case Scroll:
		return a.Delivery
	case Drag:
		return a.Delivery
	case Raise:
		return driver.Foreground
	}
	return driver.Foreground
}

// bind returns a with its target exchanged for the driver's handle.
func bind(a Action, handle string) Action {
	switch a := a.(type) {
	case Click:
		a.Target = Token(handle)
		return a
	case TypeText:
		a.Target = Token(handle)
		return a
	case SetValue:
		a.Target = Token(handle)
		return a
	case Scroll:
		a.Target = Token(handle)
		return a
	}
	return a
}

// arguments is a in the one form that is digested and shown: keys in order,
// whole numbers, no escapes but JSON's own.
func arguments(a Action) map[string]any {
	m := map[string]any{"action": tool(a), "delivery_mode": string(deliveryOf(a))}
	if t, ok := target(a); ok {
		m["element_token"] = string(t)
	}
	switch a := a.(type) {
	case Click:
		m["button"], m["count"], m["modifiers"] = a.Button, a.Count, a.Modifiers
	case TypeText:
		m["text"] = a.Text
	case SetValue:
		m["value"] = a.Value
	case PressKeys:
		m["keys"], m["window"] = a.Keys, a.Window
	case Scroll:
		m["by"] = a.By
	case Drag:
		m["from"], m["to"], m["window"] = a.From, a.To, a.Window
	case Raise:
		m["window"] = a.Window
	}
	return m
}

// canonical encodes v as one text that depends on nothing but v.
func canonical(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("permissioncanvas: " + err.Error()) // only maps, strings and numbers come here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func digest(v any) string {
	sum := sha256.Sum256(canonical(v))
	return hex.EncodeToString(sum[:])
}
