package permissioncanvas_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval/review"
	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// shared is a driver that several sessions have; closing one leaves it open.
type shared struct{ *drivertest.Liar }

func (shared) Close() error { return nil }

// session opens one more session on d's desk, over l where it is not nil.
func (d *desk) session(l *drivertest.Liar, wait bool) *canvas.Canvas {
	d.t.Helper()
	if l == nil {
		l = drivertest.NewLiar(d.sim)
	}
	c, err := canvas.New(d.home, &canvas.Options{Agent: "tester", Driver: shared{l}, NoWait: !wait})
	require.NoError(d.t, err)
	d.t.Cleanup(func() { c.Close() })
	return c
}

// see captures the console in session c.
func (d *desk) see(c *canvas.Canvas) *canvas.Observation {
	d.t.Helper()
	o, err := c.Capture(context.Background(), d.sim.Window(console), nil)
	require.NoError(d.t, err)
	return o
}

// inbox is the person's side of the approvals.
func (d *desk) inbox() *review.Inbox {
	d.t.Helper()
	r, err := review.Open(filepath.Join(d.dir, "approvals"))
	require.NoError(d.t, err)
	return r
}

func TestPC19TenIdenticalCallsActOnce(t *testing.T) {
	for _, waiting := range []bool{true, false} {
		t.Run(fmt.Sprintf("waiting=%v", waiting), func(t *testing.T) {
			d := newDesk(t, selected([]string{console}), nil)
			c := d.session(nil, waiting)
			save := canvas.Click{Target: d.token(d.see(c), "button", "Save")}
			if !waiting {
				_, err := c.Act(context.Background(), save)
				refused(t, err, canvas.ApprovalRequired)
				d.person(true)
			}
			var done sync.WaitGroup
			var good atomic.Int32
			for range 10 {
				done.Go(func() {
					_, err := c.Act(context.Background(), save)
					if err == nil {
						good.Add(1)
						return
					}
					var e *canvas.Error
					if !errors.As(err, &e) || e.Next == "" {
						t.Errorf("%v", err)
					}
				})
			}
			if waiting {
				require.Eventually(t, func() bool { return len(d.entries("asked")) == 10 }, 20*time.Second, 10*time.Millisecond)
				d.person(true)
				go func() {
					// A late one may ask anew; nobody says yes to that.
					time.Sleep(2 * time.Second)
					_ = d.inbox().ClearAll(context.Background(), "test")
				}()
			}
			done.Wait()
			require.Equal(t, int32(1), good.Load())
			require.Equal(t, 1, d.sim.Pressed("Save"))
			require.Len(t, d.entries("intent"), 1)
		})
	}
}

// Every process asks the same; the person says yes to one.
func TestPC19OneGrantOfManyProcessesActsOnce(t *testing.T) {
	const processes = 4
	d := newDesk(t, selected([]string{console}), nil)
	pressed := make(chan string, processes)
	for range processes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcess$", "-test.v")
		cmd.Env = append(os.Environ(), "PERMISSION_CANVAS_TEST_HOME="+d.home)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		go func() {
			said := "died"
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if rest, ok := strings.CutPrefix(lines.Text(), "process: "); ok {
					said = rest
				}
			}
			pressed <- said
		}()
	}
	inbox := d.inbox()
	var cards []review.Card
	require.Eventually(t, func() bool {
		var err error
		cards, err = inbox.Pending(context.Background())
		return err == nil && len(cards) == processes
	}, 60*time.Second, 20*time.Millisecond)
	require.NoError(t, inbox.Approve(context.Background(), cards[1].ID, "ada"))
	require.Equal(t, "1 <nil>", <-pressed, "the one that was allowed comes back alone")
	for i, card := range cards {
		if i != 1 {
			require.NoError(t, inbox.Deny(context.Background(), card.ID, "ada", "no"))
		}
	}
	for range processes - 1 {
		require.Contains(t, <-pressed, "0 The person said no")
	}
	require.Len(t, d.entries("intent"), 1)
	report, err := audit.Verify(filepath.Join(d.dir, "audit"))
	require.NoError(t, err)
	require.Nil(t, report.Broken)
}

// TestProcess is the other processes of the test above.
func TestProcess(t *testing.T) {
	home := os.Getenv("PERMISSION_CANVAS_TEST_HOME")
	if home == "" {
		return // begun by itself there is nothing to be
	}
	desktop := sim.New(nil)
	c, err := canvas.New(home, &canvas.Options{Agent: "other", Driver: desktop})
	require.NoError(t, err)
	defer c.Close()
	d := &desk{Canvas: c, t: t, sim: desktop}
	_, err = c.Act(context.Background(), canvas.Click{Target: d.token(d.look(console), "button", "Save")})
	fmt.Printf("process: %d %v\n", desktop.Pressed("Save"), err)
}

func TestPC47InputOfAllSessionsIsSerial(t *testing.T) {
	d, liar := lying(t, fields())
	var in, most atomic.Int32
	slow := func(ctx context.Context, _ int, truth func(context.Context) error) error {
		most.Store(max(most.Load(), in.Add(1)))
		time.Sleep(5 * time.Millisecond)
		defer in.Add(-1)
		return truth(ctx)
	}
	liar.On(drivertest.Do, slow)
	var all sync.WaitGroup
	// Two sessions read one desktop by one driver, so that a look of one may
	// end the other's tokens: that is refused, and never at the same time.
	for range 3 {
		c := d.session(liar, false)
		all.Go(func() {
			for range 6 {
				o, err := c.Capture(context.Background(), d.sim.Window(console), nil)
				if err != nil {
					t.Errorf("%v", err)
					return
				}
				for e := range o.Elements() {
					if e.Label == "Save" {
						_, _ = c.Act(context.Background(), canvas.Click{Target: e.Token})
					}
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, int32(1), most.Load())
	require.Len(t, d.entries("intent"), liar.Dispatched())
}

// An ask and its grant end with their time, and never outlive the snapshot.
func TestPC19AskAndGrantAgeOut(t *testing.T) {
	t.Run("unanswered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, selected([]string{console}), nil)
			c := d.session(nil, true)
			save := canvas.Click{Target: d.token(d.see(c), "button", "Save")}
			start := time.Now()
			_, err := c.Act(context.Background(), save)
			e := refused(t, err, canvas.ApprovalExpired)
			require.NotNil(t, e.Approval)
			require.InDelta(t, 120, time.Since(start).Seconds(), 2)
			require.Zero(t, d.sim.Pressed("Save"))
			require.NoError(t, c.Close())
			require.NoError(t, d.Close())
		})
	})
	t.Run("granted too late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, selected([]string{console}), nil)
			save := canvas.Click{Target: d.token(d.look(console), "button", "Save")}
			time.Sleep(100 * time.Second)
			_, err := d.Act(context.Background(), save)
			refused(t, err, canvas.ApprovalRequired)
			time.Sleep(30 * time.Second)
			r := d.inbox()
			cards, err := r.Pending(context.Background())
			require.NoError(t, err)
			for _, card := range cards {
				_ = r.Approve(context.Background(), card.ID, "ada")
			}
			_, err = d.Act(context.Background(), save)
			refused(t, err, canvas.StaleSnapshot)
			require.Zero(t, d.sim.Pressed("Save"))
			require.NoError(t, d.Close())
		})
	})
	t.Run("expiry that is shown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, selected([]string{console}), nil)
			o := d.look(console)
			time.Sleep(100 * time.Second)
			_, err := d.Act(context.Background(), canvas.Click{Target: d.token(o, "button", "Save")})
			e := refused(t, err, canvas.ApprovalRequired)
			require.False(t, e.Approval.Expires.After(o.Expires()), "a yes at %v is for nothing: the capture ends at %v", e.Approval.Expires, o.Expires())
			require.NoError(t, d.Close())
		})
	})
}

func TestPC19WaitingAskHoldsNoLock(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console, login}, on(driver.LevelAllow, "textbox", "Account")), nil)
	d.write(func(doc *policy.Document, s *sim.Desktop) {
		selected([]string{login, console}, on(driver.LevelAllow, "textbox", "Account"))(doc, s)
	})
	c := d.session(nil, true)
	save := canvas.Click{Target: d.token(d.see(c), "button", "Save")}
	done := make(chan error, 1)
	go func() {
		_, err := c.Act(ctx, save)
		done <- err
	}()
	d.asked()

	short, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// The same session looks at and acts in another window.
	o, err := c.Capture(short, d.sim.Window(login), nil)
	require.NoError(t, err)
	_, err = c.Act(short, canvas.SetValue{Target: d.token(o, "textbox", "Account"), Value: "same session"})
	require.NoError(t, err)
	_, err = c.ListWindows(short)
	require.NoError(t, err)
	// Another session does.
	other := d.session(nil, false)
	o, err = other.Capture(short, d.sim.Window(login), nil)
	require.NoError(t, err)
	_, err = other.Act(short, canvas.SetValue{Target: d.token(o, "textbox", "Account"), Value: "other session"})
	require.NoError(t, err)
	// The person edits, and takes the desktop, without being held up.
	release, err := d.gate.Exclusive(short)
	require.NoError(t, err)
	release()
	start := time.Now()
	hold, err := d.gate.Take(short, "ada", "editing")
	require.NoError(t, err)
	require.False(t, hold.Waited)
	require.Less(t, time.Since(start), 4*time.Second)
	require.NoError(t, hold.Resume())
	// The answer still counts.
	d.person(true)
	require.NoError(t, <-done)
	require.Equal(t, 1, d.sim.Pressed("Save"))
}

func TestPC19CloseEndsWhatWaits(t *testing.T) {
	d := newDesk(t, selected([]string{console}), nil)
	c := d.session(nil, true)
	save := canvas.Click{Target: d.token(d.see(c), "button", "Save")}
	done := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := c.Act(context.Background(), save)
			done <- err
		}()
	}
	card := d.asked()
	require.NoError(t, c.Close())
	for range 3 {
		select {
		case err := <-done:
			typed(t, err)
		case <-time.After(10 * time.Second):
			t.Fatal("a call waits on after Close")
		}
	}
	require.Error(t, d.inbox().Approve(context.Background(), card.ID, "ada"), "nothing is left to say yes to")
	require.Zero(t, d.sim.Pressed("Save"))
	_, err := c.Act(context.Background(), save)
	typed(t, err)
	_, err = c.Capture(context.Background(), d.sim.Window(console), nil)
	typed(t, err)
	_, err = c.Act(context.Background(), canvas.Raise{Window: d.sim.Window(console)})
	typed(t, err)
	require.Zero(t, d.sim.Pressed("Save"))
	require.NoError(t, c.Close())
}

// Close while an act is at the driver: the act ends, known or uncertain.
func TestPC21CloseDuringAnAct(t *testing.T) {
	d, liar := lying(t, fields())
	c := d.session(liar, false)
	save := canvas.Click{Target: d.token(d.see(c), "button", "Save")}
	at, on := make(chan struct{}), make(chan struct{})
	liar.On(drivertest.Do, func(ctx context.Context, _ int, truth func(context.Context) error) error {
		close(at)
		<-on
		return truth(ctx)
	})
	done := make(chan error, 1)
	go func() {
		_, err := c.Act(context.Background(), save)
		done <- err
	}()
	<-at
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	time.Sleep(50 * time.Millisecond)
	close(on)
	require.NoError(t, <-closed)
	<-done
	require.Equal(t, 1, liar.Dispatched())
	require.Len(t, d.entries("outcome"), 1)
}

// Everything at once, for the race detector: nothing is done that is not on
// record, and nobody is left waiting.
func TestPC24EverythingAtOnce(t *testing.T) {
	d, liar := lying(t, fields())
	gate := handoff.Open(d.dir)
	sessions := []*canvas.Canvas{d.session(liar, false), d.session(liar, false)}
	until := time.Now().Add(1500 * time.Millisecond)
	var all sync.WaitGroup
	for _, c := range sessions {
		all.Go(func() {
			for time.Now().Before(until) {
				o, err := c.Capture(context.Background(), d.sim.Window(console), &canvas.CaptureOptions{NoImage: true})
				if err != nil {
					continue
				}
				for e := range o.Elements() {
					_, _ = c.Act(context.Background(), canvas.Click{Target: e.Token})
				}
			}
		})
		all.Go(func() {
			for time.Now().Before(until) {
				_, _ = c.ListWindows(context.Background())
				_, _ = c.Act(context.Background(), canvas.TypeText{Text: "x"})
				_ = keys(d, c, "end")
				c.Status()
			}
		})
	}
	all.Go(func() {
		for time.Now().Before(until) {
			_ = gate.SetPaused("ada", "x")
			_ = gate.SetResumed("ada")
			time.Sleep(20 * time.Millisecond)
		}
	})
	all.Wait()
	report, err := audit.Verify(filepath.Join(d.dir, "audit"))
	require.NoError(t, err)
	require.Nil(t, report.Broken)
	for _, c := range sessions {
		require.NoError(t, c.Close())
	}
}
