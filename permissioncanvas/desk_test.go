package permissioncanvas_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/approval/review"
	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// A desk is a Canvas over a simulated desktop, with the person's side at hand.
type desk struct {
	*canvas.Canvas
	t    *testing.T
	dir  string
	home string
	sim  *sim.Desktop
	gate *handoff.Gate
}

// console and login are two of the simulated windows.
const (
	console = "Admin Console"
	login   = "Staff Login"
	browser = "Orders - Acme"
)

// newDesk opens a Canvas in a fresh profile whose person selected the windows
// that rules tell, and resumed. Over wraps the driver where a test needs it to
// lie.
func newDesk(t *testing.T, rules func(*policy.Document, *sim.Desktop), over func(driver.Driver) driver.Driver) *desk {
	t.Helper()
	d := &desk{t: t, home: t.TempDir(), sim: sim.New(nil)}
	d.dir = filepath.Join(d.home, "permission-canvas")
	p, err := profile.Open(d.dir)
	require.NoError(t, err)
	require.NoError(t, p.Init())
	d.gate = handoff.Open(d.dir)
	d.write(rules)
	require.NoError(t, d.gate.SetResumed("test"))
	release, err := d.gate.Surface()
	require.NoError(t, err)
	release()
	d.Canvas = d.open(over)
	return d
}

// open begins another session in the same profile.
func (d *desk) open(over func(driver.Driver) driver.Driver) *canvas.Canvas {
	d.t.Helper()
	var dr driver.Driver = d.sim
	if over != nil {
		dr = over(dr)
	}
	c, err := canvas.New(d.home, &canvas.Options{Agent: "tester", Driver: dr, NoWait: true})
	require.NoError(d.t, err)
	d.t.Cleanup(func() { c.Close() })
	return c
}

// write replaces the rules, as the person's side would.
func (d *desk) write(rules func(*policy.Document, *sim.Desktop)) {
	d.t.Helper()
	doc := policy.New()
	if rules != nil {
		rules(&doc, d.sim)
	}
	p, err := policy.Compile(doc)
	require.NoError(d.t, err)
	require.NoError(d.t, statefile.Replace(filepath.Join(d.dir, profile.PolicyFile), p.Encode(), nil))
}

// selected returns rules that choose windows by title and then hold these.
func selected(titles []string, rules ...policy.Rule) func(*policy.Document, *sim.Desktop) {
	return func(doc *policy.Document, d *sim.Desktop) {
		all, _ := d.Windows(context.Background())
		for _, title := range titles {
			for _, w := range all {
				if w.Title == title {
					doc.Windows = append(doc.Windows, policy.WindowOf(w))
				}
			}
		}
		for i, r := range rules {
			if r.ID == "" {
				r.ID = "r" + string(rune('1'+i))
			}
			if r.Level == driver.LevelAllow { // green needs its window
				w := doc.Windows[0]
				r.Match.App, r.Match.PID, r.Match.Start, r.Match.WindowID = w.App, w.PID, w.Start, w.WindowID
				if r.Match.Site = w.Site; w.Site == "" {
					r.Match.WindowTitle = w.Title
				}
			}
			doc.Rules = append(doc.Rules, r)
		}
	}
}

// on is a rule for a control by role and label.
func on(level driver.Level, role, label string) policy.Rule {
	return policy.Rule{Level: level, Match: policy.Match{Role: role, Label: label}}
}

// look captures the window with that title.
func (d *desk) look(title string) *canvas.Observation {
	d.t.Helper()
	o, err := d.Capture(context.Background(), d.sim.Window(title), nil)
	require.NoError(d.t, err)
	return o
}

// token is that of the only element with the label and a role that operates.
func (d *desk) token(o *canvas.Observation, role, label string) canvas.Token {
	d.t.Helper()
	var found []canvas.Token
	for e := range o.Elements() {
		if e.Label == label && e.Role == role {
			found = append(found, e.Token)
		}
	}
	require.Len(d.t, found, 1, "%s %q in\n%s", role, label, o.Text())
	return found[0]
}

// refused requires an *Error with code and returns it.
func refused(t *testing.T, err error, code canvas.Code) *canvas.Error {
	t.Helper()
	require.ErrorIs(t, err, code)
	var e *canvas.Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Message)
	require.NotContains(t, e.Message, "%!")
	require.NotEmpty(t, e.Next)
	return e
}

// person answers the only pending question.
func (d *desk) person(approve bool) {
	d.t.Helper()
	r, err := review.Open(filepath.Join(d.dir, "approvals"))
	require.NoError(d.t, err)
	cards, err := r.Pending(context.Background())
	require.NoError(d.t, err)
	require.Len(d.t, cards, 1)
	if approve {
		require.NoError(d.t, r.Approve(context.Background(), cards[0].ID, "ada"))
	} else {
		require.NoError(d.t, r.Deny(context.Background(), cards[0].ID, "ada", "wrong control"))
	}
}

// eventually waits for a question to come before the person.
func (d *desk) asked() review.Card {
	d.t.Helper()
	r, err := review.Open(filepath.Join(d.dir, "approvals"))
	require.NoError(d.t, err)
	var cards []review.Card
	require.Eventually(d.t, func() bool {
		cards, err = r.Pending(context.Background())
		return err == nil && len(cards) == 1
	}, 10*time.Second, 10*time.Millisecond)
	return cards[0]
}

// entries returns the record's entries of one kind.
func (d *desk) entries(kind string) []audit.Entry {
	d.t.Helper()
	all, err := audit.Tail(filepath.Join(d.dir, "audit"), 1000)
	require.NoError(d.t, err)
	var out []audit.Entry
	for _, e := range all {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
