package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// watch shows what agents ask, full screen, until the person quits. It does not
// take the desktop.
func watch(c *call) error {
	out, ok := c.out.(*os.File)
	if !c.onTerminal() || !ok || !isTerminal(out) {
		return errors.New("pc watch needs a terminal; elsewhere use `pc pending --json`, `pc approve ID` and `pc deny ID`")
	}
	w, err := c.desk.Watch()
	if err != nil {
		return err
	}
	defer w.Close()
	quiet := *c
	quiet.err = io.Discard // it would write over the screen
	d := &deskHand{call: &quiet, watch: w}
	defer d.close()
	// The title keeps agents out of this window; the old one comes back.
	fmt.Fprint(out, "\x1b[22;0t")
	defer fmt.Fprint(out, "\x1b[23;0t")
	forget(c.in)
	_, err = tea.NewProgram(newScreen(d.hand(), time.Now), tea.WithContext(c.ctx), tea.WithInput(c.in), tea.WithOutput(out)).Run()
	if c.ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// A hand does what the person says on the screen.
type hand struct {
	dir      string
	look     func(known []string) control.Seen
	stamp    func() string
	open     func() error
	fold     func()
	approve  func(ids []string) error
	deny     func(ids []string, words string) error
	pause    func() error
	forecast func() []string
	resume   func() error
	log      func() []string
}

// deskHand is the person's hand on her desk.
type deskHand struct {
	call  *call
	watch *control.Watch

	mu          sync.Mutex
	closeDriver func() // nil before the first forecast
}

func (h *deskHand) hand() hand {
	return hand{
		dir: h.call.desk.Dir(), look: h.look, stamp: h.watch.Stamp, open: h.watch.Open, fold: h.watch.Fold,
		approve: h.approve, deny: h.deny, pause: h.pause, forecast: h.forecast, resume: h.resume,
		log: func() []string { return h.call.logLines(time.Now().Add(-logDefault), "") },
	}
}

// answerIn bounds what one key does.
const answerIn = 20 * time.Second

func (h *deskHand) limit() (context.Context, context.CancelFunc) {
	return context.WithTimeout(h.call.ctx, answerIn)
}

func (h *deskHand) look(known []string) control.Seen {
	ctx, stop := h.limit()
	defer stop()
	return h.watch.Look(ctx, known)
}

// approve says yes to each; where one cannot be, nothing after it is.
func (h *deskHand) approve(ids []string) error {
	ctx, stop := h.limit()
	defer stop()
	for _, id := range ids {
		if err := h.call.desk.Approve(ctx, id); err != nil {
			return answerError(id, err)
		}
	}
	return nil
}

// deny says no to each. A no to one step of a list ends the others by itself.
func (h *deskHand) deny(ids []string, words string) error {
	ctx, stop := h.limit()
	defer stop()
	var first error
	for i, id := range ids {
		err := h.call.desk.Deny(ctx, id, words)
		if i == 0 {
			first = err
		}
		if err == nil {
			first = nil
		}
	}
	return first
}

func (h *deskHand) pause() error {
	ctx, stop := h.limit()
	defer stop()
	_, err := h.call.desk.Pause(ctx, "paused in pc watch")
	return err
}

// forecast says what agents would meet. It looks at the desktop where it can.
func (h *deskHand) forecast() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closeDriver == nil {
		closeDriver, err := h.call.openDriver()
		h.closeDriver = closeDriver
		if err != nil {
			h.closeDriver = func() {}
		}
	}
	ctx, stop := h.limit()
	defer stop()
	f, err := h.call.desk.Forecast(ctx)
	if err != nil {
		return []string{plain(err.Error())}
	}
	return h.call.forecastLines(f)
}

func (h *deskHand) resume() error {
	ctx, stop := h.limit()
	defer stop()
	_, err := h.call.desk.Resume(ctx, nil)
	return err
}

func (h *deskHand) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closeDriver != nil {
		h.closeDriver()
	}
}
