package mcpwire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// StdioOptions describe the server's end.
type StdioOptions struct {
	MaxLine int // bytes of a line from the host; 0 is 4 MiB

	// Ordered says which tools' calls run one at a time, in the order they
	// came; nil is none. See [Call.Wait].
	Ordered func(tool string) bool
}

// Stdio is the server's end over two streams, for one session. It is an
// mcp.Transport and its mcp.Connection.
type Stdio struct {
	in      io.Reader
	out     io.Writer
	opts    StdioOptions
	frames  chan received
	closed  chan struct{}
	once    sync.Once
	refused atomic.Int64
	writing sync.Mutex
	calls   calls
}

type received struct {
	line []byte
	err  error
}

var (
	_ mcp.Transport  = (*Stdio)(nil)
	_ mcp.Connection = (*Stdio)(nil)
)

// NewStdio returns a transport that reads frames from in and writes to out.
func NewStdio(in io.Reader, out io.Writer, opts *StdioOptions) *Stdio {
	s := &Stdio{in: in, out: out, frames: make(chan received), closed: make(chan struct{})}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.MaxLine == 0 {
		s.opts.MaxLine = maxHostLine
	}
	return s
}

// Connect implements mcp.Transport. A Stdio connects once.
func (s *Stdio) Connect(context.Context) (mcp.Connection, error) {
	go s.pump()
	return s, nil
}

// SessionID implements mcp.Connection.
func (s *Stdio) SessionID() string { return "" }

// Refused counts the frames that were answered with an error and not used.
func (s *Stdio) Refused() int64 { return s.refused.Load() }

// Close implements mcp.Connection.
func (s *Stdio) Close() error {
	s.once.Do(func() {
		close(s.closed)
		if c, ok := s.in.(io.Closer); ok {
			_ = c.Close() // so that a read under way returns, where the system lets it
		}
	})
	return nil
}

// pump reads lines ahead of Read, which must return when the connection is
// closed although a read of a pipe may not.
func (s *Stdio) pump() {
	lines := newLineReader(s.in, s.opts.MaxLine)
	for {
		line, err := lines.next()
		select {
		case s.frames <- received{line, err}:
		case <-s.closed:
			return
		}
		if err != nil && !errors.Is(err, ErrTooLong) {
			return
		}
	}
}

// Read returns the next frame that can be used. Others are answered here.
func (s *Stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var r received
		select {
		case r = <-s.frames:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.closed:
			return nil, io.EOF
		}
		switch {
		case errors.Is(r.err, ErrTooLong):
			if err := s.refuse(nil, jsonrpc.CodeInvalidRequest, "the frame is too long"); err != nil {
				return nil, err
			}
			continue
		case r.err != nil:
			return nil, io.EOF
		}
		msg, err := s.accept(r.line)
		if msg != nil || err != nil {
			return msg, err
		}
	}
}

// accept turns a line into a message, or answers it and returns nil.
func (s *Stdio) accept(line []byte) (jsonrpc.Message, error) {
	if line[0] == '[' {
		return nil, s.refuse(nil, jsonrpc.CodeInvalidRequest, "batches are not supported; send one message a line")
	}
	if err := check(line); err != nil {
		code := int64(jsonrpc.CodeInvalidRequest)
		if !json.Valid(line) {
			code = jsonrpc.CodeParseError
		}
		return nil, s.refuse(idBeside(line), code, "refused, since it can be read in more than one way: "+err.Error())
	}
	f, err := parse(line)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), ErrGarbage.Error()+": ")
		return nil, s.refuse(idBeside(line), jsonrpc.CodeInvalidRequest, "not a JSON-RPC message: "+reason)
	}
	id, err := idOf(f.id)
	if err != nil {
		return nil, s.refuse(nil, jsonrpc.CodeInvalidRequest, "not a JSON-RPC message: id")
	}
	if f.method == "" {
		return answer(f, id)
	}
	req := &jsonrpc.Request{ID: id, Method: f.method, Params: f.params}
	if !req.IsCall() {
		return req, nil
	}
	if !s.calls.begin(req, s.opts.Ordered) {
		return nil, s.refuse(nil, jsonrpc.CodeInvalidRequest, "the id is in use")
	}
	return req, nil
}

// answer is the host's to a request of the server.
func answer(f frame, id jsonrpc.ID) (jsonrpc.Message, error) {
	resp := &jsonrpc.Response{ID: id, Result: f.result}
	if f.err != nil {
		e := new(jsonrpc.Error)
		if json.Unmarshal(f.err, e) != nil {
			e = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "unreadable error"}
		}
		resp.Error = e
	}
	return resp, nil
}

// refuse answers a frame that is not used. An unknown id is null.
func (s *Stdio) refuse(id []byte, code int64, message string) error {
	s.refused.Add(1)
	if id == nil {
		id = []byte("null")
	}
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return s.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, text))
}

// idBeside finds the id of a frame that is refused for something else in it:
// only where no reader could take another one.
func idBeside(line []byte) []byte {
	if !json.Valid(line) {
		return nil
	}
	members, err := Split(line)
	if err != nil {
		return nil
	}
	var id []byte
	for _, m := range members {
		if strings.Contains(m.Key, `\`) || (strings.EqualFold(m.Key, "id") && (m.Key != "id" || id != nil)) {
			return nil
		}
		if m.Key == "id" {
			id = m.Value
		}
	}
	if id == nil || !validID(id, false) || check(id) != nil {
		return nil
	}
	return id
}

// Write implements mcp.Connection.
func (s *Stdio) Write(_ context.Context, msg jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if resp, ok := msg.(*jsonrpc.Response); ok {
		line = splice(line, s.calls.end(resp.ID))
	}
	return s.send(line)
}

func (s *Stdio) send(line []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if bytes.IndexByte(line, '\n') >= 0 {
		return fmt.Errorf("%w: a line break in a frame", ErrGarbage)
	}
	_, err := s.out.Write(append(line, '\n'))
	return err
}
