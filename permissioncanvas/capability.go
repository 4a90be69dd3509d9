package permissioncanvas

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/manifest"
)

// A capability is the manifest that a session holds itself to in every mode
// (PC23), as its file was when the session began. Nil is none.
type capability struct {
	manifest *manifest.Manifest
	began    time.Time

	mu   sync.Mutex
	last time.Time // of the last call that was granted
	over bool
}

// freeze reads the file once. Bounded mode needs one, with lifetimes.
func freeze(file string, mode Mode) (*capability, error) {
	if file == "" {
		if mode == Bounded {
			return nil, refuse(ManifestInvalid, errors.New("bounded mode needs a capability manifest"))
		}
		return nil, nil
	}
	data, err := readFile(file)
	if err != nil {
		return nil, refuse(ManifestInvalid, err)
	}
	m, err := manifest.Parse(data, &manifest.Options{Resolve: resolved})
	if err != nil {
		return nil, refuse(ManifestInvalid, err)
	}
	if mode == Bounded {
		if err := m.Bounded(); err != nil {
			return nil, refuse(ManifestInvalid, err)
		}
	}
	now := time.Now()
	return &capability{manifest: m, began: now, last: now}, nil
}

// readFile reads a manifest and never much more than one.
func readFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<20))
}

// resolved is an executable's path without links. One that is not installed
// grants nothing, and is no fault of the file.
func resolved(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	return real, err
}

// denied lists the tools of the guard's table that the manifest does not grant.
func (c *capability) denied() []string {
	if c == nil {
		return nil
	}
	granted := map[string]bool{}
	for _, tool := range c.manifest.Tools() {
		granted[tool] = true
	}
	var list []string
	for _, tool := range guard.Tools() {
		// Typing begins with a click on the field.
		if !granted[tool] || tool == "type_text" && !granted["click"] {
			list = append(list, tool)
		}
	}
	return list
}

// grants reports whether a tool is granted at all.
func (c *capability) grants(tool string) bool {
	return c == nil || c.manifest.Check(manifest.Call{Tool: tool}) == nil
}

// check says whether a call is granted now, and if it is, keeps the manifest
// from running out for want of use.
func (c *capability) check(call manifest.Call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.over = c.over || past(now, c.began, c.manifest.Expires()) || past(now, c.last, c.manifest.Idle())
	if c.over {
		e := refuse(ManifestInvalid, errors.New("the capability manifest's time is over"))
		e.Message = "The time that the capability manifest grants is over, so everything is refused. Ask the person to start your host again."
		return ungranted{e}
	}
	if err := c.manifest.Check(call); err != nil {
		return ungranted{refuse(ToolDenied, err, err.Error())}
	}
	c.last = now
	return nil
}

// past reports whether more than limit seconds lie between, by the monotonic
// clock or by the wall's, so that a suspended machine does not stretch it. A
// wall clock before its own start counts as past.
func past(now, since time.Time, limit int64) bool {
	if limit == 0 {
		return false
	}
	d := time.Duration(limit) * time.Second
	wall, then := now.Round(0), since.Round(0)
	return now.Sub(since) > d || wall.Sub(then) > d || wall.Before(then.Add(-time.Second))
}

// ungranted carries a refusal of ours through code that knows a driver's
// errors only. Nothing was done.
type ungranted struct{ why *Error }

func (u ungranted) Error() string { return u.why.Detail() }

func (u ungranted) Unwrap() error { return driver.ErrNoEffect }

// capable is a driver under a capability manifest: nothing reaches it that the
// manifest does not grant, whoever asks.
type capable struct {
	driver.Driver
	cap *capability

	mu    sync.Mutex
	paths map[driver.WindowRef]string // of the windows' executables, as last listed
}

// under puts d under c.
func (c *capability) under(d driver.Driver) driver.Driver {
	if c == nil {
		return d
	}
	return &capable{Driver: d, cap: c}
}

func (d *capable) Windows(ctx context.Context) ([]driver.Window, error) {
	if err := d.cap.check(manifest.Call{Tool: "list_windows"}); err != nil {
		return nil, err
	}
	all, err := d.Driver.Windows(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paths = make(map[driver.WindowRef]string, len(all))
	for _, w := range all {
		d.paths[w.Ref] = w.Path
	}
	return all, nil
}

func (d *capable) Snapshot(ctx context.Context, w driver.WindowRef, o driver.SnapshotOptions) (*driver.Snapshot, error) {
	if err := d.check(ctx, "get_window_state", w); err != nil {
		return nil, err
	}
	return d.Driver.Snapshot(ctx, w, o)
}

func (d *capable) Do(ctx context.Context, w driver.WindowRef, a driver.Action) (driver.Result, error) {
	if err := d.check(ctx, tool(a), w); err != nil {
		return driver.Result{}, err
	}
	return d.Driver.Do(ctx, w, a)
}

// check checks a call for a window, which is looked up where the last list
// does not hold it.
func (d *capable) check(ctx context.Context, tool string, w driver.WindowRef) error {
	d.mu.Lock()
	path, ok := d.paths[w]
	d.mu.Unlock()
	if !ok && !w.IsZero() {
		if _, err := d.Windows(ctx); err != nil {
			return err
		}
		d.mu.Lock()
		path = d.paths[w]
		d.mu.Unlock()
	}
	return d.cap.check(manifest.Call{Tool: tool, Window: manifest.Window{PID: w.PID, ID: w.ID}, Executable: path})
}

func (d *capable) WindowAt(ctx context.Context, p image.Point) (driver.Hit, error) {
	if t, ok := d.Driver.(driver.HitTester); ok {
		return t.WindowAt(ctx, p)
	}
	return driver.Hit{}, driver.ErrUnsupported
}

func (d *capable) Tools(ctx context.Context) (driver.Tools, error) {
	if t, ok := d.Driver.(driver.Tooler); ok {
		return t.Tools(ctx)
	}
	return driver.Tools{}, driver.ErrUnsupported
}

func (d *capable) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	t, ok := d.Driver.(driver.Tooler)
	if !ok {
		return nil, driver.ErrUnsupported
	}
	var w struct {
		PID int    `json:"pid"`
		ID  uint64 `json:"window_id"`
	}
	_ = json.Unmarshal(args, &w) // a window that cannot be read is none, and not granted
	if err := d.check(ctx, name, driver.WindowRef{PID: w.PID, ID: w.ID}); err != nil {
		return nil, err
	}
	return t.CallTool(ctx, name, args)
}
