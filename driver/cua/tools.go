package cua

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Tools returns the driver's list as the process that runs gave it.
func (d *Driver) Tools(ctx context.Context) (driver.Tools, error) {
	l, err := d.connect(ctx)
	if err != nil {
		return driver.Tools{}, err
	}
	return driver.Tools{Version: l.tools.Version, Entries: slices.Clone(l.tools.Entries)}, nil
}

// CallTool calls one of the tools listed, once, and returns the whole result,
// a failed one too. What it may do to a window is not known here, so after any
// tool that is not known to leave windows alone all tokens are dead.
func (d *Driver) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if err := take(ctx, d.serial); err != nil {
		return nil, err
	}
	defer release(d.serial)
	l, err := d.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", driver.ErrNoEffect, err)
	}
	if l.inputs[name] == nil {
		return nil, fmt.Errorf("%w: no such tool", driver.ErrUnsupported)
	}
	limit := d.inputLimit
	switch name {
	case "list_windows", "list_apps", "get_session", "get_screen_size", "get_cursor_position", "start_session":
		limit = d.observeLimit
	case "end_session":
		defer l.forgetAll()
	default:
		l.forgetAll()
	}
	raw, err := d.sendRaw(ctx, l, name, args, limit)
	if err != nil {
		return nil, fmt.Errorf("%.40q: %w", name, err)
	}
	return raw, nil
}
