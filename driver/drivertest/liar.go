package drivertest

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"slices"
	"sync"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Method names a method of a driver.
type Method string

// The methods that a Liar lies about.
const (
	Windows  Method = "Windows"
	Snapshot Method = "Snapshot"
	Do       Method = "Do"
	WindowAt Method = "WindowAt"
	Tools    Method = "Tools"
	CallTool Method = "CallTool"
)

// A Lie answers a call in the driver's place. n is 1 at the method's first
// call, arg is what was asked, and truth asks the driver itself, as often as
// it is called.
type Lie[A, R any] func(ctx context.Context, n int, arg A, truth func(context.Context) (R, error)) (R, error)

// A Mood spoils a call of any method. truth makes the call, the lie about it
// included; where it is not called the answer is empty.
type Mood func(ctx context.Context, n int, truth func(context.Context) error) error

// Read is what Snapshot was asked, Act what Do was, and Use what CallTool was.
type (
	Read struct {
		Window  driver.WindowRef
		Options driver.SnapshotOptions
	}
	Act struct {
		Window driver.WindowRef
		Action driver.Action
	}
	Use struct {
		Name string
		Args json.RawMessage
	}
)

// ErrDied is what a call ends with that was under way when the driver died. It
// proves nothing about what was done.
var ErrDied = errors.New("drivertest: the driver died in the call")

// Liar is a driver that tells the truth of another one until it is told to
// lie. It is a HitTester and a Tooler; where the other is not, it answers
// ErrUnsupported. The zero Liar is not usable. All methods may be called at
// any time.
type Liar struct {
	truth driver.Driver

	mu       sync.Mutex
	moods    map[Method]Mood
	calls    map[Method]int
	reached  map[Method]int
	actions  []driver.Action
	died     chan struct{}
	windows  Lie[struct{}, []driver.Window]
	snapshot Lie[Read, *driver.Snapshot]
	do       Lie[Act, driver.Result]
	at       Lie[image.Point, driver.Hit]
	tools    Lie[struct{}, driver.Tools]
	call     Lie[Use, json.RawMessage]
}

var (
	_ driver.Driver    = (*Liar)(nil)
	_ driver.HitTester = (*Liar)(nil)
	_ driver.Tooler    = (*Liar)(nil)
)

// NewLiar returns a Liar over truth, honest so far.
func NewLiar(truth driver.Driver) *Liar {
	return &Liar{truth: truth, moods: map[Method]Mood{}, calls: map[Method]int{}, reached: map[Method]int{},
		died: make(chan struct{})}
}

// On makes every call of m go through mood; nil ends it. It counts from the
// driver's first call of m, not from this one of On.
func (l *Liar) On(m Method, mood Mood) { l.set(func() { l.moods[m] = mood }) }

// OnWindows and the others make a lie answer for the method; nil ends it.
func (l *Liar) OnWindows(lie Lie[struct{}, []driver.Window]) { l.set(func() { l.windows = lie }) }

// OnSnapshot is for Snapshot.
func (l *Liar) OnSnapshot(lie Lie[Read, *driver.Snapshot]) { l.set(func() { l.snapshot = lie }) }

// OnDo is for Do.
func (l *Liar) OnDo(lie Lie[Act, driver.Result]) { l.set(func() { l.do = lie }) }

// OnWindowAt is for WindowAt.
func (l *Liar) OnWindowAt(lie Lie[image.Point, driver.Hit]) { l.set(func() { l.at = lie }) }

// OnTools is for Tools.
func (l *Liar) OnTools(lie Lie[struct{}, driver.Tools]) { l.set(func() { l.tools = lie }) }

// OnCallTool is for CallTool.
func (l *Liar) OnCallTool(lie Lie[Use, json.RawMessage]) { l.set(func() { l.call = lie }) }

func (l *Liar) set(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Calls returns how often m was called.
func (l *Liar) Calls(m Method) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[m]
}

// Reached returns how often a call of m came through to the true driver.
func (l *Liar) Reached(m Method) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reached[m]
}

// Actions returns what was dispatched through Do, in order, whether or not it
// came through.
func (l *Liar) Actions() []driver.Action {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.actions)
}

// Dispatched returns how many actions were dispatched through Do.
func (l *Liar) Dispatched() int { return l.Calls(Do) }

// Die ends the driver as a crash does: calls under way return ErrDied, later
// ones driver.ErrUnavailable.
func (l *Liar) Die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.died:
	default:
		close(l.died)
	}
}

// Revive starts a driver that died anew.
func (l *Liar) Revive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.died:
		l.died = make(chan struct{})
	default:
	}
}

// Windows implements driver.Driver.
func (l *Liar) Windows(ctx context.Context) ([]driver.Window, error) {
	return tell(ctx, l, Windows, struct{}{}, &l.windows, l.truth.Windows)
}

// Snapshot implements driver.Driver.
func (l *Liar) Snapshot(ctx context.Context, w driver.WindowRef, opts driver.SnapshotOptions) (*driver.Snapshot, error) {
	return tell(ctx, l, Snapshot, Read{w, opts}, &l.snapshot, func(ctx context.Context) (*driver.Snapshot, error) {
		return l.truth.Snapshot(ctx, w, opts)
	})
}

// Do implements driver.Driver.
func (l *Liar) Do(ctx context.Context, w driver.WindowRef, a driver.Action) (driver.Result, error) {
	l.set(func() { l.actions = append(l.actions, a) })
	return tell(ctx, l, Do, Act{w, a}, &l.do, func(ctx context.Context) (driver.Result, error) {
		return l.truth.Do(ctx, w, a)
	})
}

// WindowAt implements driver.HitTester.
func (l *Liar) WindowAt(ctx context.Context, p image.Point) (driver.Hit, error) {
	return tell(ctx, l, WindowAt, p, &l.at, func(ctx context.Context) (driver.Hit, error) {
		if h, ok := l.truth.(driver.HitTester); ok {
			return h.WindowAt(ctx, p)
		}
		return driver.Hit{}, driver.ErrUnsupported
	})
}

// Tools implements driver.Tooler.
func (l *Liar) Tools(ctx context.Context) (driver.Tools, error) {
	return tell(ctx, l, Tools, struct{}{}, &l.tools, func(ctx context.Context) (driver.Tools, error) {
		if t, ok := l.truth.(driver.Tooler); ok {
			return t.Tools(ctx)
		}
		return driver.Tools{}, driver.ErrUnsupported
	})
}

// CallTool implements driver.Tooler.
func (l *Liar) CallTool(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	return tell(ctx, l, CallTool, Use{name, args}, &l.call, func(ctx context.Context) (json.RawMessage, error) {
		if t, ok := l.truth.(driver.Tooler); ok {
			return t.CallTool(ctx, name, args)
		}
		return nil, driver.ErrUnsupported
	})
}

// Close implements driver.Driver. It is honest.
func (l *Liar) Close() error { return l.truth.Close() }

// tell answers one call: the mood first, in it the lie, in it the truth. A
// lie or mood runs in a goroutine of its own, so that the driver can die while
// it does.
func tell[A, R any](ctx context.Context, l *Liar, m Method, arg A, hook *Lie[A, R], truth func(context.Context) (R, error)) (R, error) {
	l.mu.Lock()
	l.calls[m]++
	n, lie, mood, died := l.calls[m], *hook, l.moods[m], l.died
	l.mu.Unlock()
	var none R
	select {
	case <-died:
		return none, driver.ErrUnavailable
	default:
	}
	honest := func(ctx context.Context) (R, error) {
		l.set(func() { l.reached[m]++ })
		return truth(ctx)
	}
	type answer struct {
		r   R
		err error
	}
	told := make(chan answer, 1)
	go func() {
		var a answer
		say := func(ctx context.Context) error {
			if lie == nil {
				a.r, a.err = honest(ctx)
			} else {
				a.r, a.err = lie(ctx, n, arg, honest)
			}
			return a.err
		}
		if mood == nil {
			_ = say(ctx)
		} else if err := mood(ctx, n, say); err != nil {
			a = answer{err: err}
		}
		told <- a
	}()
	select {
	case a := <-told:
		return a.r, a.err
	case <-died:
		return none, ErrDied
	}
}
