package permissioncanvas

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// modifiers maps each spelling of a modifier to one.
var modifiers = map[Key]Key{
	"ctrl": "ctrl", "control": "ctrl", "shift": "shift", "alt": "alt", "option": "alt", "altgr": "alt",
	"super": "super", "meta": "super", "win": "super", "windows": "super", "cmd": "super", "command": "super",
}

// named maps each spelling of a named key to one. A key that is neither here
// nor one printable character is refused.
var named = map[Key]Key{
	"enter": "enter", "return": "enter", "kp_enter": "enter", "tab": "tab", "escape": "escape", "esc": "escape",
	"space": "space", "backspace": "backspace", "delete": "delete", "del": "delete", "insert": "insert", "ins": "insert",
	"left": "left", "right": "right", "up": "up", "down": "down",
	"arrowleft": "left", "arrowright": "right", "arrowup": "up", "arrowdown": "down",
	"home": "home", "end": "end", "pageup": "pageup", "page_up": "pageup", "pagedown": "pagedown", "page_down": "pagedown",
	"menu": "menu", "print": "print", "printscreen": "print",
	"f1": "f1", "f2": "f2", "f3": "f3", "f4": "f4", "f5": "f5", "f6": "f6",
	"f7": "f7", "f8": "f8", "f9": "f9", "f10": "f10", "f11": "f11", "f12": "f12",
	"copy": "copy", "cut": "cut", "paste": "paste", "undo": "undo", "redo": "redo",
	"xf86copy": "copy", "xf86cut": "cut", "xf86paste": "paste",
}

// normalKeys spells keys one way: modifiers first, in a fixed order, then one
// key.
func normalKeys(keys []Key) ([]Key, error) {
	held := map[Key]bool{}
	var last Key
	for _, k := range keys {
		low := Key(strings.ToLower(string(k)))
		if m, ok := modifiers[low]; ok {
			held[m] = true
			continue
		}
		if last != "" {
			return nil, refuse(BadRequest, nil, "Press one key at a time, with modifiers before it.")
		}
		n, ok := named[low]
		if !ok {
			r, size := utf8.DecodeRuneInString(string(k))
			if size == 0 || size != len(k) || r == utf8.RuneError || !unicode.IsPrint(r) {
				return nil, refuse(BadRequest, nil, "That key has no name here.")
			}
			n = low
			if len(keys) == 1 {
				n = k // a lone capital is itself
			}
		}
		last = n
	}
	if last == "" {
		return nil, refuse(BadRequest, nil, "Name one key to press.")
	}
	return append(inOrder(held), last), nil
}

// inOrder lists the modifiers that are held, each once, always alike.
func inOrder(held map[Key]bool) []Key {
	var out []Key
	for _, m := range []Key{"ctrl", "alt", "shift", "super"} {
		if held[m] {
			out = append(out, m)
		}
	}
	return out
}

// keyClass is what pressing keys may do (PC15, PC31).
type keyClass int

const (
	keyOther     keyClass = iota // may reach any control of the window
	keySystem                    // works on the window or the desktop
	keyClipboard                 // copies, cuts, pastes, or brings something back
	keyEdit                      // edits or moves within the field that has focus
)

// classify judges keys that normalKeys returned.
func classify(keys []Key) keyClass {
	last, held := keys[len(keys)-1], keys[:len(keys)-1]
	has := func(m Key) bool {
		for _, k := range held {
			if k == m {
				return true
			}
		}
		return false
	}
	ctrl, alt, shift, super := has("ctrl"), has("alt"), has("shift"), has("super")
	switch last {
	case "copy", "cut", "paste", "undo", "redo":
		return keyClipboard
	case "insert":
		if ctrl || shift {
			return keyClipboard
		}
		return keyOther
	case "delete":
		if shift {
			return keyClipboard
		}
	case "c", "x", "v", "y", "z", "k":
		if ctrl || super {
			return keyClipboard
		}
	case "w":
		if alt && !ctrl && !super {
			return keyClipboard // some toolkits copy with it
		}
	}
	switch {
	case super, ctrl && alt, last == "print", last == "menu", shift && last == "f10":
		return keySystem
	case (ctrl || alt) && last[0] >= utf8.RuneSelf:
		return keySystem // with another alphabet's letter a toolkit may take the key for ours
	case alt: // menus, access keys, window and history keys
		if last == "backspace" {
			return keyClipboard // undoes
		}
		if last == "f4" || last == "tab" || last == "space" || last == "escape" {
			return keySystem
		}
		return keyOther
	case ctrl:
		return classifyCtrl(last)
	case last == "f11" || last == "f12":
		return keySystem
	}
	switch last {
	case "backspace", "delete", "left", "right", "up", "down", "home", "end", "space":
		return keyEdit
	}
	if utf8.RuneCountInString(string(last)) == 1 {
		return keyEdit // a character, as typed
	}
	return keyOther
}

// classifyCtrl judges keys pressed with Ctrl, Shift or not.
func classifyCtrl(last Key) keyClass {
	switch last {
	case "a", "left", "right", "home", "end", "backspace", "delete":
		return keyEdit // select all, and moves by word
	case "w", "q", "n", "t", "o", "p", "s", "u", "i", "j", "l", "r", "h", "d", "f4", "f5",
		"tab", "pageup", "pagedown", "escape":
		return keySystem // other windows, tabs, pages, printing, saving, inspecting
	}
	return keyOther
}
