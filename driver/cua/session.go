package cua

import (
	"context"
	"errors"
	"fmt"

	"github.com/permission-canvas/permission-canvas/driver"
)

const codeSessionEnded = "session_ended"

// label adds the session's name to a call that takes one, and begins the
// session where that was not done yet.
func (d *Driver) label(ctx context.Context, l *link, tool string, args arguments) error {
	if d.opts.Name == "" || !l.takes(tool, "session") || !l.takes("start_session", "session") {
		return nil
	}
	args["session"] = d.opts.Name
	return d.begin(ctx, l)
}

// begin begins the session, or does nothing where it lives. It has no effect
// on any window.
func (d *Driver) begin(ctx context.Context, l *link) error {
	if err := take(ctx, l.session); err != nil {
		return err
	}
	defer release(l.session)
	if l.lives() {
		return nil
	}
	args := arguments{}
	if d.opts.Name != "" {
		args["session"] = d.opts.Name
	}
	r, err := d.send(ctx, l, "start_session", args, d.observeLimit)
	if err == nil && r.failed {
		err = errors.New("no session")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	}
	l.begin()
	return nil
}

// begin notes that the session lives.
func (l *link) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun, l.ended = true, false
}

func (l *link) lives() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun
}

// end notes that the driver called the session ended.
func (l *link) end() {
	l.forgetAll()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun, l.ended = false, true
}

func (l *link) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// observe performs one call that changes nothing. A session that the driver
// calls ended is begun again, once, under the same name; older tokens are dead
// then.
func (d *Driver) observe(ctx context.Context, l *link, tool string, args arguments) (*reply, error) {
	if err := d.label(ctx, l, tool, args); err != nil {
		return nil, err
	}
	r, err := d.look(ctx, l, tool, args)
	if err != nil {
		return nil, err
	}
	if !r.failed || r.code() != codeSessionEnded {
		if d.opts.Name == "" && !r.failed {
			l.begin() // the driver's unnamed session begins by itself
		}
		return r, nil
	}
	l.end()
	if err := d.begin(ctx, l); err != nil {
		return nil, err
	}
	r, err = d.look(ctx, l, tool, args)
	if err == nil && r.failed && r.code() == codeSessionEnded {
		l.end()
		return nil, driver.ErrSessionEnded
	}
	return r, err
}

// look sends an observation; whatever goes wrong with it is without effect.
func (d *Driver) look(ctx context.Context, l *link, tool string, args arguments) (*reply, error) {
	r, err := d.send(ctx, l, tool, args, d.observeLimit)
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %w", driver.ErrNoEffect, ctx.Err())
	}
	return nil, fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
}
