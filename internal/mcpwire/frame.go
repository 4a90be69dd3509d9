package mcpwire

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A frame is one JSON-RPC message, taken apart but not decoded.
type frame struct {
	id     []byte // as written; nil where there is none
	method string // "" for an answer
	params []byte
	result []byte
	err    []byte
}

// parse takes a checked line apart. It is an error where the line is not
// exactly one JSON-RPC 2.0 message.
func parse(line []byte) (frame, error) {
	var f frame
	members, err := Split(line)
	if err != nil || line[0] != '{' {
		return f, fmt.Errorf("%w: no object", ErrGarbage)
	}
	version := false
	for _, m := range members {
		switch m.Key {
		case "jsonrpc":
			version = string(m.Value) == `"2.0"`
		case "id":
			f.id = m.Value
		case "method":
			if json.Unmarshal(m.Value, &f.method) != nil || f.method == "" {
				return f, fmt.Errorf("%w: method", ErrGarbage)
			}
		case "params":
			f.params = m.Value
		case "result":
			f.result = m.Value
		case "error":
			f.err = m.Value
		default:
			return f, fmt.Errorf("%w: unknown member", ErrGarbage)
		}
	}
	return f, f.check(version)
}

func (f *frame) check(version bool) error {
	answer := (f.result != nil) != (f.err != nil)
	switch {
	case !version:
		return fmt.Errorf("%w: not JSON-RPC 2.0", ErrGarbage)
	case f.method != "" && (f.result != nil || f.err != nil):
		return fmt.Errorf("%w: both a request and an answer", ErrGarbage)
	case f.method == "" && !answer:
		return fmt.Errorf("%w: neither a request nor an answer", ErrGarbage)
	case f.id != nil && !validID(f.id, f.method == ""):
		return fmt.Errorf("%w: id", ErrGarbage)
	}
	return nil
}

// validID reports whether id is a string or an integer; an answer to a request
// that could not be read has null.
func validID(id []byte, answer bool) bool {
	if id[0] == '"' {
		return true
	}
	if string(id) == "null" {
		return answer
	}
	_, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil
}

// idOf turns an id as written into the SDK's.
func idOf(raw []byte) (jsonrpc.ID, error) {
	var v any
	if raw != nil {
		if err := json.Unmarshal(raw, &v); err != nil {
			return jsonrpc.ID{}, fmt.Errorf("%w: id", ErrGarbage)
		}
	}
	return jsonrpc.MakeID(v)
}
