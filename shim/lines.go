package shim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/permission-canvas/permission-canvas/internal/mcpwire"
	"github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// maxOpen is how many requests may be without an answer at once.
const maxOpen = 64

// ServeLines serves one host with one JSON object a line, as README.md says,
// until in ends, the host says close, or ctx ends. It calls open at once, and
// again only where that failed, and not any more when it has returned. A nil
// log is silent.
func ServeLines(ctx context.Context, open func() (Desk, error), in io.Reader, out io.Writer, log *slog.Logger) error {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &lines{
		out: out, log: log, open: map[string]context.CancelFunc{}, turns: make(chan func(), maxOpen),
	}
	var desks opener
	defer desks.close()
	s.desk = func() (Desk, error) { return desks.get(open) }
	var warming sync.WaitGroup
	warming.Go(func() {
		if desk, err := s.desk(); err == nil {
			desk.Warm(ctx)
		}
	})
	s.running.Go(func() {
		for turn := range s.turns {
			turn()
		}
	})
	closing, err := s.read(ctx, pump(ctx, in))
	close(s.turns)
	if closing == nil || err != nil {
		stop() // nobody waits for what is open
	}
	s.running.Wait()
	stop()
	warming.Wait()
	if err == nil && closing != nil {
		err = s.reply(closing, struct{}{}, nil)
	}
	return err
}

// lines is one host's conversation.
type lines struct {
	log  *slog.Logger
	desk func() (Desk, error)

	writing sync.Mutex
	out     io.Writer

	turns   chan func() // those that run one at a time, in the order they came
	running sync.WaitGroup

	mu   sync.Mutex
	open map[string]context.CancelFunc // by id
}

// A lineRequest is one line of the host's.
type lineRequest struct {
	id     json.RawMessage // as written
	method string
	params json.RawMessage
}

// A frame is one line of the host's, or why it is not used.
type frame struct {
	members []mcpwire.Member
	err     *mcpwire.LineError
}

// pump reads lines beside everything else, since a read of a pipe may outlive
// ctx. It closes the channel at the end of in.
func pump(ctx context.Context, in io.Reader) <-chan frame {
	frames := make(chan frame)
	go func() {
		defer close(frames)
		wire := mcpwire.NewLines(in)
		for {
			members, err := wire.Next()
			f := frame{members: members}
			if err != nil && !errors.As(err, &f.err) {
				return
			}
			select {
			case frames <- f:
			case <-ctx.Done():
				return
			}
		}
	}()
	return frames
}

// read answers lines until there are no more. It returns the id of the close
// request, nil where the input ended.
func (s *lines) read(ctx context.Context, frames <-chan frame) (closing json.RawMessage, err error) {
	for closing == nil && err == nil {
		var f frame
		ok := false
		select {
		case f, ok = <-frames:
		case <-ctx.Done():
		}
		switch {
		case !ok:
			return nil, nil
		case f.err != nil:
			s.log.Info("line refused", "why", f.err.Reason)
			err = s.reply(f.err.ID, nil, bad("The line is not used: "+f.err.Reason))
		default:
			closing, err = s.take(ctx, f.members)
		}
	}
	return closing, err
}

// take begins one request, or answers it at once.
func (s *lines) take(ctx context.Context, members []mcpwire.Member) (closing json.RawMessage, err error) {
	req, err := readRequest(members)
	if err != nil {
		return nil, s.reply(req.id, nil, err)
	}
	switch req.method {
	case "cancel":
		return nil, s.cancel(req)
	case "close":
		return req.id, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	if err := s.begin(req, cancel); err != nil {
		cancel()
		return nil, s.reply(req.id, nil, err)
	}
	run := func() {
		defer cancel()
		result, err := s.answer(ctx, req)
		if err != nil && ctx.Err() != nil && !errors.Is(err, permissioncanvas.EffectUncertain) {
			err = givenUp()
		}
		if err := s.end(req, result, err); err != nil {
			s.log.Warn("no reply could be written", "cause", err)
		}
	}
	if req.ordered() {
		s.turns <- run // has room for all that may be open
	} else {
		s.running.Go(run)
	}
	return nil, nil
}

// readRequest takes a checked line apart. With an error it has the id where
// there is one.
func readRequest(members []mcpwire.Member) (req lineRequest, err error) {
	unknown := false
	for _, m := range members {
		switch m.Key {
		case "id":
			if m.Value[0] != '"' && !integer(m.Value) {
				return lineRequest{}, bad("The id is a text or a whole number.")
			}
			req.id = m.Value
		case "method":
			if json.Unmarshal(m.Value, &req.method) != nil {
				err = bad("The method is a text.")
			}
		case "params":
			if string(m.Value) != "null" { // some hosts write every key
				req.params = m.Value
			}
		default:
			unknown = true
		}
	}
	switch {
	case err != nil:
	case unknown:
		err = bad("A request has id, method and params, and nothing else.")
	case req.method == "":
		err = bad("A request needs a method.")
	case req.id == nil && req.method != "cancel":
		err = bad("A request needs an id.")
	}
	return req, err
}

func integer(text []byte) bool {
	for i, c := range text {
		if (c < '0' || c > '9') && (c != '-' || i > 0 || len(text) == 1) {
			return false
		}
	}
	return len(text) < 18
}

// begin notes that a request is without an answer.
func (s *lines) begin(req lineRequest, cancel context.CancelFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open[string(req.id)] != nil:
		return bad("The id is in use.")
	case len(s.open) >= maxOpen:
		return fmt.Errorf("%d requests are open", maxOpen)
	}
	s.open[string(req.id)] = cancel
	return nil
}

// end answers a request.
func (s *lines) end(req lineRequest, result any, err error) error {
	s.mu.Lock()
	delete(s.open, string(req.id))
	s.mu.Unlock()
	return s.reply(req.id, result, err)
}

// cancel gives up a request, which is still answered. It has itself no answer
// unless it has an id.
func (s *lines) cancel(req lineRequest) error {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	err := decode(req.params, &p)
	if err == nil && p.ID == nil {
		err = bad("Cancel needs the id of a request.")
	}
	if err == nil {
		s.mu.Lock()
		if cancel := s.open[string(p.ID)]; cancel != nil {
			cancel()
		}
		s.mu.Unlock()
	}
	if req.id == nil && err == nil {
		return nil
	}
	return s.reply(req.id, struct{}{}, err)
}

// reply writes one line.
func (s *lines) reply(id json.RawMessage, result any, err error) error {
	frame := struct {
		ID     json.RawMessage `json:"id"`
		Result any             `json:"result,omitempty"`
		Error  *refusal        `json:"error,omitempty"`
	}{ID: id}
	if id == nil {
		frame.ID = json.RawMessage("null")
	}
	if err != nil {
		r := refused(err)
		frame.Error = &r
	} else {
		frame.Result = result
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(frame); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err = s.out.Write(line.Bytes())
	return err
}
