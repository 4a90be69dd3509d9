package mcpwire_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/mcpwire"
)

// host is an agent's host in front of a server.
type host struct {
	t    *testing.T
	wire *mcpwire.Stdio
	in   io.WriteCloser
	out  *bufio.Reader
	over chan error
}

type handler func(ctx context.Context, c *mcpwire.Call, req *mcp.CallToolRequest) (*mcp.CallToolResult, error)

// serve connects a host to a server whose tools "act", "read" and "look" all
// go to h; the first two are ordered.
func serve(t *testing.T, opts *mcpwire.StdioOptions, h handler) *host {
	t.Helper()
	if opts == nil {
		opts = &mcpwire.StdioOptions{}
	}
	opts.Ordered = func(tool string) bool { return tool != "look" }
	fromHost, toServer := io.Pipe()
	fromServer, toHost := io.Pipe()
	w := mcpwire.NewStdio(fromHost, toHost, opts)
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for _, name := range []string{"act", "read", "look"} {
		tool := &mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
		server.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return h(ctx, w.Call(req.Extra), req)
		})
	}
	x := &host{t: t, wire: w, in: toServer, out: bufio.NewReaderSize(fromServer, 1<<20), over: make(chan error, 1)}
	go func() { x.over <- server.Run(context.Background(), w) }()
	t.Cleanup(func() {
		_ = toServer.Close()
		go func() { _, _ = io.Copy(io.Discard, x.out) }()
		select {
		case <-x.over:
		case <-time.After(5 * time.Second):
			t.Error("the server did not end with its input")
		}
	})
	x.say(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`)
	require.Contains(t, x.hear(), `"id":"i"`)
	x.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return x
}

func (x *host) say(line string) {
	_, err := io.WriteString(x.in, line+"\n")
	require.NoError(x.t, err)
}

func (x *host) call(id any, tool string) {
	raw, err := json.Marshal(id)
	require.NoError(x.t, err)
	x.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, raw, tool))
}

func (x *host) hear() string {
	line, err := x.out.ReadString('\n')
	require.NoError(x.t, err)
	return strings.TrimSuffix(line, "\n")
}

func done(context.Context, *mcpwire.Call, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
}

func TestPC45BadFrameIsAnsweredAndTheSessionLives(t *testing.T) {
	tests := []struct {
		name, line, id, code string
	}{
		{"not JSON", `{"jsonrpc":"2.0","id":1,`, "null", "-32700"},
		{"words", `hello there`, "null", "-32700"},
		{"two values", `{"jsonrpc":"2.0","id":1,"method":"ping"} {"a":1}`, "null", "-32700"},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", "-32600"},
		{"an empty batch", `[]`, "null", "-32600"},
		{"a number", `7`, "null", "-32600"},
		{"duplicate argument", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act","arguments":{"x":1,"x":2}}}`, "1", "-32600"},
		{"argument in two cases", `{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"act","arguments":{"x":1,"X":2}}}`, `"q"`, "-32600"},
		{"lone surrogate", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act","arguments":{"t":"\udc00"}}}`, "1", "-32600"},
		{"not UTF-8", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act","arguments":{"t":"` + "\xc3" + `"}}}`, "1", "-32600"},
		{"big integer", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act","arguments":{"n":9007199254740993}}}`, "1", "-32600"},
		{"big integer in disguise", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act","arguments":{"n":1e300}}}`, "1", "-32600"},
		{"deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}}`, "1", "-32600"},
		{"two methods", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, "1", "-32600"},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, "null", "-32600"},
		{"two ids by case", `{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"}`, "null", "-32600"},
		{"an id by escape", `{"jsonrpc":"2.0","\u0069d":1,"method":"ping"}`, "null", "-32600"},
		{"method by another case", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, "1", "-32600"},
		{"unknown member", `{"jsonrpc":"2.0","id":1,"method":"ping","x":1}`, "1", "-32600"},
		{"no version", `{"id":1,"method":"ping"}`, "1", "-32600"},
		{"fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null", "-32600"},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", "-32600"},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", "-32600"},
		{"huge id", `{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}`, "null", "-32600"},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, "1", "-32600"},
		{"request and answer", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, "1", "-32600"},
		{"nothing", `{"jsonrpc":"2.0","id":1}`, "1", "-32600"},
		{"too long", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 9000) + `"}}`, "null", "-32600"},
	}
	x := serve(t, &mcpwire.StdioOptions{MaxLine: 8192}, done)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x.say(tt.line)
			var reply struct {
				ID    json.RawMessage
				Error struct {
					Code    json.RawMessage
					Message string
				}
			}
			line := x.hear()
			require.NoError(t, json.Unmarshal([]byte(line), &reply), line)
			require.Equal(t, tt.id, string(reply.ID), line)
			require.Equal(t, tt.code, string(reply.Error.Code), line)
			require.NotEmpty(t, reply.Error.Message)
			require.EqualValues(t, i+1, x.wire.Refused())
			x.call(i+100, "act")
			require.Contains(t, x.hear(), `"done"`)
		})
	}
	x.say("\r\n  ") // blank lines are nothing
	x.call("last", "act")
	require.Contains(t, x.hear(), `"last"`)
}

func TestPC45AnIDInUseIsRefused(t *testing.T) {
	release := make(chan struct{})
	x := serve(t, nil, func(ctx context.Context, c *mcpwire.Call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-release
		return done(ctx, c, r)
	})
	x.call(1, "look")
	x.call("1", "look") // a string is another id
	x.call(1, "look")
	require.Contains(t, x.hear(), "in use")
	close(release)
	require.Contains(t, x.hear(), "done")
	require.Contains(t, x.hear(), "done")
	x.call(1, "look")
	require.Contains(t, x.hear(), "done")
}

// TestPC47CallsRunAsTheyArrived pipelines many calls whose handlers would
// finish in any order.
func TestPC47CallsRunAsTheyArrived(t *testing.T) {
	const n = 40
	var mu sync.Mutex
	var order []uint64
	running := 0
	x := serve(t, nil, func(ctx context.Context, c *mcpwire.Call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Params.Name == "look" {
			return done(ctx, c, r)
		}
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
		if err := c.Wait(ctx); err != nil {
			return nil, err
		}
		mu.Lock()
		running++
		require.Equal(t, 1, running)
		order = append(order, c.Number())
		mu.Unlock()
		time.Sleep(time.Duration(rand.IntN(2)) * time.Millisecond)
		mu.Lock()
		running--
		mu.Unlock()
		if c.Number()%3 == 0 {
			c.Done() // early, and the answer does it again
			c.Done()
		}
		return done(ctx, c, r)
	})
	go func() {
		for i := range n {
			x.call(i, []string{"act", "read", "look"}[i%3])
		}
	}()
	for range n {
		require.Contains(t, x.hear(), "done")
	}
	mu.Lock()
	defer mu.Unlock()
	var want []uint64
	for i := range n {
		if i%3 != 2 {
			want = append(want, uint64(i+1))
		}
	}
	require.Equal(t, want, order)
}

func TestPC47DiscoveryOvertakes(t *testing.T) {
	release := make(chan struct{})
	x := serve(t, nil, func(ctx context.Context, c *mcpwire.Call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := c.Wait(ctx); err != nil {
			return nil, err
		}
		if r.Params.Name == "act" {
			<-release
		}
		return done(ctx, c, r)
	})
	x.call(1, "act")
	x.call(2, "look")
	require.Contains(t, x.hear(), `"id":2`)
	close(release)
	require.Contains(t, x.hear(), `"id":1`)
}

// TestPC47ACancelledCallHoldsNobodyUp cancels a call that runs and one that
// waits; the next one begins only when both have ended.
func TestPC47ACancelledCallHoldsNobodyUp(t *testing.T) {
	began := make(chan uint64, 8)
	x := serve(t, nil, func(ctx context.Context, c *mcpwire.Call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := c.Wait(ctx); err != nil {
			return nil, err
		}
		began <- c.Number()
		if c.Number() < 3 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return done(ctx, c, r)
	})
	x.call(1, "act")
	x.call(2, "act")
	x.call(3, "act")
	require.EqualValues(t, 1, <-began)
	x.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	require.Contains(t, x.hear(), `"id":2`)
	require.Empty(t, began, "the first one still runs")
	x.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	require.Contains(t, x.hear(), `"id":1`)
	require.EqualValues(t, 3, <-began)
	require.Contains(t, x.hear(), "done")
}

func TestCallOfNoConnection(t *testing.T) {
	w := mcpwire.NewStdio(strings.NewReader(""), io.Discard, nil)
	for _, extra := range []*mcp.RequestExtra{nil, {}, {Header: map[string][]string{"Permission-Canvas-Call": {"7"}}}} {
		c := w.Call(extra)
		require.NoError(t, c.Wait(t.Context()))
		c.Done()
		require.Zero(t, c.Number())
		require.Equal(t, []byte("png"), c.Image([]byte("png")))
	}
}

func TestImagesAreCarriedPastJSON(t *testing.T) {
	one, two := picture(100_000), picture(3)
	x := serve(t, nil, func(_ context.Context, c *mcpwire.Call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = c.Image(picture(9)) // never used
		first, second := c.Image(one), c.Image(two)
		require.Less(t, len(first), 100)
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "<ä> "}, &mcp.ImageContent{Data: second, MIMEType: "image/png"},
			&mcp.ImageContent{Data: first, MIMEType: "image/png"},
		}}, nil
	})
	for i := range 3 {
		x.call(i, "look")
		var reply struct {
			Result struct {
				Content []struct {
					Text string
					Data []byte
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(x.hear()), &reply))
		require.Len(t, reply.Result.Content, 3)
		require.Equal(t, "<ä> ", reply.Result.Content[0].Text)
		require.Equal(t, two, reply.Result.Content[1].Data)
		require.Equal(t, one, reply.Result.Content[2].Data)
	}
}

func picture(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

func TestStdioEndsWithItsInput(t *testing.T) {
	started := make(chan struct{})
	ended := make(chan error, 1)
	x := serve(t, nil, func(ctx context.Context, c *mcpwire.Call, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(started)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	x.call(1, "act")
	<-started
	require.NoError(t, x.in.Close())
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestStdioClose(t *testing.T) {
	in, _ := io.Pipe()
	w := mcpwire.NewStdio(in, io.Discard, nil)
	conn, err := w.Connect(t.Context())
	require.NoError(t, err)
	require.Empty(t, conn.SessionID())
	time.AfterFunc(10*time.Millisecond, func() { _ = conn.Close() })
	_, err = conn.Read(t.Context())
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, conn.Close())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = conn.Read(ended)
	require.Error(t, err)
}

func TestStdioPassesAnswersToTheServersOwnRequests(t *testing.T) {
	in := strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":3,"error":"odd"}`,
	}, "\n"))
	w := mcpwire.NewStdio(in, io.Discard, nil)
	conn, err := w.Connect(t.Context())
	require.NoError(t, err)
	for range 3 {
		msg, err := conn.Read(t.Context())
		require.NoError(t, err)
		require.NotNil(t, msg)
	}
	_, err = conn.Read(t.Context())
	require.ErrorIs(t, err, io.EOF)
	require.Zero(t, w.Refused())
}

// FuzzStdio reads anything as a host's line: no panic, and what is passed on
// is one message that the standard library reads.
func FuzzStdio(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","method":"ping"}`))
	f.Add([]byte(`[{}]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsAny(line, "\n") {
			return
		}
		var out bytes.Buffer
		w := mcpwire.NewStdio(bytes.NewReader(line), &out, &mcpwire.StdioOptions{Ordered: func(string) bool { return true }})
		conn, err := w.Connect(t.Context())
		require.NoError(t, err)
		msg, err := conn.Read(t.Context())
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			for reply := range strings.Lines(out.String()) {
				require.True(t, json.Valid([]byte(reply)), reply)
			}
			return
		}
		require.NotNil(t, msg)
		require.True(t, json.Valid(bytes.TrimSpace(line)))
	})
}

// BenchmarkImage writes a reply with a screenshot of 0.9 MB, with the
// placeholder and as the SDK would.
func BenchmarkImage(b *testing.B) {
	shot := picture(900_000)
	for _, held := range []bool{true, false} {
		b.Run(fmt.Sprintf("held=%t", held), func(b *testing.B) {
			reader, writer := io.Pipe()
			w := mcpwire.NewStdio(reader, io.Discard, nil)
			server := mcp.NewServer(&mcp.Implementation{Name: "b", Version: "1"}, nil)
			answered := make(chan struct{})
			server.AddTool(&mcp.Tool{Name: "look", InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					data := shot
					if held {
						data = w.Call(r.Extra).Image(shot)
					}
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: data, MIMEType: "image/png"}}}, nil
				})
			tap := mcpwire.NewStdio(reader, tapped{answered}, nil)
			w = tap
			go func() { _ = server.Run(b.Context(), tap) }()
			_, _ = io.WriteString(writer, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`+"\n")
			<-answered
			b.SetBytes(int64(base64.StdEncoding.EncodedLen(len(shot))))
			i := 0
			for b.Loop() {
				i++
				_, _ = fmt.Fprintf(writer, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"look","arguments":{}}}`+"\n", i)
				<-answered
			}
			_ = writer.Close()
		})
	}
}

type tapped struct{ answered chan struct{} }

func (t tapped) Write(p []byte) (int, error) {
	t.answered <- struct{}{}
	return len(p), nil
}

func TestPC47EscapedNameKeepsItsPlace(t *testing.T) {
	order := make(chan string, 2)
	first := make(chan struct{})
	x := serve(t, nil, func(_ context.Context, c *mcpwire.Call, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := c.Wait(context.Background()); err != nil {
			return nil, err
		}
		defer c.Done()
		if c.Number() == 1 {
			<-first
		}
		order <- fmt.Sprint(c.Number())
		return &mcp.CallToolResult{}, nil
	})
	x.say(`{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"act","arguments":{}}}`)
	x.say(`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"n\u0061me":"act","arguments":{}}}`)
	time.Sleep(100 * time.Millisecond)
	require.Empty(t, order, "the second waits for the first")
	close(first)
	require.Equal(t, "1", <-order)
	require.Equal(t, "2", <-order)
}
