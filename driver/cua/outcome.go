package cua

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/permission-canvas/permission-canvas/driver"
)

// harmless maps the codes that cua-driver gives before it does anything. A
// code that is not here proves nothing.
var harmless = map[string]error{
	"stale_element_token":    driver.ErrStaleToken,
	"invalid_element_token":  driver.ErrStaleToken,
	codeSessionEnded:         driver.ErrSessionEnded,
	"background_unavailable": driver.ErrBackgroundUnavailable,
	"permission_denied":      driver.ErrRefused,
	"invalid_arguments":      driver.ErrRefused,
	"set_value_unavailable":  errNoValue,
	"point_outside_window":   driver.ErrRefused,
	"target_occluded":        driver.ErrRefused,
	"wm_chord_unavailable":   driver.ErrRefused,
}

// errNoValue: this control cannot be set by accessibility.
var errNoValue = fmt.Errorf("%w: %w", driver.ErrRefused, driver.ErrUnsupported)

// noRoute is 0.21's word, without a code, for a field that has neither of the
// interfaces it could be set through; it has tried nothing then.
var noRoute = regexp.MustCompile(`^element [0-9]+ exposes neither EditableText nor Value$`)

// goneText is how both versions say, before anything else, that the named
// window is not there. Only 0.37 adds a code, which stands for much else too.
func goneText(ref driver.WindowRef) string {
	return fmt.Sprintf("Window target pid %d, window_id %d is stale or no longer running; refresh list_windows.", ref.PID, ref.ID)
}

// errUncertain: the driver failed and does not prove that it did nothing.
var errUncertain = errors.New("failed, and may have happened")

// wireOutcome is the answer to an input.
type wireOutcome struct {
	Effect     *string         `json:"effect"`
	Retargeted json.RawMessage `json:"retargeted_to"`
	ID         *uint64         `json:"window_id"`
	Popup      *struct {
		ID  *uint64 `json:"window_id"`
		PID *int64  `json:"pid"`
	} `json:"popup"`
}

// outcome reads the answer to an input.
func (l *link) outcome(r *reply, ref driver.WindowRef, tool string) (driver.Result, error) {
	if r.failed {
		return driver.Result{}, l.failure(r, ref, tool)
	}
	var w wireOutcome
	if r.structured == nil || json.Unmarshal(r.structured, &w) != nil {
		return driver.Result{}, fmt.Errorf("%s %w: %w", tool, errUncertain, errShape)
	}
	out := driver.Result{Effect: driver.EffectUnverifiable}
	switch {
	case w.Effect != nil:
		out.Effect = effectOf(*w.Effect)
	case tool != "bring_to_front" || w.ID == nil || *w.ID != ref.ID: // that one names the window instead
		return driver.Result{}, fmt.Errorf("%s %w: %w", tool, errUncertain, errShape)
	}
	if out.Effect == driver.EffectRefused {
		return driver.Result{}, fmt.Errorf("%s: %w", tool, driver.ErrRefused)
	}
	out.Retargeted = len(w.Retargeted) > 0 && string(w.Retargeted) != "null" && string(w.Retargeted) != "false"
	if w.Popup != nil && w.Popup.ID != nil {
		out.Popup = driver.WindowRef{PID: ref.PID, ID: *w.Popup.ID}
		if w.Popup.PID != nil {
			out.Popup.PID = int(*w.Popup.PID)
		}
	}
	return out, nil
}

// effectOf keeps the known words; another one says nothing.
func effectOf(word string) driver.Effect {
	switch e := driver.Effect(word); e {
	case driver.EffectConfirmed, driver.EffectPartial, driver.EffectUnverifiable,
		driver.EffectSuspectedNoop, driver.EffectRefused:
		return e
	}
	return driver.EffectUnverifiable
}

// failure sorts a failed input into what is certain and what is not.
func (l *link) failure(r *reply, ref driver.WindowRef, tool string) error {
	code := r.code()
	err := harmless[code]
	switch {
	case code == codeSessionEnded:
		l.end()
	case errors.Is(err, driver.ErrStaleToken) || r.text == goneText(ref):
		l.forget(ref)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", tool, err)
	case r.text == goneText(ref):
		return driver.ErrWindowGone
	case tool == "set_value" && code == "" && noRoute.MatchString(r.text):
		return fmt.Errorf("%s: %w", tool, errNoValue)
	case r.saysNone():
		return fmt.Errorf("%s: %w", tool, driver.ErrRefused)
	}
	return fmt.Errorf("%s %w", tool, errUncertain)
}

// saysNone reports whether a failed input's effect is stated to be none.
func (r *reply) saysNone() bool {
	var w wireOutcome
	if r.structured == nil || json.Unmarshal(r.structured, &w) != nil || w.Effect == nil {
		return false
	}
	return *w.Effect == "none" || *w.Effect == string(driver.EffectRefused)
}
