package permissioncanvas

import (
	"fmt"
	"time"
)

// Error is what every method of [Backend] returns. Message is fixed text, safe
// for a model: no driver's words, no page's words beyond a visible control's
// own name.
type Error struct {
	Code     Code
	Message  string
	Next     Next
	Approval *Approval // with ApprovalRequired, ApprovalDenied and ApprovalExpired

	cause error // for the log only
}

func (e *Error) Error() string { return e.Message }

// Unwrap makes errors.Is(err, Paused) work.
func (e *Error) Unwrap() error { return e.Code }

// Approval is an ask as its asker may know it.
type Approval struct {
	ID      string
	Expires time.Time
	Command string // what the person types, with the profile where it is needed
	Reply   string // the person's words with a denial
}

// Next is what to do about an Error. Treat an unknown one as Stop.
type Next string

const (
	Stop         Next = "stop"
	AskPerson    Next = "ask_person"    // show them Message; only they can change this
	RetrySame    Next = "retry_same"    // the identical action, no Capture in between
	CaptureAgain Next = "capture_again" // then decide afresh
	Inspect      Next = "inspect"       // it may have happened: look, never repeat
)

// A Code is stable, and an error, so that errors.Is(err, Paused) works.
type Code string

func (c Code) Error() string { return string(c) }

// The codes. Each has its sentence and its Next in the table below.
const (
	Paused                  Code = "paused"
	NoWindowSelected        Code = "no_window_selected"
	WindowChanged           Code = "window_changed"
	AmbiguousWindow         Code = "ambiguous_window"
	Hidden                  Code = "hidden"
	ReadOnly                Code = "read_only"
	ApprovalRequired        Code = "approval_required"
	ApprovalDenied          Code = "approval_denied"
	ApprovalExpired         Code = "approval_expired"
	StaleSnapshot           Code = "stale_snapshot"
	StaleToken              Code = "stale_token"
	UnknownElement          Code = "unknown_element"
	ElementChanged          Code = "element_changed"
	RuleUnmatched           Code = "rule_unmatched"
	TooManyPending          Code = "too_many_pending"
	Busy                    Code = "busy"
	ArgumentUnknown         Code = "argument_unknown"
	CoordinatesRefused      Code = "coordinates_refused"
	DragRefused             Code = "drag_refused"
	ClipboardRefused        Code = "clipboard_refused"
	FocusUnknown            Code = "focus_unknown"
	ScrollRefused           Code = "scroll_refused"
	Covered                 Code = "covered"
	BackgroundUnavailable   Code = "background_unavailable"
	Withheld                Code = "withheld"
	BrowserPageUnavailable  Code = "browser_page_unavailable"
	CaptureIncomplete       Code = "capture_incomplete"
	ToolDenied              Code = "tool_denied"
	ToolUncovered           Code = "tool_uncovered"
	NoApprover              Code = "no_approver"
	PolicyInvalid           Code = "policy_invalid"
	AuditFailed             Code = "audit_failed"
	DriverFailed            Code = "driver_failed"
	EffectUncertain         Code = "effect_uncertain"
	DesktopPlacementRefused Code = "desktop_placement_refused"
	ManifestInvalid         Code = "manifest_invalid"
	MigrationRequired       Code = "migration_required"
	BadRequest              Code = "bad_request"
)

// refusal is what the table holds for a code.
type refusal struct {
	next     Next
	sentence string
}

// refusals says, for each code, what is so and what to do next: one sentence
// of each, and never a hint to go round. A %s takes the one detail that the
// code's place of use supplies.
var refusals = map[Code]refusal{
	Paused:                  {AskPerson, "The person has the desktop. Nothing was done. Wait until they press Resume."},
	NoWindowSelected:        {AskPerson, "The person has not chosen this window for you. Ask them to choose it with `pc select`; you can name the app."},
	WindowChanged:           {CaptureAgain, "The window now shows something else or is another window. Call list_windows; if it is gone from there, ask the person to choose it again."},
	AmbiguousWindow:         {CaptureAgain, "That does not name one window. Give the exact pid and window_id from list_windows."},
	Hidden:                  {Stop, "There is nothing here that you can use."},
	ReadOnly:                {Stop, "You may read %s but not use it."},
	ApprovalRequired:        {RetrySame, "Still waiting for the person%s. Repeat the same call to go on waiting; a new capture withdraws the ask. They answer it themselves; never run pc yourself."},
	ApprovalDenied:          {Stop, "The person said no%s. Do not repeat it; choose another way or ask them."},
	ApprovalExpired:         {CaptureAgain, "Nobody answered in time and nothing was done. Capture again, then decide afresh."},
	StaleSnapshot:           {CaptureAgain, "What you saw is too old or the rules have changed since. Capture again, then use the new tokens."},
	StaleToken:              {CaptureAgain, "That element_token is not from your newest capture of this window. Capture again and use its tokens."},
	UnknownElement:          {CaptureAgain, "Your newest capture has no such element. Use a token that stands in it."},
	ElementChanged:          {CaptureAgain, "The control is no longer what you saw. Nothing was done. Capture again, then decide afresh."},
	RuleUnmatched:           {AskPerson, "The person hid something that cannot be found in this window now, so it is not shown. Ask them to look at it in `pc rules`."},
	TooManyPending:          {AskPerson, "Too many questions are waiting for the person, or this was refused too often. Let them answer first."},
	Busy:                    {RetrySame, "The desktop is in use by another session or an open question. Nothing was done. Try the same call again in a moment."},
	ArgumentUnknown:         {Stop, "The argument %s is not one that can be used here. Leave it out."},
	CoordinatesRefused:      {CaptureAgain, "Points are refused in this window. Capture and name the control by its element_token."},
	DragRefused:             {Stop, "Dragging is refused in this window."},
	ClipboardRefused:        {Stop, "Copy, cut and paste are always refused. Type the text or set the value instead."},
	FocusUnknown:            {CaptureAgain, "It cannot be proven which control would get this. Name a field by its element_token; where typing cannot be proven, use set_value."},
	ScrollRefused:           {CaptureAgain, "Scrolling here could change a control. Scroll with the element_token of a scroll area."},
	Covered:                 {CaptureAgain, "Another window lies over this control. Raise the window with bring_to_front and capture again."},
	BackgroundUnavailable:   {CaptureAgain, "This window takes that input only in front. Capture again and ask with delivery_mode \"foreground\"; it uses the person's real mouse and keyboard."},
	Withheld:                {CaptureAgain, "The window can't be shown safely just now. Try once more in a second; then tell the person."},
	BrowserPageUnavailable:  {AskPerson, "The browser shows no page that can be read. Ask the person to bring it forward, then capture again; waiting alone does not help."},
	CaptureIncomplete:       {CaptureAgain, "The window could not be read whole. Capture again; if it stays so, tell the person."},
	ToolDenied:              {Stop, "The person's settings do not allow %s."},
	ToolUncovered:           {Stop, "This tool would go past the person's rules, so it is off. Use get_window_state and click."},
	NoApprover:              {AskPerson, "Nobody is there to answer. Tell the person to run `pc pending`, then repeat the same call."},
	PolicyInvalid:           {AskPerson, "The rules file has an error, so everything is refused. Ask the person to run `permission-canvas check`."},
	AuditFailed:             {AskPerson, "The record could not be written, so nothing was done. Ask the person to run `permission-canvas check`."},
	DriverFailed:            {AskPerson, "The desktop driver does not answer. Ask the person to run `permission-canvas check`."},
	EffectUncertain:         {Inspect, "It may have happened. Capture and look; do not repeat it."},
	DesktopPlacementRefused: {Stop, "Only one window at a time can be used here, never the whole desktop. Name a window by pid and window_id."},
	ManifestInvalid:         {AskPerson, "The capability manifest cannot be used, so everything is refused. Ask the person to run `permission-canvas check`."},
	MigrationRequired:       {AskPerson, "The person's settings are in two places or in an old form. Ask them to run `permission-canvas check`."},
	BadRequest:              {Stop, "%s"},
}

// neverSetUp is Paused's sentence in a profile that no person has used yet.
const neverSetUp = "Nobody has set up Permission Canvas yet. Ask the person to run `pc setup`, then try again."

// refuse returns the Error of a code, with the detail its sentence takes.
// Cause goes to the log and nowhere else.
func refuse(code Code, cause error, detail ...any) *Error {
	r := refusals[code]
	text := r.sentence
	if len(detail) > 0 {
		text = fmt.Sprintf(text, detail...)
	}
	return &Error{Code: code, Message: text, Next: r.next, cause: cause}
}

// Detail is what a log or a person may know beyond Message: never for a model.
func (e *Error) Detail() string {
	if e.cause == nil {
		return ""
	}
	return e.cause.Error()
}
