package permissioncanvas

import (
	"context"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/redact"
)

// Backend is all that an agent can do. Every error is an *Error. It is safe
// for concurrent use.
type Backend interface {
	// ListWindows returns the windows a person selected, front first. It is
	// never empty without an error: none selected is NoWindowSelected.
	ListWindows(ctx context.Context) ([]Window, error)
	// Capture returns what the agent may see of one window. Earlier tokens of
	// that window die and its unanswered asks are withdrawn.
	Capture(ctx context.Context, w WindowRef, opts *CaptureOptions) (*Observation, error)
	// Act performs one action at most once and never repeats it. Where a rule
	// says ask, it waits for the person while ctx lives: a deadline leaves the
	// ask open (RetrySame), a cancel withdraws it. Waiting holds no lock.
	Act(ctx context.Context, a Action) (Result, error)
}

var (
	_ Backend = (*Canvas)(nil)
	_ Tools   = (*Canvas)(nil)
)

// The vocabulary, by its names here.
type (
	Driver      = driver.Driver
	WindowRef   = driver.WindowRef
	Token       = driver.Token
	Level       = driver.Level
	Button      = driver.Button
	Key         = driver.Key
	Delivery    = driver.Delivery
	Effect      = driver.Effect
	Window      = redact.Window
	Observation = redact.Observation
	Element     = redact.Element

	// Action is one of Click, TypeText, SetValue, PressKeys, Scroll, Drag,
	// Raise and Steps; no other type can implement it.
	Action    = driver.Action
	Click     = driver.Click
	TypeText  = driver.TypeText
	SetValue  = driver.SetValue
	PressKeys = driver.PressKeys
	Scroll    = driver.Scroll
	Drag      = driver.Drag
	Raise     = driver.Raise
	// Steps is shown to the person as one list with one grant each, and done in
	// order on one Observation; the first surprise ends it. No Steps within.
	Steps = driver.Steps
)

// Levels, as the agent meets them.
const (
	LevelAllow    = driver.LevelAllow
	LevelReadOnly = driver.LevelReadOnly
	LevelAsk      = driver.LevelAsk
)

// Deliveries and buttons.
const (
	Background   = driver.Background
	Foreground   = driver.Foreground
	ButtonLeft   = driver.ButtonLeft
	ButtonRight  = driver.ButtonRight
	ButtonMiddle = driver.ButtonMiddle
)

// Mode is the driver's permission mode. No mode relaxes a rule.
type Mode string

const (
	Standard     Mode = "standard"
	Bounded      Mode = "bounded"
	Unrestricted Mode = "unrestricted"
)

// CaptureOptions can only ask for less; nil asks for all that may be seen.
type CaptureOptions struct {
	NoImage     bool
	MaxSide     int    // longest side of the image in pixels; 0: the driver's
	MaxElements int    // 0: 250; the rest is counted in Text
	Query       string // only elements whose visible text contains it
}

// Result is what the driver says came of an action, or for a text what was
// read back. Capture to know.
type Result struct {
	Effect Effect
	Done   int     // of Steps
	Popup  *Window // opened by the act and now visible to the agent
}
