package mcpwire

import (
	"errors"
	"io"
)

// Lines reads a host's lines under the rules of [Stdio], for a protocol that
// has one JSON object a line and is not MCP.
type Lines struct{ r *lineReader }

// NewLines returns a reader of in.
func NewLines(in io.Reader) *Lines { return &Lines{newLineReader(in, maxHostLine)} }

// A LineError says why a line is not used. The next one can be read.
type LineError struct {
	ID     []byte // of the request, as written, where no reader could take another; else nil
	Reason string
}

func (e *LineError) Error() string { return e.Reason }

// Next returns the members of the next object, in the order in which they
// stand. Beside [LineError] its errors end the reading.
func (l *Lines) Next() ([]Member, error) {
	line, err := l.r.next()
	switch {
	case errors.Is(err, ErrTooLong):
		return nil, &LineError{Reason: "the line is too long"}
	case err != nil:
		return nil, err
	}
	if err := check(line); err != nil {
		return nil, &LineError{idBeside(line), "refused, since it can be read in more than one way: " + err.Error()}
	}
	if line[0] != '{' {
		return nil, &LineError{Reason: "a request is one JSON object"}
	}
	return Split(line)
}
