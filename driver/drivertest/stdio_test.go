package drivertest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver/drivertest"
)

func TestMain(m *testing.M) {
	drivertest.Serve(map[string]drivertest.Func{
		"echo": func(tool string, args json.RawMessage) any { return map[string]any{"tool": tool, "args": args} },
	})
	os.Exit(m.Run())
}

// peer is a started child and the near end of its streams.
type peer struct {
	drivertest.Child
	in    io.WriteCloser
	lines chan string // closed when the child ends
	cmd   *exec.Cmd
}

func start(t *testing.T, script drivertest.Script) *peer {
	t.Helper()
	p := &peer{Child: drivertest.Executable(t, script), lines: make(chan string, 64)}
	p.cmd = exec.Command(p.Path, "mcp")
	p.cmd.Env = []string{} // it needs nothing from the one who starts it
	var err error
	p.in, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				p.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = p.in.Close()
		_ = p.cmd.Process.Kill()
		for range p.lines {
		}
		_ = p.cmd.Wait()
	})
	return p
}

func (p *peer) send(t *testing.T, id int, method, params string) {
	t.Helper()
	_, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	require.NoError(t, err)
}

// line returns the next line, "" where the child has ended or says nothing.
func (p *peer) line(wait time.Duration) string {
	select {
	case l := <-p.lines:
		return strings.TrimSuffix(l, "\n")
	case <-time.After(wait):
		return ""
	}
}

const long = 20 * time.Second

// TestHonestServer: what no answer is scripted for is answered as the driver
// would.
func TestHonestServer(t *testing.T) {
	p := start(t, drivertest.Script{})
	p.send(t, 1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	require.Contains(t, p.line(long), `"protocolVersion":"2025-06-18"`)
	_, err := io.WriteString(p.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\nnot json\n")
	require.NoError(t, err)
	p.send(t, 2, "tools/list", `{}`)
	require.Contains(t, p.line(long), `"name":"get_window_state"`)
	for i, c := range []struct{ tool, args, want string }{
		{"list_windows", `{}`, drivertest.PlausibleTitle},
		{"list_apps", `{}`, "lying-form"},
		{"get_window_state", `{"window_id":77}`, `"element_token":"s00000001:3"`},
		{"get_window_state", `{"window_id":78}`, `"isError":true`},
		{"click", `{"element_token":"s00000001:3"}`, `"effect":"confirmed"`},
		{"get_screen_size", `{}`, `"width":1600`},
		{"get_cursor_position", `{}`, `"x":800`},
		{"start_session", `{"session":"a"}`, `"session":"a"`},
		{"get_session", `{"session":"a"}`, `"state":"active"`},
		{"end_session", `{}`, `"session":"implicit"`},
		{"no_such", `{}`, `permission_denied`},
	} {
		p.send(t, 10+i, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.args))
		got := p.line(long)
		require.Contains(t, got, c.want, c.tool)
		require.Contains(t, got, fmt.Sprintf(`"id":%d`, 10+i))
	}
	p.send(t, 3, "server/discover", `{}`)
	require.Contains(t, p.line(long), `-32601`)
	p.send(t, 4, "ping", `{}`)
	require.Contains(t, p.line(long), `"result":{}`)
	got := p.Received(t)
	require.Equal(t, "initialize", got[0].Method)
	require.Equal(t, "notifications/initialized", got[1].Method)
	require.Equal(t, "not json", got[2].Line)
	require.Equal(t, 2, p.Calls(t, "get_window_state"))
	require.NoError(t, p.in.Close())
	require.Empty(t, p.line(long))
	require.NoError(t, p.cmd.Wait())
}

// TestModes: each mode lies as it says.
func TestModes(t *testing.T) {
	const call, quiet = `{"name":"click","arguments":{}}`, 200 * time.Millisecond
	honest := func(t *testing.T, line string) {
		t.Helper()
		require.True(t, json.Valid([]byte(line)), line)
		require.Contains(t, line, `"id":7,"result":{`)
	}
	for _, c := range []struct {
		answer drivertest.Answer
		check  func(*testing.T, *peer)
	}{
		{drivertest.Answer{}, func(t *testing.T, p *peer) { honest(t, p.line(long)) }},
		{drivertest.Answer{Mode: drivertest.ModeNever}, func(t *testing.T, p *peer) { require.Empty(t, p.line(quiet)) }},
		{drivertest.Answer{Mode: drivertest.ModeTwice}, func(t *testing.T, p *peer) {
			honest(t, p.line(long))
			honest(t, p.line(long))
		}},
		{drivertest.Answer{Mode: drivertest.ModeHuge}, func(t *testing.T, p *peer) { require.Len(t, p.line(long), 70<<20) }},
		{drivertest.Answer{Mode: drivertest.ModeHuge, Size: 5000}, func(t *testing.T, p *peer) {
			line := p.line(long)
			require.Len(t, line, 5000)
			honest(t, line)
		}},
		{drivertest.Answer{Mode: drivertest.ModeEndless}, func(t *testing.T, p *peer) { require.Empty(t, p.line(quiet)) }},
		{drivertest.Answer{Mode: drivertest.ModeGarbage}, func(t *testing.T, p *peer) {
			require.False(t, json.Valid([]byte(p.line(long))))
			honest(t, p.line(long))
		}},
		{drivertest.Answer{Mode: drivertest.ModeShape}, func(t *testing.T, p *peer) { require.Contains(t, p.line(long), `"a string"`) }},
		{drivertest.Answer{Mode: drivertest.ModeWrongID}, func(t *testing.T, p *peer) { require.Contains(t, p.line(long), `"id":987654`) }},
		{drivertest.Answer{Mode: drivertest.ModeStringID}, func(t *testing.T, p *peer) { require.Contains(t, p.line(long), `"id":"7"`) }},
		{drivertest.Answer{Mode: drivertest.ModeDuplicate}, func(t *testing.T, p *peer) {
			require.Equal(t, 2, strings.Count(p.line(long), `"result":`))
		}},
		{drivertest.Answer{Mode: drivertest.ModeBatch}, func(t *testing.T, p *peer) { require.Regexp(t, `^\[\{.*\}\]$`, p.line(long)) }},
		{drivertest.Answer{Mode: drivertest.ModeNoise}, func(t *testing.T, p *peer) {
			for range 8 {
				require.Contains(t, p.line(long), `"method":`)
			}
			honest(t, p.line(long))
		}},
		{drivertest.Answer{Mode: drivertest.ModeNotUTF8}, func(t *testing.T, p *peer) { require.Contains(t, p.line(long), "\xff") }},
		{drivertest.Answer{Mode: drivertest.ModeStall}, func(t *testing.T, p *peer) {
			require.Empty(t, p.line(quiet))
			p.send(t, 8, "ping", `{}`)
			require.Empty(t, p.line(quiet))
		}},
	} {
		t.Run(string("mode "+c.answer.Mode), func(t *testing.T) {
			p := start(t, drivertest.Script{Answers: map[string][]drivertest.Answer{"click": {c.answer}}})
			p.send(t, 7, "tools/call", call)
			c.check(t, p)
			require.Equal(t, 1, p.Calls(t, "click"))
		})
	}
}

// TestDeath: the process ends before or within its answer.
func TestDeath(t *testing.T) {
	for mode, silent := range map[drivertest.Mode]bool{drivertest.ModeDie: true, drivertest.ModeDieHalfway: false} {
		t.Run(string(mode), func(t *testing.T) {
			p := start(t, drivertest.Script{Answers: map[string][]drivertest.Answer{"click": {{Mode: mode}}}})
			p.send(t, 7, "tools/call", `{"name":"click","arguments":{}}`)
			line := p.line(long)
			require.Equal(t, silent, line == "")
			require.False(t, json.Valid([]byte(line)))
			require.Error(t, p.cmd.Wait())
		})
	}
}

// TestScripted: a result, an error or a function in the place of the honest
// answer.
func TestScripted(t *testing.T) {
	for _, c := range []struct {
		name, want string
		answer     drivertest.Answer
	}{
		{"result", `{"mine":1}`, drivertest.Answer{Result: json.RawMessage(`{"mine":1}`), DelayMS: 20}},
		{"error", `"error":{"code":-1`, drivertest.Answer{Error: json.RawMessage(`{"code":-1,"message":"m"}`)}},
		{"function", `"tool":"click"`, drivertest.Answer{Func: "echo"}},
		{"no such function", `-32603`, drivertest.Answer{Func: "no such"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, drivertest.Script{Answers: map[string][]drivertest.Answer{"click": {c.answer}}})
			p.send(t, 7, "tools/call", `{"name":"click","arguments":{}}`)
			require.Contains(t, p.line(long), c.want)
		})
	}
}

// TestAnswersInTurn: the nth call gets the nth answer, later ones the last.
func TestAnswersInTurn(t *testing.T) {
	var in, out bytes.Buffer
	script := drivertest.Script{Answers: map[string][]drivertest.Answer{
		"tools/list": {{Result: json.RawMessage(`{"tools":[]}`)}},
		"click":      {{Result: json.RawMessage(`"one"`)}, {Result: json.RawMessage(`"two"`)}},
	}}
	fmt.Fprintln(&in, `{"id":0,"method":"tools/list"}`)
	for i := range 3 {
		fmt.Fprintf(&in, `{"id":%d,"method":"tools/call","params":{"name":"click"}}`+"\n", i+1)
	}
	r, w := io.Pipe()
	go func() {
		_ = drivertest.ServeStdio(&in, w, nil, script, nil)
	}()
	lines := bufio.NewScanner(io.TeeReader(r, &out))
	seen := map[string]int{}
	for range 4 {
		require.True(t, lines.Scan())
		seen[lines.Text()[strings.Index(lines.Text(), `"result"`):]]++
	}
	require.Equal(t, map[string]int{`"result":{"tools":[]}}`: 1, `"result":"one"}`: 1, `"result":"two"}`: 2}, seen)
}
