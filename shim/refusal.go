package shim

import (
	"errors"
	"time"

	"github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// message is the sentence of an error that a host may see.
func message(err error) string {
	var e *permissioncanvas.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return "The call could not be answered. Nothing was done."
}

// refusal is an error as a host gets it.
type refusal struct {
	Code       permissioncanvas.Code `json:"code"`
	Message    string                `json:"message"`
	Next       permissioncanvas.Next `json:"next"`
	Approval   *approval             `json:"approval,omitempty"`
	Escalation *escalation           `json:"escalation,omitempty"`
}

// approval is an ask as its asker may know it.
type approval struct {
	ID      string `json:"id"`
	Expires string `json:"expires_at,omitempty"`
	Command string `json:"person_command,omitempty"`
	Reply   string `json:"person_reply,omitempty"`
}

// escalation is the driver's word for the route that works.
type escalation struct {
	Recommended string `json:"recommended"`
	Reason      string `json:"reason"`
}

// refused takes an error apart. One that is none of ours is a call that was
// given up before it reached the desktop.
func refused(err error) refusal {
	r := refusal{Code: permissioncanvas.Busy, Next: permissioncanvas.RetrySame, Message: message(err)}
	var e *permissioncanvas.Error
	if !errors.As(err, &e) {
		return r
	}
	r.Code, r.Next = e.Code, e.Next
	if e.Code == permissioncanvas.BackgroundUnavailable {
		r.Escalation = &escalation{"foreground", "this window takes such input only in front"}
	}
	if a := e.Approval; a != nil {
		r.Approval = &approval{ID: a.ID, Command: a.Command, Reply: a.Reply}
		if !a.Expires.IsZero() {
			r.Approval.Expires = a.Expires.UTC().Format(time.RFC3339)
		}
	}
	return r
}

// bad is a request that cannot be read.
func bad(sentence string) error {
	return &permissioncanvas.Error{Code: permissioncanvas.BadRequest, Message: sentence, Next: permissioncanvas.Stop}
}

// givenUp is the answer to a request that its host has cancelled before
// anything was done.
func givenUp() error {
	return &permissioncanvas.Error{
		Code: permissioncanvas.Busy, Message: "Given up, as you asked. Nothing was done.", Next: permissioncanvas.Stop,
	}
}
