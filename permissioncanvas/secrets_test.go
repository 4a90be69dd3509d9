package permissioncanvas_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// A hidden text that stands in another control's name too is in nothing that
// is said of that control (PC03, D26).
func TestPC03NamesThatRepeatAHiddenText(t *testing.T) {
	hide := policy.Rule{Level: driver.LevelHide, Match: policy.Match{Role: "text", Label: secret}}
	for _, tc := range []struct {
		name  string
		level driver.Level
	}{
		{"read only", driver.LevelReadOnly}, {"ask", driver.LevelAsk}, {"allow", driver.LevelAllow},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log bytes.Buffer
			name := "Rotate " + secret
			d, liar := lying(t, func(doc *policy.Document, s *sim.Desktop) {
				selected([]string{console}, hide, on(tc.level, "button", name))(doc, s)
			})
			d.sim.Relabel(d.sim.Window(console), "Save", name)
			logged, err := canvas.New(d.home, &canvas.Options{Agent: "tester", Driver: liar, NoWait: true,
				Logger: slog.New(slog.NewTextHandler(&log, nil))})
			require.NoError(t, err)
			d.Canvas = logged
			o := d.look(console)
			require.NotContains(t, o.Text(), secret)
			said := ""
			for e := range o.Elements() {
				if e.Role != "button" || e.Label != "" {
					continue
				}
				for _, a := range []canvas.Action{canvas.Click{Target: e.Token}, canvas.SetValue{Target: e.Token, Value: "x"},
					canvas.TypeText{Target: e.Token, Text: "x"}} {
					_, err := d.Act(context.Background(), a)
					said += fmt.Sprintf("%v %+v\n", err, err)
				}
			}
			require.NotEmpty(t, said)
			require.NotContains(t, said, secret)
			require.NotContains(t, log.String(), secret)
			require.NoError(t, d.Close())
			canary(t, filepath.Join(d.dir, "audit"), secret)
			canary(t, filepath.Join(d.dir, "approvals"), secret)
			canary(t, filepath.Join(d.dir, "view"), secret)
		})
	}
}

// What a person hid is in no error, log, record, ledger or view, whatever the
// driver says and whatever the agent tries.
func TestPC03HiddenTextIsNowhereUnderLies(t *testing.T) {
	quick(t)
	ctx := context.Background()
	var log lockedBuffer
	d, liar := lying(t, selected([]string{console}, hideKey(), on(driver.LevelReadOnly, "button", "Delete"),
		on(driver.LevelAllow, "textbox", "Name")))
	c, err := canvas.New(d.home, &canvas.Options{Agent: "tester", Driver: liar, NoWait: true,
		Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	require.NoError(t, err)
	d.Canvas = c
	said := ""
	say := func(v any, err error) { said += fmt.Sprintf("%+v %v %+v\n", v, err, err) }
	spoils := []func(*driver.Snapshot){nil, drivertest.Orphaned, drivertest.HalfPixels, drivertest.Frameless(secret),
		drivertest.Everywhere(secret), drivertest.Cut(3), drivertest.Moved(secret, image.Pt(9, 9))}
	for _, spoil := range spoils {
		liar.OnSnapshot(nil)
		if spoil != nil {
			liar.OnSnapshot(drivertest.Spoil(0, spoil))
		}
		o, err := d.Capture(ctx, d.sim.Window(console), nil)
		if err != nil {
			say(nil, err)
			continue
		}
		said += o.Text()
		n := 0
		for e := range o.Elements() {
			said += fmt.Sprintf("%+v\n", e)
			say(d.Act(ctx, canvas.Click{Target: e.Token}))
			say(d.Act(ctx, canvas.SetValue{Target: e.Token, Value: "v"}))
			if n++; n > 14 {
				break
			}
		}
	}
	ws, err := d.ListWindows(ctx)
	say(ws, err)
	require.NotContains(t, said, secret)
	require.NotContains(t, log.String(), secret)
	require.NoError(t, d.Close())
	canary(t, d.dir, secret)
}

// lockedBuffer is a buffer for a logger of many goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A hidden title is in nothing that an agent or the record gets.
func TestPC13HiddenTitleIsNotSaid(t *testing.T) {
	ctx := context.Background()
	d, _ := lying(t, func(doc *policy.Document, s *sim.Desktop) {
		selected([]string{login})(doc, s)
		doc.HideWindowTitleRegex = "Staff"
	})
	said := ""
	ws, err := d.ListWindows(ctx)
	require.NoError(t, err)
	said += fmt.Sprintf("%+v", ws)
	o, err := d.Capture(ctx, d.sim.Window(login), nil)
	said += fmt.Sprint(err)
	if err == nil {
		said += o.Text()
		for e := range o.Elements() {
			_, err := d.Act(ctx, canvas.Click{Target: e.Token})
			said += fmt.Sprint(err)
		}
		_, err = d.Act(ctx, canvas.Raise{Window: o.Window().Ref})
		said += fmt.Sprint(err)
	}
	require.NotContains(t, said, login)
	canary(t, filepath.Join(d.dir, "audit"), login)
	canary(t, filepath.Join(d.dir, "view"), login)
}

// Errors of the driver's own words are not passed on.
func TestPC27DriversWordsAreNotTheAgents(t *testing.T) {
	words := errors.New("error near " + secret)
	d, liar := lying(t, fields())
	save := canvas.Click{Target: d.token(d.look(console), "button", "Save")}
	for _, m := range []drivertest.Method{drivertest.Windows, drivertest.Snapshot, drivertest.WindowAt, drivertest.Do} {
		liar.On(m, drivertest.Fail(words))
		_, err := d.Act(context.Background(), save)
		mum(t, err)
		liar.On(m, nil)
	}
	canary(t, d.dir, secret)
}
