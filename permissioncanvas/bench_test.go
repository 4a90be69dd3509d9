package permissioncanvas_test

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/statefile"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

// still is a driver in memory over one window that never changes: what it
// takes is nothing, so that what is measured is ours.
type still struct {
	window driver.Window
	tree   []driver.Element
}

func newStill(nodes int) *still {
	s := &still{window: driver.Window{Ref: driver.WindowRef{PID: 4242, ID: 77}, Start: 81237, App: "still", Exe: "still",
		Title: "Table", Bounds: image.Rect(0, 0, 1200, 40*nodes), Z: 1}}
	add := func(parent int, role driver.Role, label string, r image.Rectangle) int {
		s.tree = append(s.tree, driver.Element{Parent: parent, Role: role, RawRole: string(role), Label: label, Bounds: r,
			Token: fmt.Sprintf("s00000001:%d", len(s.tree))})
		return len(s.tree) - 1
	}
	root := add(-1, driver.RoleWindow, "Table", s.window.Bounds)
	add(root, driver.RoleButton, "Save", image.Rect(0, 0, 80, 30))
	for row := 0; len(s.tree) < nodes; row++ {
		y := 40 * (row + 1)
		r := add(root, driver.RoleRow, fmt.Sprintf("Row %d", row), image.Rect(0, y, 1200, y+36))
		for c := 0; c < 3 && len(s.tree) < nodes; c++ {
			add(r, driver.RoleCell, fmt.Sprintf("Cell %d.%d", row, c), image.Rect(200*c, y+4, 200*c+180, y+30))
		}
	}
	return s
}

func (s *still) Windows(context.Context) ([]driver.Window, error) {
	return []driver.Window{s.window}, nil
}

func (s *still) Snapshot(_ context.Context, _ driver.WindowRef, o driver.SnapshotOptions) (*driver.Snapshot, error) {
	return &driver.Snapshot{Window: s.window, Elements: s.tree, AllText: true, FocusKnown: true, Taken: time.Now()}, nil
}

func (s *still) Do(context.Context, driver.WindowRef, driver.Action) (driver.Result, error) {
	return driver.Result{Effect: driver.EffectConfirmed}, nil
}

func (s *still) WindowAt(context.Context, image.Point) (driver.Hit, error) {
	return driver.Hit{Window: s.window.Ref}, nil
}

func (s *still) Close() error { return nil }

// benchCanvas opens a session over a still window in a profile below home.
func benchCanvas(b *testing.B, home string, nodes int) (*canvas.Canvas, driver.WindowRef) {
	b.Helper()
	desktop := newStill(nodes)
	dir := filepath.Join(home, "permission-canvas")
	p, err := profile.Open(dir)
	require.NoError(b, err)
	require.NoError(b, p.Init())
	doc := policy.New()
	w := policy.WindowOf(desktop.window)
	doc.Windows = []policy.Window{w}
	doc.Rules = []policy.Rule{
		{ID: "hide", Level: driver.LevelHide, Match: policy.Match{TextRegex: `sk-[a-z0-9-]{10,}`}},
		{ID: "save", Level: driver.LevelAllow, Match: policy.Match{Role: "button", Label: "Save", App: w.App, PID: w.PID, Start: w.Start,
			WindowID: w.WindowID, WindowTitle: w.Title}},
		{ID: "cell", Level: driver.LevelReadOnly, Match: policy.Match{Role: "cell", Label: "Cell 7.1"}},
	}
	rules, err := policy.Compile(doc)
	require.NoError(b, err)
	require.NoError(b, statefile.Replace(filepath.Join(dir, profile.PolicyFile), rules.Encode(), nil))
	require.NoError(b, handoff.Open(dir).SetResumed("bench"))
	c, err := canvas.New(home, &canvas.Options{Agent: "bench", Driver: desktop, NoWait: true})
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	return c, desktop.window.Ref
}

// places are where the record's fsyncs go: to the disk, and where there is one
// to a directory in memory, where they cost nothing.
func places(b *testing.B) map[string]string {
	out := map[string]string{"disk": b.TempDir()}
	if dir, err := os.MkdirTemp("/dev/shm", "pc-bench"); err == nil {
		b.Cleanup(func() { os.RemoveAll(dir) })
		out["memory"] = dir
	}
	return out
}

// BenchmarkCapture is a look without a picture at 2,000 nodes, 250 shown.
func BenchmarkCapture(b *testing.B) {
	for where, home := range places(b) {
		b.Run(where, func(b *testing.B) {
			c, ref := benchCanvas(b, home, 2000)
			b.ReportAllocs()
			for b.Loop() {
				_, err := c.Capture(context.Background(), ref, &canvas.CaptureOptions{NoImage: true})
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkAct is an act that nobody is asked for, in windows of two sizes.
func BenchmarkAct(b *testing.B) {
	for where, home := range places(b) {
		for _, nodes := range []int{60, 2000} {
			b.Run(fmt.Sprintf("%s/%d", where, nodes), func(b *testing.B) {
				c, ref := benchCanvas(b, filepath.Join(home, fmt.Sprint(nodes)), nodes)
				o, err := c.Capture(context.Background(), ref, &canvas.CaptureOptions{NoImage: true})
				require.NoError(b, err)
				var save canvas.Token
				for e := range o.Elements() {
					if e.Label == "Save" {
						save = e.Token
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					_, err := c.Act(context.Background(), canvas.Click{Target: save})
					if err != nil { // two minutes are over
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRecord is the part of the above that the record's fsyncs take: one
// entry a capture, two an act.
func BenchmarkRecord(b *testing.B) {
	for where, home := range places(b) {
		b.Run(where, func(b *testing.B) {
			dir := filepath.Join(home, "audit")
			require.NoError(b, os.MkdirAll(dir, 0o700))
			l, err := audit.Open(dir)
			require.NoError(b, err)
			for b.Loop() {
				_, err := l.Append(context.Background(), audit.Entry{Session: "s", Agent: "a", Kind: "intent", Fields: map[string]string{"act": "click"}})
				require.NoError(b, err)
			}
		})
	}
}
