// Package shim serves a guarded desktop to hosts that are not written in Go.
//
// [ServeMCP] speaks the Model Context Protocol over a pair of streams, under
// the desktop driver's own tool names, so that it stands where the driver
// stood. [ServeLines] speaks one JSON object a line, for a host's plugin, as
// README.md beside this file says. [Call] answers one call and keeps nothing.
// Neither has a tool that approves, edits a rule or resumes, and nothing in
// their import graph has.
//
// # Guarantees
//
// A refusal over MCP is a tool result with isError, its code, sentence and next step in
// both halves, for hosts that show a model only one of them. What the driver
// says in free text is not passed on. Acts and captures of one connection run
// in the order in which they came.
//
// # Limits
//
// How long a question to the person is waited for depends on what the host is
// known to endure; a host that is not known and offers no progress token gets
// an answer within seconds and repeats its call.
package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/permission-canvas/permission-canvas/internal/mcpwire"
	"github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// Name and Version are what the server says of itself. A peer that names
// itself so is one of ours, and never a driver.
const (
	Name    = "permission-canvas"
	Version = "0.1.0"
)

// instructions are for the model, and need no driver to be there.
const instructions = `A person decides here what you may see and do in their windows.
Call list_windows, then get_window_state with the exact pid and window_id, and act by element_token from the newest state of that window.
Rows marked (ask) wait for the person's yes to that one act; repeat the identical call to go on waiting and do not capture in between. Rows marked (read only) cannot be used.
Covered places are what the person hid: do not guess them. Every refusal says in "next" what to do. Never try another way round one.`

// Desk is all that a host can reach.
type Desk interface {
	permissioncanvas.Backend
	permissioncanvas.Tools
	// Warm starts what the first call would have to wait for.
	Warm(ctx context.Context)
}

// Open opens the desktop for the agent named, as the person reads it.
type Open func(agent string) (Desk, error)

// ServeMCP serves one host over in and out until in ends or ctx does. It calls
// open beside the handshake, which waits for nothing (D42), and again only
// where that failed. Open is not called any more when ServeMCP has returned. A
// nil log is silent.
func ServeMCP(ctx context.Context, open Open, in io.Reader, out io.Writer, log *slog.Logger) error {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	wire := mcpwire.NewStdio(in, out, &mcpwire.StdioOptions{Ordered: permissioncanvas.IsAct})
	s := &server{open: open, wire: wire, log: log}
	m := mcp.NewServer(&mcp.Implementation{Name: Name, Version: Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	m.AddReceivingMiddleware(s.answer)
	err := m.Run(ctx, wire)
	s.desks.close()
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// server answers one host.
type server struct {
	open Open
	wire *mcpwire.Stdio
	log  *slog.Logger

	desks opener
}

// desk is the desktop, opened for the agent of this session.
func (s *server) desk(session mcp.Session) (Desk, error) {
	return s.desks.get(func() (Desk, error) { return s.open(agent(session)) })
}

// agent is what the host calls itself; it is untrusted and only ever shown.
func agent(session mcp.Session) string {
	if ss, ok := session.(*mcp.ServerSession); ok {
		if p := ss.InitializeParams(); p != nil && p.ClientInfo != nil && p.ClientInfo.Name != "" {
			return p.ClientInfo.Name
		}
	}
	return "an MCP host"
}

// answer takes the two methods that are ours before the SDK looks at them: it
// keeps no list of tools, so entries pass as the driver wrote them, and an
// unlisted name gets a refusal that says why.
func (s *server) answer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "initialize":
			res, err := next(ctx, method, req)
			if err == nil {
				go s.warm(context.WithoutCancel(ctx), req.GetSession())
			}
			return res, err
		case "tools/list":
			return s.list(ctx, req)
		case "tools/call":
			if call, ok := req.(*mcp.CallToolRequest); ok {
				return s.call(ctx, call), nil
			}
		}
		return next(ctx, method, req)
	}
}

// warm opens the desktop and starts the driver while the host still talks.
func (s *server) warm(ctx context.Context, session mcp.Session) {
	if desk, err := s.desk(session); err == nil {
		desk.Warm(ctx)
	}
}

// toolList is a list whose entries keep every key and the keys' order.
type toolList struct {
	*mcp.ListToolsResult
	entries []json.RawMessage
}

func (l *toolList) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"tools": l.entries, "schema_version": "1", "capability_version": "1"})
}

func (s *server) list(ctx context.Context, req mcp.Request) (mcp.Result, error) {
	desk, err := s.desk(req.GetSession())
	if err != nil {
		return nil, fmt.Errorf("%s", message(err))
	}
	tools, err := desk.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s", message(err))
	}
	l := &toolList{ListToolsResult: &mcp.ListToolsResult{}}
	for _, t := range tools {
		l.entries = append(l.entries, t.Raw)
	}
	return l, nil
}

// call answers one tool call. It never fails as a request: a host shows a
// model what a tool result says.
func (s *server) call(ctx context.Context, req *mcp.CallToolRequest) *mcp.CallToolResult {
	c := s.wire.Call(req.Extra)
	if err := c.Wait(ctx); err != nil {
		return refusalResult(err)
	}
	defer c.Done()
	desk, err := s.desk(req.Session)
	if err != nil {
		return refusalResult(err)
	}
	ctx, stop := s.hold(ctx, req)
	defer stop()
	res, err := desk.Call(ctx, req.Params.Name, req.Params.Arguments)
	if err != nil {
		return refusalResult(err)
	}
	out := &mcp.CallToolResult{StructuredContent: res.Structured}
	if res.Text != "" {
		out.Content = append(out.Content, &mcp.TextContent{Text: res.Text})
	}
	if res.Image != nil {
		out.Content = append(out.Content, &mcp.ImageContent{Data: c.Image(res.Image), MIMEType: "image/png"})
	}
	return out
}

// refusalResult is an error as a tool result, whole in both halves.
func refusalResult(err error) *mcp.CallToolResult {
	r := refused(err)
	reply := map[string]any{"code": r.Code, "next": r.Next, "message": r.Message}
	if r.Escalation != nil {
		reply["escalation"] = r.Escalation
	}
	if a := r.Approval; a != nil {
		reply["approval_id"] = a.ID
		for key, value := range map[string]string{
			"expires_at": a.Expires, "person_command": a.Command, "person_reply": a.Reply,
		} {
			if value != "" {
				reply[key] = value
			}
		}
	}
	text := fmt.Sprintf("%s\n(code %s, next: %s)", r.Message, r.Code, r.Next)
	return &mcp.CallToolResult{
		IsError: true, StructuredContent: reply, Content: []mcp.Content{&mcp.TextContent{Text: text}},
	}
}
