//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/handoff"
)

func TestEX13SetupInATerminal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := inTerminal(t, 100, 45, dir, "setup", "--driver", "sim")
	w.shows(`(?s)Step 1 of 4.*✓ It works`)
	w.shows(`(?s)  1  sim-console "Admin Console".*Its number`)
	require.Equal(t, "Permission Canvas\n", w.tmux("display-message", "-p", "#{pane_title}"))
	w.types("frob", "Enter")
	w.shows(`× That is no number`)
	w.types("9", "Enter")
	w.shows(`× there is no window 9`)
	w.types("1", "Enter")
	w.shows(`(?s)✓ sim-console "Admin Console" is selected.*Step 3 of 4.*  5 \?   text "sk-test-9f2a77c1b0".*Level and numbers:`)
	w.types("hide 5", "Enter")
	w.shows(`(?s)1  everything like "sk-test-.*2  the whole box "Credentials".*Which\?`)
	w.types("1", "Enter")
	w.shows(`■ Hide       anything with a text like`)
	w.types("paint 5", "Enter")
	w.shows(`× level "paint"`)
	w.types("allow 9,11", "Enter")
	w.shows(`✓ Allow      combobox "Plan"`)
	w.types("q", "Enter")
	w.shows(`pc setup. goes on from here`)
	w.ends(1)
	require.True(t, handoff.Open(dir).State().Paused)

	// It goes on where it stopped.
	w = inTerminal(t, 100, 45, dir, "setup", "--driver", "sim")
	w.shows(`(?s)\*  1  sim-console.*\[Enter\] keep 1`)
	w.types("Enter")
	w.shows(`(?s)  5 ■   text \(18 characters, not shown\).*  9 ✓   textbox "Name"`)
	w.types("done", "Enter")
	w.shows(`(?s)Step 4 of 4.*2 allowed · \d+ ask · 0 read only · 1 hidden · anything new asks.*let agents work`)
	w.types("y", "Enter")
	w.shows(`Type resume, or q`)
	require.True(t, handoff.Open(dir).State().Paused)
	w.types("resume", "Enter")
	w.shows(`✓ Agents may work\. Watch them, and answer what they ask: pc watch`)
	require.False(t, handoff.Open(dir).State().Paused)

	desk, err := control.Open(dir, nil)
	require.NoError(t, err)
	doc, err := desk.Rules()
	require.NoError(t, err)
	require.Len(t, doc.Rules, 3)
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotContains(t, string(data), "9f2a77c1b0", path)
		}
		return err
	}))
}

func TestEX13SetupSaysWhatToRunWithoutADriver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := inTerminal(t, 100, 30, dir, "setup", "--driver", filepath.Join(dir, "none"))
	w.shows(`× .*none`)
	w.shows(`python3 -m pip install --user cua-driver`)
	w.types("q", "Enter")
	w.ends(1)
}
