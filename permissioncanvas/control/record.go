package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/permission-canvas/permission-canvas/audit"
)

// note puts one thing that the person did on record.
func (d *Desk) note(ctx context.Context, kind string, fields map[string]string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.record == nil {
		record, err := audit.Open(d.records())
		if err != nil {
			return fmt.Errorf("the record cannot be written: %w", err)
		}
		d.record = record
	}
	fields["by"] = d.by
	if _, err := d.record.Append(ctx, audit.Entry{Kind: kind, Fields: fields}); err != nil {
		return fmt.Errorf("the record cannot be written: %w", err)
	}
	return nil
}

// after is note for what is done already: the error says so.
func (d *Desk) after(ctx context.Context, done, kind string, fields map[string]string) error {
	if err := d.note(ctx, kind, fields); err != nil {
		return fmt.Errorf("%s, but %w", done, err)
	}
	return nil
}

func (d *Desk) records() string { return filepath.Join(d.Dir(), "audit") }

// Verify follows the whole record and says where it stops being the one that
// was written. It repairs nothing. Where there is no record it has no entries.
func (d *Desk) Verify() (Report, error) {
	r, err := audit.Verify(d.records())
	if errors.Is(err, fs.ErrNotExist) {
		return Report{}, nil
	}
	return r, err
}

// Tail returns the newest n entries of the record, oldest first.
func (d *Desk) Tail(n int) ([]Entry, error) {
	all, err := audit.Tail(d.records(), n)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return all, err
}
