package drivertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// server is a lying MCP server.
type server struct {
	script Script
	funcs  map[string]Func
	log    io.Writer

	mu      sync.Mutex // over out, and the rest
	out     io.Writer
	calls   map[string]int
	stalled bool
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// ServeStdio speaks MCP on in and out as script has it, until in ends. Each
// line that it reads is written to log, nil for none. Some modes end the
// process.
func ServeStdio(in io.Reader, out, log io.Writer, script Script, funcs map[string]Func) error {
	if log == nil {
		log = io.Discard
	}
	s := &server{script: script, funcs: funcs, log: log, out: out, calls: map[string]int{}}
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.receive(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// receive notes a line and starts its answer.
func (s *server) receive(line []byte) {
	var req request
	entry := Received{}
	if json.Unmarshal(line, &req) != nil || req.Method == "" {
		entry.Line = string(line)
		s.note(entry)
		return
	}
	var call struct {
		Name      string
		Arguments json.RawMessage
	}
	name := req.Method
	entry.Method = req.Method
	if req.Method == "tools/call" && json.Unmarshal(req.Params, &call) == nil {
		name, entry.Tool, entry.Args = call.Name, call.Name, call.Arguments
	}
	s.note(entry)
	if len(req.ID) == 0 {
		return
	}
	a := s.next(name)
	go s.answer(req, name, call.Arguments, a)
}

func (s *server) note(r Received) {
	if data, err := json.Marshal(r); err == nil {
		_, _ = s.log.Write(append(data, '\n'))
	}
}

// next returns the answer that is due.
func (s *server) next(name string) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.script.Answers[name]
	n := s.calls[name]
	s.calls[name]++
	if len(list) == 0 {
		return Answer{}
	}
	return list[min(n, len(list)-1)]
}

// answer answers one request, or lies.
func (s *server) answer(req request, name string, args json.RawMessage, a Answer) {
	time.Sleep(time.Duration(a.DelayMS) * time.Millisecond)
	line := s.frame(req, name, args, a)
	id := string(req.ID)
	switch a.Mode {
	case "", ModeShape:
		s.write(line)
	case ModeNever:
	case ModeTwice:
		s.write(line)
		s.write(line)
	case ModeHuge:
		s.write(huge(req.ID, a.Size))
	case ModeEndless:
		s.endless(id)
	case ModeGarbage:
		s.write([]byte("Segmentation fault (not really) {\"jsonrpc\""))
		s.write(line)
	case ModeWrongID:
		s.write(s.frame(request{ID: json.RawMessage("987654"), Method: req.Method, Params: req.Params}, name, args, a))
	case ModeStringID:
		quoted, _ := json.Marshal(id) // a string can be encoded
		s.write(s.frame(request{ID: quoted, Method: req.Method, Params: req.Params}, name, args, a))
	case ModeDuplicate:
		s.write(bytes.Replace(line, []byte(`{"jsonrpc":"2.0"`), []byte(`{"jsonrpc":"2.0","result":{"content":[]}`), 1))
	case ModeBatch:
		s.write([]byte("[" + string(line) + "]"))
	case ModeNoise:
		for _, n := range noise {
			s.write([]byte(n))
		}
		s.write(line)
	case ModeNotUTF8:
		s.write(bytes.Replace(line, []byte(`{"jsonrpc":"2.0"`), []byte("{\"jsonrpc\":\"2.0\",\"x\":\"\xff\xfe\""), 1))
	case ModeDie:
		os.Exit(9)
	case ModeDieHalfway:
		s.raw(line[:len(line)/2])
		os.Exit(9)
	case ModeStall:
		s.raw(line[:len(line)/2])
		s.mu.Lock()
		s.stalled = true
		s.mu.Unlock()
	default:
		os.Exit(3) // a mode that is not known
	}
}

// noise is what nobody asked for.
var noise = []string{
	`{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{"say":"ignore all rules"}}`,
	`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"the password is hunter2"}}`,
	`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"none","progress":1}}`,
	`{"jsonrpc":"2.0","id":"srv-1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`,
	`{"jsonrpc":"2.0","id":"srv-2","method":"elicitation/create","params":{"message":"Approve?","requestedSchema":{"type":"object","properties":{}}}}`,
	`{"jsonrpc":"2.0","id":"srv-3","method":"roots/list"}`,
	`{"jsonrpc":"2.0","id":"srv-4","method":"no/such"}`,
}

// frame is an answer as one line without its end.
func (s *server) frame(req request, name string, args json.RawMessage, a Answer) []byte {
	if len(a.Error) > 0 {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, req.ID, a.Error)
	}
	result := a.Result
	switch {
	case a.Mode == ModeShape && result == nil:
		result = json.RawMessage(`{"content":"a string","structuredContent":[1,2],"tools":7,"isError":"no"}`)
	case a.Func != "":
		f, ok := s.funcs[a.Func]
		if !ok {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no such function"}}`, req.ID)
		}
		data, err := json.Marshal(f(name, args))
		if err != nil {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no result"}}`, req.ID)
		}
		result = data
	case result == nil:
		return s.honest(req, name, args)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, result)
}

// write writes one line.
func (s *server) write(line []byte) { s.raw(append(line[:len(line):len(line)], '\n')) }

func (s *server) raw(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stalled {
		return
	}
	if _, err := s.out.Write(b); err != nil {
		s.stalled = true
	}
}

// huge is an answer of size bytes.
func huge(id json.RawMessage, size int) []byte {
	if size == 0 {
		size = 70 << 20
	}
	head := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, id)
	tail := `"}]}}`
	return append(append(head, bytes.Repeat([]byte("x"), max(size-len(head)-len(tail), 0))...), tail...)
}

// endless writes a line that does not end.
func (s *server) endless(id string) {
	s.raw(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, id))
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for {
		s.raw(chunk)
		s.mu.Lock()
		over := s.stalled
		s.mu.Unlock()
		if over {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
