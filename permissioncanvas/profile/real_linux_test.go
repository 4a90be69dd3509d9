package profile_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/fixture"
)

// TestPC22Driver asks real drivers what they admit under the file.
func TestPC22Driver(t *testing.T) {
	fixture.Each(t, func(t *testing.T, d fixture.Desktop) {
		for name, tools := range map[string][]string{
			"some": {"click", "get_window_state", "list_windows"}, "one that it lacks": {"list_windows", "no_such_tool"}, "none": nil,
		} {
			t.Run(name, func(t *testing.T) {
				p := opened(t)
				path, err := p.WriteDriverPolicy(tools)
				require.NoError(t, err)
				list, call := ask(t, d, path)
				want := []string{}
				for _, tool := range tools {
					if tool != "no_such_tool" {
						want = append(want, tool)
					}
				}
				require.ElementsMatch(t, want, list)
				require.Equal(t, "permission_denied", call)
			})
		}
	})
}

// ask starts a driver under the policy file and returns the tools that it
// lists and the code by which it refuses kill_app.
func ask(t *testing.T, d fixture.Desktop, policyFile string) (tools []string, code string) {
	t.Helper()
	cmd := exec.Command(d.Driver, "mcp")
	cmd.Dir = t.TempDir()
	cmd.Env = append(d.Env(), "HOME="+cmd.Dir, "CUA_DRIVER_POLICY_FILE="+policyFile,
		"CUA_DRIVER_RS_TELEMETRY_ENABLED=false", "CUA_DRIVER_RS_UPDATE_CHECK=false")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewReader(out)
	rpc := func(id int, method, params string, result any) {
		_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		require.NoError(t, err)
		line, err := lines.ReadBytes('\n')
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(line, &struct{ Result any }{result}), string(line))
	}
	var hello any
	rpc(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`, &hello)
	_, err = fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.NoError(t, err)
	var list struct{ Tools []struct{ Name string } }
	rpc(2, "tools/list", `{}`, &list)
	for _, tool := range list.Tools {
		tools = append(tools, tool.Name)
	}
	var call struct{ StructuredContent struct{ Code string } }
	rpc(3, "tools/call", `{"name":"kill_app","arguments":{"pid":1}}`, &call)
	return tools, call.StructuredContent.Code
}
