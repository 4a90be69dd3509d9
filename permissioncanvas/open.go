package permissioncanvas

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/desktop"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// innerVariable once chose the backend beneath ours.
const innerVariable = "PERMISSION_CANVAS_INNER"

// check fills in what o leaves out and refuses what cannot be honoured.
func (o *Options) check() (map[guard.Category]guard.Tier, error) {
	if o.Agent == "" {
		o.Agent = filepath.Base(os.Args[0])
	}
	o.Agent = clip(strings.ToValidUTF8(o.Agent, "?"), 80)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if inner := os.Getenv(innerVariable); inner != "" && inner != "cua" {
		e := refuse(MigrationRequired, fmt.Errorf("%s is %q", innerVariable, inner))
		e.Message = innerVariable + " asks for another backend than cua beneath this one; there is none any more. Ask the person to remove that variable and start your host again."
		return nil, e
	}
	switch o.Mode {
	case "", Standard, Bounded, Unrestricted:
	default:
		return nil, refuse(BadRequest, nil, fmt.Sprintf("Mode %.20q: use standard, bounded or unrestricted.", o.Mode))
	}
	if o.Tiers == "" {
		return nil, nil
	}
	data, err := os.ReadFile(o.Tiers)
	if err != nil {
		return nil, refuse(PolicyInvalid, err)
	}
	var base map[guard.Category]guard.Tier
	if err := strictjson.Decode(data, &base); err != nil {
		return nil, refuse(PolicyInvalid, err)
	}
	if err := guard.Check(base); err != nil {
		return nil, refuse(PolicyInvalid, err)
	}
	return base, nil
}

// openDesktop returns the desktop's driver. One that is not found is an answer
// to each call, not the end of the host.
func openDesktop(o *Options, p *profile.Profile, session string, held *capability) driver.Driver {
	path, how, err := desktop.Find(o.Command, nil, p.Dir())
	if err != nil {
		return missing{err}
	}
	o.Logger.Info("driver found", "path", path, "how", how)
	d := &desktop.Options{Name: o.Agent, Mode: string(o.Mode), PolicyFile: p.WriteDriverPolicy, Logger: o.Logger}
	if held != nil {
		// Written at each start from what was read at the beginning, so that
		// nobody's edit counts.
		d.Capabilities = func() (string, error) { return p.WriteCapabilities(session, held.manifest.Bytes()) }
		if !held.grants("start_session") {
			d.Name = "" // the driver's own unnamed session needs no such call
		}
	}
	return desktop.Open(path, d)
}

// Warm starts the driver, so that the first call need not wait for it, and
// returns when it runs. It reads nothing of the screen, and what goes wrong
// is said by the call that meets it.
func (c *Canvas) Warm(ctx context.Context) {
	if t, ok := c.desktop.(driver.Tooler); ok {
		_, _ = t.Tools(ctx)
	}
}

// missing is the driver of a desktop that has none.
type missing struct{ err error }

func (m missing) Windows(context.Context) ([]driver.Window, error) { return nil, m.err }

func (m missing) Snapshot(context.Context, driver.WindowRef, driver.SnapshotOptions) (*driver.Snapshot, error) {
	return nil, m.err
}

func (m missing) Do(context.Context, driver.WindowRef, driver.Action) (driver.Result, error) {
	return driver.Result{}, m.err
}

func (m missing) Tools(context.Context) (driver.Tools, error) { return driver.Tools{}, m.err }

func (m missing) CallTool(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, m.err
}

func (m missing) Close() error { return nil }
