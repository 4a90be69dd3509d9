package cua

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/mcpwire"
)

// Deadlines of our own for one call.
const (
	observeLimit = 35 * time.Second
	inputLimit   = 30 * time.Second
)

var (
	errShape    = errors.New("unknown shape")
	errDeadline = errors.New("no answer in time")
)

// reply is one tool result.
type reply struct {
	failed     bool
	text       string // of the first text part; only ever compared
	structured json.RawMessage
	images     []string // base64
	refusal
}

// refusal is where the driver's versions put the code of a failure.
type refusal struct {
	Code    string `json:"code"`
	Status  string `json:"status"`
	Refusal struct {
		Code string `json:"code"`
	} `json:"refusal"`
	Error *struct {
		Code string `json:"code"`
	} `json:"error"`
}

// code returns the failure's code, "" where there is none.
func (r *refusal) code() string {
	switch {
	case r.Refusal.Code != "":
		return r.Refusal.Code
	case r.Error != nil && r.Error.Code != "":
		return r.Error.Code
	}
	return r.Code
}

// decode reads a result without copying its pictures more than once.
func decode(raw json.RawMessage) (*reply, error) {
	members, err := mcpwire.Split(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: result", errShape)
	}
	r := &reply{structured: mcpwire.Get(members, "structuredContent")}
	if v := mcpwire.Get(members, "isError"); v != nil {
		if err := json.Unmarshal(v, &r.failed); err != nil {
			return nil, fmt.Errorf("%w: isError", errShape)
		}
	}
	if string(r.structured) == "null" {
		r.structured = nil
	}
	if r.structured != nil {
		if r.structured[0] != '{' {
			return nil, fmt.Errorf("%w: structuredContent", errShape)
		}
		if err := json.Unmarshal(r.structured, &r.refusal); err != nil && r.failed {
			return nil, fmt.Errorf("%w: refusal", errShape)
		}
	}
	return r, r.parts(mcpwire.Get(members, "content"))
}

// parts reads the content's first text and its pictures.
func (r *reply) parts(content []byte) error {
	parts, err := mcpwire.Split(content)
	if err != nil || content[0] != '[' {
		return fmt.Errorf("%w: content", errShape)
	}
	seen := false
	for _, p := range parts {
		part, err := mcpwire.Split(p.Value)
		if err != nil {
			return fmt.Errorf("%w: content", errShape)
		}
		switch string(mcpwire.Get(part, "type")) {
		case `"text"`:
			if text := mcpwire.Get(part, "text"); !seen && len(text) < 1024 {
				_ = json.Unmarshal(text, &r.text) // a text that is none equals nothing
			}
			seen = true
		case `"image"`:
			data := mcpwire.Get(part, "data")
			if len(data) < 2 || data[0] != '"' {
				return fmt.Errorf("%w: image", errShape)
			}
			r.images = append(r.images, string(data[1:len(data)-1]))
		}
	}
	return nil
}

// picture decodes the reply's only image; nil where there is none.
func (r *reply) picture() ([]byte, error) {
	switch len(r.images) {
	case 0:
		return nil, nil
	case 1:
		b, err := base64.StdEncoding.DecodeString(r.images[0])
		if err != nil {
			return nil, fmt.Errorf("%w: image", errShape)
		}
		return b, nil
	}
	return nil, fmt.Errorf("%w: several images", errShape)
}

// arguments of a call.
type arguments map[string]any

// send performs one call within limit. A process that does not answer in time,
// or ends, is dropped. An error says nothing about what was done.
func (d *Driver) send(ctx context.Context, l *link, tool string, args arguments, limit time.Duration) (*reply, error) {
	encoded, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	raw, err := d.sendRaw(ctx, l, tool, encoded, limit)
	if err != nil {
		return nil, err
	}
	r, err := decode(raw)
	if err != nil {
		d.drop(l, err)
	}
	return r, err
}

func (d *Driver) sendRaw(ctx context.Context, l *link, tool string, args json.RawMessage, limit time.Duration) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errDeadline)
	defer cancel()
	raw, err := l.client.Call(ctx, tool, args)
	switch {
	case err == nil:
		return raw, nil
	case context.Cause(ctx) == errDeadline:
		d.drop(l, errDeadline)
		return nil, fmt.Errorf("%s: %w", tool, errDeadline)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case l.dead():
		d.drop(l, err)
	}
	return nil, err
}
