package manifest_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/fixture"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/manifest"
)

// TestPC23Drivers asks real drivers. What is read here they must read too,
// save for tools that an older one does not know: a manifest that only we
// understand would end in a driver that does not start.
func TestPC23Drivers(t *testing.T) {
	fixture.Each(t, func(t *testing.T, d fixture.Desktop) {
		for _, tt := range texts() {
			_, err := manifest.Parse([]byte(tt.yaml), nil)
			if err != nil {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				require.True(t, starts(t, d, tt.yaml, "standard"), "the driver does not start under\n%s", tt.yaml)
			})
		}
		t.Run("bounded needs lifetimes", func(t *testing.T) {
			require.True(t, starts(t, d, head+tools, "bounded"))
			require.False(t, starts(t, d, "version: 3\n"+tools, "bounded"))
		})
	})
}

// starts reports whether the driver answers under a manifest.
func starts(t *testing.T, d fixture.Desktop, text, mode string) bool {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "capabilities.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	cmd := exec.Command(d.Driver, "mcp")
	cmd.Dir = dir
	cmd.Env = append(d.Env(), "HOME="+dir, "CUA_DRIVER_RS_TELEMETRY_ENABLED=false", "CUA_DRIVER_RS_UPDATE_CHECK=false",
		"CUA_DRIVER_PERMISSION_MODE="+mode, "CUA_DRIVER_CAPABILITY_MANIFEST_FILE="+file, "CUA_DRIVER_CAPABILITY_MANIFEST_APPROVED=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	watch := time.AfterFunc(fixture.Patience, func() { _ = cmd.Process.Kill() })
	defer watch.Stop()
	_, _ = in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n"))
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return err == nil && line != ""
}
