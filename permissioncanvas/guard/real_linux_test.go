package guard_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/fixture"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
)

// TestTG01Driver compares the catalogue with what real drivers say.
func TestTG01Driver(t *testing.T) {
	fixture.Each(t, func(t *testing.T, d fixture.Desktop) {
		c, ok := guard.Known(d.Version)
		require.True(t, ok)
		var names []string
		for _, entry := range listed(t, d) {
			var tool struct {
				Name, Description string
				InputSchema       json.RawMessage
			}
			require.NoError(t, json.Unmarshal(entry, &tool))
			names = append(names, tool.Name)
			require.True(t, c.DescriptionKnown(tool.Name, tool.Description), tool.Name)
			require.True(t, c.SchemaKnown(tool.Name, tool.InputSchema), tool.Name)
			require.True(t, c.EntryKnown(tool.Name, entry), tool.Name)
		}
		require.ElementsMatch(t, c.Tools(), names)
	})
}

// listed starts a driver and returns what it says of each of its tools.
func listed(t *testing.T, d fixture.Desktop) []json.RawMessage {
	t.Helper()
	cmd := exec.Command(d.Driver, "mcp")
	cmd.Dir = t.TempDir()
	cmd.Env = append(d.Env(), "HOME="+cmd.Dir, "CUA_DRIVER_RS_TELEMETRY_ENABLED=false", "CUA_DRIVER_RS_UPDATE_CHECK=false")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	_, err = fmt.Fprint(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`+"\n")
	require.NoError(t, err)
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		require.NoError(t, err)
		var reply struct {
			ID     int
			Result struct{ Tools []json.RawMessage }
		}
		require.NoError(t, json.Unmarshal(line, &reply))
		if reply.ID == 2 {
			return reply.Result.Tools
		}
	}
}
