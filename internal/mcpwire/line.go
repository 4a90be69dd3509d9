package mcpwire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineReader reads lines of at most max bytes, and resumes after a longer one.
type lineReader struct {
	r   *bufio.Reader
	max int
}

func newLineReader(r io.Reader, max int) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 64<<10), max}
}

// next returns one line without its ending, in memory of its own. After
// ErrTooLong the reader stands behind that line. Blank lines are skipped. A
// last line without an ending counts, as it does for everybody else.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.read()
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) read() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if !long && len(line)+len(part) > l.max {
			line, long = nil, true
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, ErrTooLong
		default:
			return line, err
		}
	}
}
