package control_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// earlyBrowser is the simulated desktop whose browser was started before accessibility
// was on: it shows a page without content, or none.
type earlyBrowser struct {
	*sim.Desktop
	noPage bool
}

func (d earlyBrowser) Windows(ctx context.Context) ([]driver.Window, error) {
	all, err := d.Desktop.Windows(ctx)
	for i := range all {
		if all[i].Exe == "sim-browser" {
			all[i].App, all[i].Exe = "chromium", "chromium"
		}
	}
	return all, err
}

func (d earlyBrowser) Snapshot(ctx context.Context, w driver.WindowRef, o driver.SnapshotOptions) (*driver.Snapshot, error) {
	s, err := d.Desktop.Snapshot(ctx, w, o)
	if err != nil || s.Window.Exe != "sim-browser" {
		return s, err
	}
	s.Window.App, s.Window.Exe = "chromium", "chromium"
	page := slices.IndexFunc(s.Elements, func(e driver.Element) bool { return e.Role == driver.RoleDocument })
	if d.noPage {
		page--
	}
	s.Elements = s.Elements[:page+1]
	return s, nil
}

func TestEX20ABrowserThatStartedBlind(t *testing.T) {
	const run = "then run: chromium --force-renderer-accessibility --restore-last-session"
	b := open(t)
	b.Attach(earlyBrowser{b.desktop, false})
	p := b.preview(t, b.browser)
	require.Contains(t, p.Restart, "Nothing of the page can be read")
	require.Contains(t, p.Restart, run)
	require.Empty(t, b.preview(t, b.console).Restart)

	b.Attach(earlyBrowser{b.desktop, true})
	_, err := b.Preview(t.Context(), b.browser)
	require.Error(t, err)
	w, found := b.Find(t.Context(), "chromium")
	require.NoError(t, found)
	require.Contains(t, control.Restart(w, err), run)
	require.Empty(t, control.Restart(w, context.Canceled))
}
