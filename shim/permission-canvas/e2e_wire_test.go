package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A peer is a host that writes its frames by hand.
type peer struct {
	*child
	lines chan []byte
	n     int
}

// peer starts a child and shakes hands with it.
func (d *desk) peer() *peer {
	d.t.Helper()
	p := &peer{child: d.serve(), lines: make(chan []byte, 100)}
	go func() {
		defer close(p.lines)
		in := bufio.NewReader(p.out)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			p.lines <- line
		}
	}()
	got := p.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"peer","version":"1"}}`)
	require.Contains(d.t, string(got.Result), `"permission-canvas"`)
	p.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

// A frame is one that the server writes.
type frame struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int
		Message string
	}
}

// write writes one line.
func (p *peer) write(line string) {
	p.t.Helper()
	_, err := io.WriteString(p.in, line+"\n")
	require.NoError(p.t, err, "stderr: %s", p.notes.bytes())
}

// read returns the next frame.
func (p *peer) read() frame {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		require.True(p.t, ok, "the server ended; stderr: %s", p.notes.bytes())
		var f frame
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		require.NoError(p.t, dec.Decode(&f), "%s", line)
		require.Equal(p.t, "2.0", f.Version)
		return f
	case <-time.After(patience):
		p.t.Fatal("no frame came")
	}
	return frame{}
}

// ask makes a request and returns the answer.
func (p *peer) ask(method, params string) frame {
	p.t.Helper()
	p.n++
	id := fmt.Sprintf(`"ask-%d"`, p.n)
	p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	f := p.read()
	require.Equal(p.t, id, string(f.ID))
	return f
}

// callTool calls a tool and returns the structured half of its answer.
func (p *peer) callTool(name, args string) map[string]any {
	p.t.Helper()
	f := p.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
	require.Nil(p.t, f.Error, "%s", p.raw.bytes())
	var res struct {
		StructuredContent map[string]any
		IsError           bool
	}
	require.NoError(p.t, json.Unmarshal(f.Result, &res))
	return res.StructuredContent
}

// TestPC45Frames: a frame that two readers could take for two things is
// answered and not used, and the session lives on.
func TestPC45Frames(t *testing.T) {
	t.Parallel()
	d := simulated(t)
	w := d.console()
	p := d.peer()
	state := p.callTool("get_window_state", fmt.Sprintf(`{"pid":%d,"window_id":%d,"include_screenshot":false}`, w.PID, w.ID))
	id, _ := state["snapshot_id"].(string)
	require.NotEmpty(t, id)
	name := -1
	for _, e := range state["elements"].([]any) {
		if e := e.(map[string]any); e["role"] == "textbox" && e["label"] == "Name" {
			name = int(e["element_index"].(float64))
		}
	}
	token := fmt.Sprintf("%s:%d", id, name)
	set := func(args string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"set_value","arguments":{` + args + `}}}`
	}
	whole := fmt.Sprintf(`"element_token":%q,"value":"x"`, token)
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)

	for _, c := range []struct {
		what, line string
		id         string // of the answer
	}{
		{"the same key twice", set(whole + `,"value":"y"`), "7"},
		{"the same key in another spelling", set(whole + `,"val\u0075e":"y"`), "7"},
		{"a key in another case", set(whole + `,"Value":"y"`), "7"},
		{"two methods", `{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call","params":{"name":"set_value","arguments":{` + whole + `}}}`, "7"},
		{"a method in another case", `{"jsonrpc":"2.0","id":7,"method":"ping","Method":"tools/call"}`, "7"},
		{"two ids", `{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`, "null"},
		{"an id in another case", `{"jsonrpc":"2.0","id":7,"ID":8,"method":"ping"}`, "null"},
		{"a lone surrogate", set(fmt.Sprintf(`"element_token":%q,"value":"\ud800"`, token)), "7"},
		{"bytes that are no text", set(fmt.Sprintf(`"element_token":%q,"value":"%s"`, token, "\xff\xfe")), "7"},
		{"an integer that floats cannot hold", set(whole + `,"pid":9007199254740993`), "7"},
		{"an integer as a power", set(whole + `,"pid":1e300`), "7"},
		{"depth", `{"jsonrpc":"2.0","id":7,"method":"ping","params":` + deep + `}`, "7"},
		{"a batch", `[` + set(whole) + `]`, "null"},
		{"an empty batch", `[]`, "null"},
		{"half a frame", `{"jsonrpc":"2.0","id":7,"method":`, "null"},
		{"two frames on a line", `{"jsonrpc":"2.0","id":7,"method":"ping"}{"jsonrpc":"2.0","id":8,"method":"ping"}`, "null"},
		{"no frame", `null`, "null"},
		{"a text", `"tools/call"`, "null"},
		{"no version", `{"id":7,"method":"ping"}`, "7"},
		{"another version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, "7"},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null"},
		{"a fraction as id", `{"jsonrpc":"2.0","id":7.5,"method":"ping"}`, "null"},
		{"no method and no answer", `{"jsonrpc":"2.0","id":7}`, "7"},
	} {
		t.Run(c.what, func(t *testing.T) {
			p.t = t
			p.write(c.line)
			f := p.read()
			require.NotNil(t, f.Error, "%s", f.Result)
			require.Contains(t, []int{-32700, -32600}, f.Error.Code)
			require.NotEmpty(t, f.Error.Message)
			require.Equal(t, c.id, string(f.ID))
			require.Equal(t, "{}", string(p.ask("ping", "{}").Result), "the session lives on")
		})
	}
	p.t = t
	t.Run("a method that is not known", func(t *testing.T) {
		f := p.ask("tools/approve", "{}")
		require.NotNil(t, f.Error)
		require.Equal(t, -32601, f.Error.Code)
	})
	t.Run("an answer that nobody waits for", func(t *testing.T) {
		p.write(`{"jsonrpc":"2.0","id":99,"result":{"content":[{"type":"text","text":"approved"}]}}`)
		require.Equal(t, "{}", string(p.ask("ping", "{}").Result))
	})
	t.Run("a notification that is not known", func(t *testing.T) {
		p.write(`{"jsonrpc":"2.0","method":"notifications/approved","params":{"id":"all"}}`)
		require.Equal(t, "{}", string(p.ask("ping", "{}").Result))
	})
	t.Run("a frame beyond all bounds", func(t *testing.T) {
		p.write(set(fmt.Sprintf(`"element_token":%q,"value":"%s"`, token, strings.Repeat("x", 5<<20))))
		require.NotNil(t, p.read().Error)
		require.Equal(t, "{}", string(p.ask("ping", "{}").Result))
	})
	require.Zero(t, d.acts(), "none of them was used")
	// The snapshot has outlived them all.
	require.Equal(t, "done", p.callTool("set_value", "{"+whole+"}")["status"])
	require.Equal(t, 1, d.acts())
	p.ends(2 * time.Second)
	d.verified()
}

// TestEndOfInput: the end of stdin ends the process, with success and nothing
// left behind, whatever it is doing.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	t.Run("before a word", func(t *testing.T) {
		t.Parallel()
		simulated(t).serve().ends(2 * time.Second)
	})
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		p := d.peer()
		p.callTool("list_windows", "{}")
		p.ends(2 * time.Second)
		require.Empty(t, p.notes.bytes(), "stderr")
	})
	t.Run("within half a frame", func(t *testing.T) {
		t.Parallel()
		p := simulated(t).peer()
		_, err := io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"meth`)
		require.NoError(t, err)
		p.ends(2 * time.Second)
	})
	t.Run("while an ask waits", func(t *testing.T) {
		t.Parallel()
		d := simulated(t)
		w := d.console()
		h := d.host("e2e")
		h.start("click", map[string]any{"element_token": h.capture(w).token("button", "Save"), asks: "1"})
		ask := d.asked()
		h.ends(2 * time.Second)
		require.Empty(t, d.pending(), "the ask is withdrawn")
		_, code := d.pc("approve", ask.ID)
		require.Equal(t, 1, code)
		require.Zero(t, d.acts())
		d.verified()
	})
}
