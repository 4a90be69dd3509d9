package mcpwire

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callHeader carries a call's number from the connection to its handler, in
// the one place of a request that the SDK passes on untouched.
const callHeader = "Permission-Canvas-Call"

// A Call is one tools/call request on its way through the server. The zero
// Call belongs to no connection: it need not wait.
type Call struct {
	all    *calls
	number uint64
	turn   chan struct{} // closed when it is this call's turn; nil where the order is no matter
	ended  bool
	images []held
}

// calls are the requests of a connection that have no answer yet.
type calls struct {
	mu       sync.Mutex
	next     uint64
	open     map[string]*Call // by id
	numbered map[uint64]*Call
	queue    []*Call // those in order, oldest first
}

// Call returns the call that a tools/call request, whose extra this is, came
// with.
func (s *Stdio) Call(extra *mcp.RequestExtra) *Call {
	if extra != nil {
		if n, err := strconv.ParseUint(extra.Header.Get(callHeader), 10, 64); err == nil {
			s.calls.mu.Lock()
			defer s.calls.mu.Unlock()
			if c := s.calls.numbered[n]; c != nil {
				return c
			}
		}
	}
	return &Call{}
}

// Number counts the calls of the connection as they arrived, from 1.
func (c *Call) Number() uint64 { return c.number }

// Wait returns when every earlier call of an ordered tool has ended, or ctx
// has. A call of another tool need not wait.
func (c *Call) Wait(ctx context.Context) error {
	if c.turn == nil {
		return nil
	}
	select {
	case <-c.turn:
		return nil
	default:
	}
	select {
	case <-c.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done lets the next ordered call begin. The answer does so too, at the
// latest.
func (c *Call) Done() {
	if c.all == nil {
		return
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.all.finish(c)
}

// begin notes a request as it arrives. It is false where the id is in use.
func (s *calls) begin(req *jsonrpc.Request, ordered func(string) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := key(req.ID)
	if s.open == nil {
		s.open, s.numbered = map[string]*Call{}, map[uint64]*Call{}
	}
	if s.open[id] != nil {
		return false
	}
	c := &Call{all: s}
	s.open[id] = c
	if req.Method != "tools/call" {
		return true
	}
	s.next++
	c.number = s.next
	s.numbered[c.number] = c
	req.Extra = &mcp.RequestExtra{Header: http.Header{callHeader: {strconv.FormatUint(c.number, 10)}}}
	if ordered != nil && ordered(toolOf(req.Params)) {
		c.turn = make(chan struct{})
		s.queue = append(s.queue, c)
		if len(s.queue) == 1 {
			close(c.turn)
		}
	}
	return true
}

// end forgets a request that is being answered and returns its images.
func (s *calls) end(id jsonrpc.ID) []held {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.open[key(id)]
	if c == nil {
		return nil
	}
	delete(s.open, key(id))
	delete(s.numbered, c.number)
	s.finish(c)
	return c.images
}

// finish ends a call and gives the turn to the oldest one that has not ended.
// s.mu is held.
func (s *calls) finish(c *Call) {
	if c.ended {
		return
	}
	c.ended = true
	for len(s.queue) > 0 && s.queue[0].ended {
		s.queue = s.queue[1:]
		if len(s.queue) > 0 {
			close(s.queue[0].turn)
		}
	}
}

// key tells the number 1 from the string "1".
func key(id jsonrpc.ID) string { return fmt.Sprintf("%T %v", id.Raw(), id.Raw()) }

// toolOf returns the tool that a tools/call names, "" where it names none.
func toolOf(params []byte) string {
	members, err := Split(params)
	if err != nil {
		return ""
	}
	var name string
	if raw := Get(members, "name"); raw != nil {
		if json.Unmarshal(raw, &name) != nil {
			return ""
		}
		return name
	}
	// The key may be spelled with escapes, which Get does not read and the SDK
	// does.
	var whole struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(params, &whole) != nil {
		return ""
	}
	return whole.Name
}
