// Package desktop finds and opens the desktop's driver, for the executables and
// for hosts that let permissioncanvas wire everything.
//
// [Find] looks in four places, in this order: the path a person gave, the
// command in HERMES_CUA_DRIVER_CMD, a driver installed into the data directory,
// and cua-driver on PATH. [Open] makes a driver.Driver of what was found.
//
// # Guarantees
//
//   - What is found is an absolute path to a file that can be executed.
//   - An executable of ours is never taken for a driver: Hermes is set up by
//     naming us in that very variable. It is passed over there and on PATH, and
//     refused where a person names it.
//   - Below a process that we started ourselves nothing is found at all, so that
//     no script between can make a circle.
//
// # Limits
//
// Nothing here proves who made an executable that a person, or PATH, names.
package desktop

import (
	"log/slog"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/cua"
)

// Options change what Open makes. The zero value, and nil, work.
type Options struct {
	// Name labels the driver's session, and so its pointer on the screen. ""
	// leaves the driver its unnamed one.
	Name string

	// Mode is the driver's own permission mode; "" passes none.
	Mode string

	// PolicyFile writes the driver's own policy file, which admits the given
	// tools only, and returns its path. Nil starts the driver without one.
	PolicyFile func(tools []string) (path string, err error)

	// Capabilities writes the capability manifest that the driver is to hold
	// itself to, and returns its path. Nil starts the driver without one.
	Capabilities func() (path string, err error)

	// Env replaces variables that name the desktop, as "DISPLAY=:1".
	Env []string

	// Logger gets what went wrong. Nil is silent.
	Logger *slog.Logger
}

// Open returns a driver over the executable at path. Nothing is started before
// the first call that needs it.
func Open(path string, opts *Options) driver.Driver {
	if opts == nil {
		opts = &Options{}
	}
	return cua.New(path, &cua.Options{
		Name: opts.Name, Mode: opts.Mode, PolicyFile: opts.PolicyFile, Capabilities: opts.Capabilities,
		Env: opts.Env, Logger: opts.Logger,
	})
}
