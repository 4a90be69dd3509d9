package driver

import "image"

// A Token names one element: in the facade, of the newest observation of its
// window; beneath it, the driver's own handle.
type Token string

// Action is one of the types below; no other type can implement it.
type Action interface{ action() }

type (
	// Click presses and releases a pointer button on Target. The zero Button
	// is the left one, a zero Count is one click.
	Click struct {
		Target    Token
		Button    Button
		Count     int
		Modifiers []Key
		Delivery  Delivery
	}
	// TypeText types Text. In the facade it first clicks Target; a Driver
	// only types, into Target where it is known to honour that and else to
	// what has the focus.
	TypeText struct {
		Target   Token
		Text     string
		Delivery Delivery
	}
	// SetValue replaces Target's value by accessibility.
	SetValue struct {
		Target   Token
		Value    string
		Delivery Delivery
	}
	// PressKeys presses Keys together, the last one last, in Window.
	PressKeys struct {
		Window   WindowRef
		Keys     []Key
		Delivery Delivery
	}
	// Scroll turns the wheel over Target by lines; positive is right and down.
	Scroll struct {
		Target   Token
		By       image.Point
		Delivery Delivery
	}
	// Drag moves a held left button between two points of Window's image.
	Drag struct {
		Window   WindowRef
		From, To image.Point
		Delivery Delivery
	}
	// Raise brings Window to the front.
	Raise struct{ Window WindowRef }
	// Steps are done in order. A Driver is never given them: they are taken
	// apart where they are decided.
	Steps []Action
)

func (Click) action()     {}
func (TypeText) action()  {}
func (SetValue) action()  {}
func (PressKeys) action() {}
func (Scroll) action()    {}
func (Drag) action()      {}
func (Raise) action()     {}
func (Steps) action()     {}

// Button is a pointer's button.
type Button string

const (
	ButtonLeft   Button = "left"
	ButtonRight  Button = "right"
	ButtonMiddle Button = "middle"
)

// Delivery is how input reaches a window.
type Delivery string

const (
	// Background leaves the person's pointer, keyboard and windows alone. The
	// zero Delivery means it.
	Background Delivery = "background"
	// Foreground brings the window to the front and uses the person's real
	// pointer and keyboard.
	Foreground Delivery = "foreground"
)

// Key is a key's name in the driver's spelling: a printable character, or a
// word such as "enter", "ctrl" or "f5", in lower case.
type Key string

// Effect is what a driver says came of an action. It proves nothing.
type Effect string

const (
	EffectConfirmed     Effect = "confirmed"
	EffectPartial       Effect = "partial"
	EffectUnverifiable  Effect = "unverifiable"
	EffectSuspectedNoop Effect = "suspected_noop"
	EffectRefused       Effect = "refused"
)

// Result of an action that was dispatched.
type Result struct {
	Effect Effect
	// Retargeted: the driver says that something else than Target got it.
	Retargeted bool
	// Popup is the window that the action opened, where the driver names one.
	Popup WindowRef
}
