package mcpwire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// protocol is what the client asks for. Newer generations have no session and
// other error shapes, so the choice is not left to negotiation.
const protocol = "2025-11-25"

// maxPages bounds a peer that hands out list cursors for ever.
const maxPages = 64

// DialOptions describe the client's end.
type DialOptions struct {
	Name    string // ours, as said in the handshake; "" is "permission-canvas"
	Version string // ours; "" is "0"
	MaxLine int    // bytes of a line from the peer; 0 is 64 MiB
}

// A Client is a connected session with a server. Its methods may be called
// concurrently.
type Client struct {
	wire    *clientConn
	session *mcp.ClientSession
}

// Dial performs the handshake over r and w, and owns them from then on: they
// are closed with the connection. It advertises no capability.
func Dial(ctx context.Context, r io.ReadCloser, w io.WriteCloser, opts *DialOptions) (*Client, error) {
	o := DialOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Name == "" {
		o.Name = "permission-canvas"
	}
	if o.Version == "" {
		o.Version = "0"
	}
	if o.MaxLine == 0 {
		o.MaxLine = maxDriverLine
	}
	wire := newClientConn(r, w, o.MaxLine)
	impl := &mcp.Implementation{Name: o.Name, Version: o.Version}
	client := mcp.NewClient(impl, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	// The SDK waits for its own end before it returns an error, so a context
	// that ends must end the streams.
	stop := context.AfterFunc(ctx, func() { wire.fail(context.Cause(ctx)) })
	session, err := client.Connect(ctx, wire, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		wire.fail(ErrClosed)
		return nil, fmt.Errorf("handshake: %w", clean(ctx, wire, err))
	}
	return &Client{wire: wire, session: session}, nil
}

// Server returns the name and version the peer gave.
func (c *Client) Server() (name, version string) {
	if i := c.session.InitializeResult().ServerInfo; i != nil {
		return i.Name, i.Version
	}
	return "", ""
}

// Call calls one tool, once, and returns the whole result as it came. An error
// says nothing about whether the peer acted.
func (c *Client) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", name, clean(ctx, c.wire, err))
	}
	return c.wire.take(res.Meta)
}

// Tools returns every entry of the peer's tool list as it came.
func (c *Client) Tools(ctx context.Context) ([]json.RawMessage, error) {
	var all []json.RawMessage
	cursor := ""
	for range maxPages {
		res, err := c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", clean(ctx, c.wire, err))
		}
		raw, err := c.wire.take(res.Meta)
		if err != nil {
			return nil, err
		}
		page, err := Split(raw)
		if err != nil {
			return nil, err
		}
		entries, err := Split(Get(page, "tools"))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			all = append(all, json.RawMessage(e.Value))
		}
		cursor = ""
		if next := Get(page, "nextCursor"); next != nil && string(next) != "null" {
			if err := json.Unmarshal(next, &cursor); err != nil {
				return nil, fmt.Errorf("%w: cursor", ErrGarbage)
			}
		}
		if cursor == "" {
			return all, nil
		}
	}
	return nil, fmt.Errorf("%w: a list without an end", ErrGarbage)
}

// Dropped counts what the peer sent without being asked.
func (c *Client) Dropped() int64 { return c.wire.dropped.Load() }

// Done is closed when the connection is over.
func (c *Client) Done() <-chan struct{} { return c.wire.done }

// Err says why the connection is over, nil before that.
func (c *Client) Err() error { return c.wire.reason() }

// Close ends the connection and calls under way.
func (c *Client) Close() error {
	c.wire.fail(ErrClosed)
	return nil
}

// clean replaces an error of the SDK, which may quote the peer, by one of ours.
func clean(ctx context.Context, wire *clientConn, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var rpc *rpcError
	if errors.As(err, &rpc) {
		return rpc
	}
	// The reader may be a moment behind the writer in noticing the end.
	select {
	case <-wire.done:
		return wire.reason()
	case <-time.After(100 * time.Millisecond):
		return ErrGarbage
	}
}
