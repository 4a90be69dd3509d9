// Package control is the person's side of a profile, without drawing: choose
// windows, make rules, answer asks, pause and resume, read the record. The
// terminal (shim/pc), the panel and a host's own tests use it; it decides what
// they show.
//
//	desk, err := control.Open(dir, &control.Options{Driver: d, By: "ada@desk"})
//	windows, err := desk.Windows(ctx)
//	_, err = desk.Select(ctx, windows[0].Ref, false)
//	rule, err := desk.RuleOn(ctx, windows[0].Ref, control.LevelHide, control.Want{Role: "textbox", Label: "Notes"})
//	rule, err = desk.AddRule(ctx, rule)
//	_, err = desk.Resume(ctx, nil)
//	cards, err := desk.Pending(ctx)
//	err = desk.Approve(ctx, cards[0].ID)
//
// # Guarantees
//
//   - Whatever changes what an agent may do is on record before it takes
//     effect: an approval, an edit, a selection, a resume. Where it cannot be
//     recorded it is refused. What only takes away (a pause, a no) is done
//     first, and then recorded.
//   - A file of rules is replaced whole, and only by one that was read back.
//     Edits of several programs take turns; none is lost. Every edit withdraws
//     all open asks.
//   - Choosing a window takes the desktop, durably, and leaves it paused: only
//     Resume gives it back. An edit keeps agents out for its one write.
//   - Windows that answer for the person or hold her secrets are never chosen,
//     and no name that fits several windows picks one.
//   - What a rule hides, its text, or a window's title is in no record.
//
// # Limits
//
// Who calls is not asked: a program with this package is the person. Which
// terminal runs one of our programs is seen by the processes above it, on
// Linux; a terminal multiplexer stands between.
//
// # Concurrency
//
// A Desk may be used from several goroutines, and a profile by any number of
// programs.
package control

import (
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/permission-canvas/permission-canvas/approval/review"
	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// The vocabulary of others that a caller meets here.
type (
	WindowRef = driver.WindowRef
	Level     = driver.Level
	Rule      = policy.Rule
	Document  = policy.Document
	Card      = review.Card
	Pause     = handoff.Pause
	Session   = profile.Session
	Report    = audit.Report
	Entry     = audit.Entry
)

const (
	LevelAllow    = driver.LevelAllow
	LevelReadOnly = driver.LevelReadOnly
	LevelAsk      = driver.LevelAsk
	LevelHide     = driver.LevelHide
)

// LevelOf reads a level as a person says it: a word or a colour.
func LevelOf(text string) (Level, error) { return driver.LevelOf(text) }

// Dir finds the data directory as every executable does; see [profile.Dir].
func Dir(dataDir, home string, env func(string) string) (string, error) {
	return profile.Dir(dataDir, home, env)
}

// patience is how long what holds a lock for one write is waited for.
const patience = 5 * time.Second

// ErrNoDriver: what was asked for has to look at the desktop, and there is no
// driver to look with.
var ErrNoDriver = errors.New("this needs a look at the desktop, and there is no driver")

// Options of a Desk. Nil and the zero value work.
type Options struct {
	// Driver reads the desktop. It stays the caller's to close, and may be shared
	// with an agent's side in the same process. Nil: what needs it is
	// ErrNoDriver, unless Attach follows.
	Driver driver.Driver
	// By is who acts, as records and pauses name it: up to 64 bytes. "": "person".
	By string
	// Logger gets what could not be cleaned up. Nil is silent.
	Logger *slog.Logger
}

// A Desk is one person's hand on one profile.
type Desk struct {
	profile *profile.Profile
	gate    *handoff.Gate
	inbox   *review.Inbox
	by      string
	log     *slog.Logger

	mu     sync.Mutex // guards what follows
	driver driver.Driver
	record *audit.Log // nil before the first entry
}

// Open opens the profile in dir and makes a new one there: paused, everything
// asks, nothing selected. Rules that are there are never touched by it, and
// rules that cannot be read do not keep a person from pausing, denying or
// reading the record.
func Open(dir string, opts *Options) (*Desk, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.By == "" {
		o.By = "person"
	}
	if len(o.By) > 64 {
		return nil, errors.New("who acts is named by at most 64 bytes")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p, err := profile.Open(dir)
	if err != nil {
		return nil, err
	}
	// Whatever needs the rules meets this error again, from Policy.
	if err := p.Init(); err != nil {
		o.Logger.Warn("the profile has no rules", "cause", err)
	}
	inbox, err := review.Open(filepath.Join(p.Dir(), "approvals"))
	if err != nil {
		return nil, err
	}
	return &Desk{profile: p, gate: handoff.Open(p.Dir()), inbox: inbox, by: o.By, log: o.Logger, driver: o.Driver}, nil
}

// Attach gives the Desk its driver, in place of the one it has.
func (d *Desk) Attach(v driver.Driver) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.driver = v
}

// Close ends the Desk. It changes nothing: what was paused stays paused, and
// the driver is the caller's.
func (d *Desk) Close() error { return nil }

// Dir is the data directory, absolute.
func (d *Desk) Dir() string { return d.profile.Dir() }

// Command is what a person types to have pc do something in this profile.
func (d *Desk) Command(args string) string { return d.profile.Command(args) }

// State says whether the desktop is the person's now, and since when and why.
func (d *Desk) State() Pause { return d.gate.State() }

// Sessions are the agents that run now and the desktop they drive, the latest
// first.
func (d *Desk) Sessions() ([]Session, error) { return d.profile.Sessions() }

// WriteDriverPolicy writes the file that lets a driver of this process do no
// more than the named tools, and returns its path.
func (d *Desk) WriteDriverPolicy(tools []string) (string, error) {
	return d.profile.WriteDriverPolicy(tools)
}

// desktop is the driver, or why there is none.
func (d *Desk) desktop() (driver.Driver, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.driver == nil {
		return nil, ErrNoDriver
	}
	return d.driver, nil
}
