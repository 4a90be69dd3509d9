package mcpwire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rawKey is where a result's number stands in the stub that the SDK sees
// instead of the result.
const rawKey = "permission-canvas/raw"

// rpcError is a peer's error, of which only the number is kept.
type rpcError = jsonrpc.Error

// clientConn is the client's mcp.Transport and mcp.Connection.
type clientConn struct {
	r       io.ReadCloser
	w       io.WriteCloser
	lines   *lineReader
	in      chan jsonrpc.Message
	done    chan struct{}
	dropped atomic.Int64

	writing chan struct{} // holds one: the right to write

	mu      sync.Mutex
	awaited map[string]string // id as written → method
	results map[string][]byte // number → bytes
	next    uint64
	err     error
}

func newClientConn(r io.ReadCloser, w io.WriteCloser, max int) *clientConn {
	return &clientConn{
		r: r, w: w, lines: newLineReader(r, max),
		in: make(chan jsonrpc.Message), done: make(chan struct{}), writing: make(chan struct{}, 1),
		awaited: map[string]string{}, results: map[string][]byte{},
	}
}

// Connect starts reading.
func (c *clientConn) Connect(context.Context) (mcp.Connection, error) {
	go c.readAll()
	return c, nil
}

func (c *clientConn) SessionID() string { return "" }

func (c *clientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.done:
		return nil, io.EOF
	}
}

func (c *clientConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return nil // the peer's requests are dropped, so nobody waits for this
	}
	select {
	case c.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return ErrClosed
	}
	defer func() { <-c.writing }()
	c.note(req)
	// A peer that does not read blocks us in the middle of a line. There is no
	// way on from there but to end the connection.
	defer context.AfterFunc(ctx, func() { c.fail(ErrClosed) })()
	if _, err := c.w.Write(append(line, '\n')); err != nil {
		c.fail(ErrClosed)
		return ErrClosed
	}
	return nil
}

// note keeps account of which answers are awaited.
func (c *clientConn) note(req *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if req.IsCall() {
		c.awaited[fmt.Sprint(req.ID.Raw())] = req.Method
		return
	}
	if req.Method == "notifications/cancelled" {
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(req.Params, &p) == nil {
			delete(c.awaited, string(p.ID))
		}
	}
}

func (c *clientConn) Close() error {
	c.fail(ErrClosed)
	return nil
}

// fail ends the connection for the first reason given.
func (c *clientConn) fail(reason error) {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = reason
		c.results = nil
		close(c.done)
	}
	c.mu.Unlock()
	if first {
		_ = c.w.Close() // the peer's to notice; what is lost was lost before
		_ = c.r.Close()
	}
}

func (c *clientConn) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *clientConn) readAll() {
	for {
		line, err := c.lines.next()
		if err != nil {
			if err != ErrTooLong {
				err = ErrClosed
			}
			c.fail(err)
			return
		}
		msg, err := c.accept(line)
		if err != nil {
			c.fail(err)
			return
		}
		if msg == nil {
			c.dropped.Add(1)
			continue
		}
		select {
		case c.in <- msg:
		case <-c.done:
			return
		}
	}
}

// accept turns a line into the awaited answer it is, or nil.
func (c *clientConn) accept(line []byte) (jsonrpc.Message, error) {
	if err := check(line); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGarbage, err)
	}
	f, err := parse(line)
	if err != nil {
		return nil, err
	}
	method, ok := c.expected(f)
	if !ok {
		return nil, nil
	}
	id, err := idOf(f.id)
	if err != nil {
		return nil, err
	}
	resp := &jsonrpc.Response{ID: id}
	switch {
	case f.err != nil:
		var e struct {
			Code int64 `json:"code"`
		}
		if err := json.Unmarshal(f.err, &e); err != nil {
			return nil, fmt.Errorf("%w: error object", ErrGarbage)
		}
		resp.Error = &rpcError{Code: e.Code, Message: "refused by the peer"}
	case method == "tools/call":
		resp.Result = c.keep(f.result, `"content":[]`)
	case method == "tools/list":
		resp.Result = c.keep(f.result, `"tools":[]`)
	default:
		resp.Result = f.result
	}
	return resp, nil
}

func (c *clientConn) expected(f frame) (method string, ok bool) {
	if f.method != "" || f.id == nil {
		return "", false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	method, ok = c.awaited[string(f.id)]
	delete(c.awaited, string(f.id))
	return method, ok
}

// keep stores a result's bytes and returns a stub that names them.
func (c *clientConn) keep(result []byte, shape string) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	n := strconv.FormatUint(c.next, 10)
	if c.results != nil {
		c.results[n] = result
	}
	return json.RawMessage(`{` + shape + `,"_meta":{"` + rawKey + `":"` + n + `"}}`)
}

// take returns the bytes that a stub names, once.
func (c *clientConn) take(meta mcp.Meta) (json.RawMessage, error) {
	n, _ := meta[rawKey].(string)
	c.mu.Lock()
	defer c.mu.Unlock()
	raw, ok := c.results[n]
	if !ok {
		return nil, fmt.Errorf("%w: result lost", ErrClosed)
	}
	delete(c.results, n)
	return raw, nil
}
