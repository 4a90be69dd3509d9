package cua

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/mcpwire"
)

// element is a decoded node with what is needed to put it in its place.
type element struct {
	driver.Element
	index  int
	parent *int
	inPage bool // as the driver says it; a page's own document is not
}

// wireFrame is an element's rectangle.
type wireFrame struct {
	X *float64 `json:"x"`
	Y *float64 `json:"y"`
	W *float64 `json:"w"`
	H *float64 `json:"h"`
}

// decodeElements reads the list and sorts it into the order of the tree, which
// 0.37 does not keep.
func decodeElements(raw json.RawMessage) ([]element, error) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, incomplete(errShape.Error())
	}
	items, err := mcpwire.Split(raw)
	if err != nil {
		return nil, incomplete(errShape.Error())
	}
	all := make([]element, len(items))
	for i, item := range items {
		if err := all[i].decode(item.Value); err != nil {
			return nil, incomplete(err.Error())
		}
	}
	slices.SortStableFunc(all, func(a, b element) int { return cmp.Compare(a.index, b.index) })
	return all, resolve(all)
}

// resolve turns the driver's parent indexes into positions. An index that
// is named twice or not at all means that nodes are missing.
func resolve(all []element) error {
	at := make(map[int]int, len(all))
	tokens := make(map[string]bool, len(all))
	for i := range all {
		e := &all[i]
		if _, twice := at[e.index]; twice || (e.Token != "" && tokens[e.Token]) {
			return incomplete("an element listed twice")
		}
		at[e.index] = i
		tokens[e.Token] = true
		if e.parent == nil {
			continue
		}
		p, ok := at[*e.parent]
		if !ok || p >= i {
			return incomplete("a parent that is not listed before its child")
		}
		e.Parent = p
	}
	return nil
}

// decode reads one node. Strings under keys that are not known may be anything
// the application said, so they are kept for matching.
func (e *element) decode(raw []byte) error {
	members, err := mcpwire.Split(raw)
	if err != nil || raw[0] != '{' {
		return errShape
	}
	e.Parent = -1
	enabled, indexed := true, false
	for _, m := range members {
		if string(m.Value) == "null" {
			continue
		}
		var err error
		switch m.Key {
		case "element_index":
			indexed = true
			err = json.Unmarshal(m.Value, &e.index)
		case "parent_index":
			err = json.Unmarshal(m.Value, &e.parent)
		case "element_token":
			err = json.Unmarshal(m.Value, &e.Token)
		case "role":
			err = json.Unmarshal(m.Value, &e.RawRole)
		case "label":
			err = json.Unmarshal(m.Value, &e.Label)
		case "value":
			err = json.Unmarshal(m.Value, &e.Value)
		case "enabled":
			err = json.Unmarshal(m.Value, &enabled)
		case "selected":
			err = json.Unmarshal(m.Value, &e.Selected)
		case "in_web_content":
			err = json.Unmarshal(m.Value, &e.inPage)
		case "actions":
			err = json.Unmarshal(m.Value, &e.Actions)
		case "frame":
			err = e.frame(m.Value)
		case "depth", "screenshot_frame":
		default:
			e.Text = texts(e.Text, m.Value)
		}
		if err != nil {
			return fmt.Errorf("%w: an element's member", errShape)
		}
	}
	if !indexed || e.index < 0 {
		return fmt.Errorf("%w: an element without an index", errShape)
	}
	e.Disabled = !enabled
	e.Role = driver.RoleOf(e.RawRole)
	e.Web = e.inPage || e.RawRole == "document web"
	if e.Role == driver.RolePassword && onlyBullets(e.Label) {
		e.Label = "" // 0.21 names a password field by its dots, whose number is a secret
	}
	return nil
}

func (e *element) frame(raw []byte) error {
	var f wireFrame
	if err := json.Unmarshal(raw, &f); err != nil {
		return err
	}
	if f.X == nil || f.Y == nil || f.W == nil || f.H == nil {
		return errShape
	}
	e.Bounds = outward(*f.X, *f.Y, *f.W, *f.H)
	return nil
}

// offScreen is what 0.37 itself says as the description of a control that has
// none and is scrolled away.
const offScreen = "off-screen: scroll it into view before a pixel action; element actions still reach it"

// texts adds every string within a value, at any depth, keys not counted.
func texts(all []string, raw []byte) []string {
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" && s != offScreen {
			all = append(all, s)
		}
	case '{', '[':
		members, err := mcpwire.Split(raw)
		if err != nil {
			return all
		}
		for _, m := range members {
			all = texts(all, m.Value)
		}
	}
	return all
}

// onlyBullets reports whether s is what a masked field paints, and nothing else.
func onlyBullets(s string) bool {
	return s != "" && strings.Trim(s, "●•∙⬤○◦*·") == ""
}
