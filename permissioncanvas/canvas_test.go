package permissioncanvas_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func TestPC01NewProfileIsPausedAskingAndEmpty(t *testing.T) {
	home := t.TempDir()
	c, err := canvas.New(home, &canvas.Options{Driver: sim.New(nil)})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.ListWindows(context.Background())
	e := refused(t, err, canvas.Paused)
	require.Contains(t, e.Message, "Nobody has set up")
	require.Equal(t, canvas.AskPerson, e.Next)
	_, err = c.Capture(context.Background(), canvas.WindowRef{PID: 1, ID: 1}, nil)
	refused(t, err, canvas.Paused)

	data, err := os.ReadFile(filepath.Join(home, "permission-canvas", "policy.json"))
	require.NoError(t, err)
	p, err := policy.Parse(data)
	require.NoError(t, err)
	require.Equal(t, driver.LevelAsk, p.DefaultLevel())
	require.Empty(t, p.Windows())
}

func TestPC01ExistingPolicyIsLeftAsItIs(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "permission-canvas", "policy.json")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(`{"version": 9}`), 0o600))
	c, err := canvas.New(home, &canvas.Options{Driver: sim.New(nil)})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.ListWindows(context.Background())
	require.Error(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, `{"version": 9}`, string(data))
}

func TestNewRefusesWhatItCannotHonour(t *testing.T) {
	for _, tc := range []struct {
		name string
		home string
		opts *canvas.Options
		code canvas.Code
	}{
		{"no home", "", nil, canvas.BadRequest},
		{"unknown mode", "x", &canvas.Options{Mode: "loose"}, canvas.BadRequest},
		{"bounded without a manifest", "x", &canvas.Options{Mode: canvas.Bounded}, canvas.ManifestInvalid},
		{"manifest", "x", &canvas.Options{Manifest: "m.json"}, canvas.ManifestInvalid},
		{"no such tiers", "x", &canvas.Options{Tiers: "missing.json"}, canvas.PolicyInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			home := tc.home
			if home != "" {
				home = t.TempDir()
			}
			_, err := canvas.New(home, tc.opts)
			refused(t, err, tc.code)
		})
	}
}

func TestPC20WhilePausedNothingIsSeenOrDone(t *testing.T) {
	ctx := context.Background()
	d := newDesk(t, selected([]string{console}, on(driver.LevelAllow, "button", "Save")), nil)
	o := d.look(console)
	save := canvas.Click{Target: d.token(o, "button", "Save")}
	require.NoError(t, d.gate.SetPaused("ada", "looking"))
	_, err := d.ListWindows(ctx)
	refused(t, err, canvas.Paused)
	_, err = d.Capture(ctx, o.Window().Ref, nil)
	refused(t, err, canvas.Paused)
	_, err = d.Act(ctx, save)
	refused(t, err, canvas.Paused)
	require.NoError(t, d.gate.SetResumed("ada"))
	require.NoError(t, os.Remove(filepath.Join(d.dir, "pause.json")))
	_, err = d.Act(ctx, save)
	refused(t, err, canvas.Paused)
	require.Zero(t, d.sim.Pressed("Save"))
}

func TestTG01MisspeltCategoryRefusesEverything(t *testing.T) {
	d := newDesk(t, func(doc *policy.Document, s *sim.Desktop) {
		selected([]string{console})(doc, s)
		doc.Tiers = map[string]string{"agentCursor": "deny", "browserPrivileged": "ask"}
	}, nil)
	d.look(console)
	d.write(func(doc *policy.Document, s *sim.Desktop) {
		selected([]string{console})(doc, s)
		doc.Tiers = map[string]string{"inptu": "deny"}
	})
	_, err := d.Capture(context.Background(), d.sim.Window(console), nil)
	refused(t, err, canvas.PolicyInvalid)
	require.ErrorContains(t, d.Status().Policy, "inptu")
}
