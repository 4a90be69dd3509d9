package permissioncanvas

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// lifetime is how long a snapshot, and an ask made on it, may be used.
const lifetime = 120 * time.Second

// Options for New. Nil and the zero value give the least authority.
type Options struct {
	Agent    string       // who asks, as the person reads it; "": the program's name
	NoWait   bool         // Act returns ApprovalRequired at once instead of waiting
	DataDir  string       // the data directory itself; "": permission-canvas under home
	Mode     Mode         // "": Standard; passed to the driver, relaxes nothing
	Manifest string       // file of a capability manifest, held to in every mode; Bounded needs one
	Tiers    string       // file of deployment tiers, under the person's; "": factory
	Driver   Driver       // nil: cua-driver, found as `permission-canvas check` shows; closed by Close
	Command  string       // with a nil Driver: the driver's executable; "": found
	Logger   *slog.Logger // nil: silent; never given screen content
}

// Canvas is the Backend over a desktop. Close ends the session: its tokens,
// asks and grants die and the driver stops.
type Canvas struct {
	profile *profile.Profile
	gate    *handoff.Gate
	asks    *approval.Store
	record  *audit.Log
	desktop driver.Driver
	held    *capability // nil where there is no manifest
	base    map[guard.Category]guard.Tier
	log     *slog.Logger
	agent   string
	noWait  bool
	gone    func() error // takes back the mark that this session runs
	session string       // 128 random bits; no label or connection is a session's identity

	life context.Context // ends with Close
	end  context.CancelFunc
	desk chan struct{} // holds one value: who has it may read or drive

	mu     sync.Mutex // guards what follows
	seen   map[driver.WindowRef]*sighting
	focus  *focus
	front  map[route]bool // ways that the driver refuses in the background
	views  sync.WaitGroup
	closed bool
}

// DefaultHome is where the executables look, so that `pc` and this host meet.
func DefaultHome() (string, error) { return profile.DefaultHome() }

// New binds the profile under home, which must not be empty (see DefaultHome),
// and makes a new one where there is none. The driver starts at the first call. One Canvas is one
// session; any number, in any processes, may share a home.
func New(home string, opts *Options) (*Canvas, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if home == "" && o.DataDir == "" {
		return nil, refuse(BadRequest, nil, "New needs the profile's home; DefaultHome names the usual one.")
	}
	base, err := o.check()
	if err != nil {
		return nil, err
	}
	held, err := freeze(o.Manifest, o.Mode)
	if err != nil {
		return nil, err
	}
	dir, err := profile.Dir(o.DataDir, home, os.Getenv)
	if err != nil {
		return nil, refuse(MigrationRequired, err)
	}
	p, err := profile.Open(dir)
	if err != nil {
		return nil, refuse(PolicyInvalid, err)
	}
	// A new profile is made before anything else is written beside it. One
	// that cannot be made is refused at each call, with the reason.
	if err := p.Init(); err != nil {
		o.Logger.Warn("the profile has no policy", "cause", err)
	}
	record, err := audit.Open(filepath.Join(dir, "audit"))
	if err != nil {
		return nil, refuse(AuditFailed, err)
	}
	asks, err := approval.Open(filepath.Join(dir, "approvals"), nil)
	if err != nil {
		return nil, refuse(PolicyInvalid, err)
	}
	session, desk := newSession(), o.Driver
	if desk == nil {
		desk = openDesktop(&o, p, session, held)
	}
	gone, err := p.WriteSession(profile.SessionOf(o.Agent, os.Getenv))
	if err != nil {
		return nil, refuse(PolicyInvalid, err)
	}
	c := &Canvas{
		profile: p, gate: handoff.Open(dir), asks: asks, record: record, desktop: held.under(desk), held: held, base: base,
		log: o.Logger, agent: o.Agent, noWait: o.NoWait, session: session, gone: gone,
		desk: make(chan struct{}, 1), seen: map[driver.WindowRef]*sighting{}, front: map[route]bool{},
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.desk <- struct{}{}
	return c, nil
}

func newSession() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Close ends the session. What waits returns; asks are withdrawn.
func (c *Canvas) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.end()
	c.forget()
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := c.asks.Withdraw(ctx, approval.Filter{Session: c.session})
	c.views.Wait()
	return errors.Join(err, c.desktop.Close(), c.gone())
}

// forget ends every token and the focus. The caller holds mu.
func (c *Canvas) forget() {
	clear(c.seen)
	c.focus = nil
}

// enter passes the gate: it fails where the person has the desktop, and reads
// the rules.
func (c *Canvas) enter() (leave func(), rules *policy.Policy, err error) {
	if c.life.Err() != nil {
		return nil, nil, refuse(DriverFailed, errors.New("closed"))
	}
	leave, err = c.gate.Enter()
	if err != nil {
		c.mu.Lock()
		c.focus = nil // any pause ends what was inferred
		c.mu.Unlock()
		return nil, nil, pausedError(err)
	}
	rules, err = c.rules()
	if err != nil {
		leave()
		return nil, nil, err
	}
	return leave, rules, nil
}

// rules are the person's rules as they are now. A tier for a category that
// there is not is an error like any other in the file: it was meant to deny
// something.
func (c *Canvas) rules() (*policy.Policy, error) {
	rules, err := c.profile.Policy()
	if err == nil {
		err = guard.Check(personal(rules))
	}
	if err != nil {
		return nil, refuse(PolicyInvalid, err)
	}
	return rules, nil
}

// personal are the tiers that the person set.
func personal(rules *policy.Policy) map[guard.Category]guard.Tier {
	m := map[guard.Category]guard.Tier{}
	for category, tier := range rules.Tiers() {
		m[guard.Category(category)] = guard.Tier(tier)
	}
	return m
}

func pausedError(err error) *Error {
	e := refuse(Paused, err)
	var p *handoff.PausedError
	if errors.As(err, &p) && p.Pause.NeverSetUp {
		e.Message = neverSetUp
	}
	return e
}

// hold waits until this session may read or drive the desktop.
func (c *Canvas) hold(ctx context.Context) (release func(), err error) {
	select {
	case <-c.desk:
		return func() { c.desk <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, refuse(Busy, ctx.Err())
	}
}

// guard is what decides on tools now.
func (c *Canvas) guard(rules *policy.Policy) guard.Config {
	return guard.Config{
		Base: c.base, Person: personal(rules), Denied: append(rules.DeniedTools(), c.held.denied()...), Allowed: rules.AllowedTools(),
	}
}

// note writes one entry to the record.
func (c *Canvas) note(ctx context.Context, kind string, fields map[string]string) error {
	_, err := c.record.Append(ctx, audit.Entry{Session: c.session, Agent: c.agent, Kind: kind, Fields: fields})
	if err != nil {
		return refuse(AuditFailed, err)
	}
	return nil
}

// refused logs a refusal, puts it on record and returns it. A record that
// cannot be written changes the answer, unless something may have been done.
func (c *Canvas) refused(ctx context.Context, err error, fields map[string]string) error {
	var e *Error
	if !errors.As(err, &e) {
		e = refuse(DriverFailed, err)
	}
	if u := (ungranted{}); errors.As(e.cause, &u) {
		e = u.why
	}
	c.log.Info("refused", "code", e.Code, "cause", e.cause)
	if fields == nil {
		fields = map[string]string{}
	}
	fields["code"] = string(e.Code)
	if e.Code == AuditFailed {
		return e
	}
	if err := c.note(context.WithoutCancel(ctx), "refused", fields); err != nil && e.Code != EffectUncertain {
		return err
	}
	return e
}
