package ledger

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// version is the journal's form. A file in another one is refused untouched.
const version = `"version":1}`

// headLength is how long every head is.
const headLength = len(`{"sum":"01234567",`)

// A mark moves a record without repeating it. Only moves that keep what the
// file holds in clear are marks: a yes, and the end of an act.
type mark struct {
	ID    string
	State State
	At    time.Time
	By    string
}

// A CorruptError says where the journal is not what this package wrote.
type CorruptError struct {
	Path   string
	Line   int
	Offset int
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s, line %d (byte %d): %s", e.Path, e.Line, e.Offset, e.Reason)
}

// appendLine adds a line to b: one JSON object whose first member is the
// CRC-32C of all that follows it, which is body, and a line feed.
func appendLine(b []byte, body string) []byte {
	b = append(b, head([]byte(body))...)
	return append(append(b, body...), '\n')
}

// head is what stands before a line's body.
func head(body []byte) string {
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	return `{"sum":"` + hex.EncodeToString(binary.BigEndian.AppendUint32(nil, sum)) + `",`
}

// body is one object within a line's object.
func body(name string, walk func(codec)) string {
	e := &encoder{b: []byte("{")}
	e.enter(name, true)
	walk(e)
	e.leave()
	e.leave()
	return string(e.b[1:])
}

func (r *Record) line(b []byte) []byte { return appendLine(b, body("record", r.walk)) }
func (m *mark) line(b []byte) []byte   { return appendLine(b, body("mark", m.walk)) }

// content checks a line's checksum and returns what it covers.
func content(line []byte) (string, error) {
	if len(line) < headLength {
		return "", errors.New("too short for a line of a ledger")
	}
	body := line[headLength:]
	if string(line[:headLength]) != head(body) {
		return "", errors.New("the checksum differs")
	}
	return string(body), nil
}

// A reader takes a journal's steps one after the other.
type reader struct {
	records []*Record
	byID    map[string]*Record
	space   []Record // for the records, in one piece
}

// parse reads a whole journal. keep is how much of data is whole lines; what
// is beyond it is the torn end of an append that was cut short.
func parse(path string, data []byte) (records []*Record, keep int, err error) {
	keep = bytes.LastIndexByte(data, '\n') + 1
	lines := bytes.Count(data, []byte("\n"))
	r := reader{byID: make(map[string]*Record, lines), space: make([]Record, lines)}
	step := r.first
	for n, off := 1, 0; off < keep || n == 1; n++ {
		line, _, _ := bytes.Cut(data[off:keep], []byte("\n"))
		body, err := content(line)
		if err == nil {
			err = step(body)
		}
		if err != nil {
			return nil, 0, &CorruptError{Path: path, Line: n, Offset: off, Reason: err.Error()}
		}
		off, step = off+len(line)+1, r.next
	}
	return r.records, keep, nil
}

// first takes the line that names the form.
func (r *reader) first(body string) error {
	if body != version {
		return errors.New("not a ledger of version 1")
	}
	return nil
}

// next takes any later line.
func (r *reader) next(body string) error {
	d := &decoder{rest: body}
	if d.enter("record", false) {
		rec := &r.space[0]
		r.space = r.space[1:]
		rec.walk(d)
		d.leave()
		d.leave()
		if err := d.end(); err != nil {
			return err
		}
		return r.add(rec)
	}
	m := &mark{}
	if !d.enter("mark", false) {
		return errors.New("neither a record nor a mark")
	}
	m.walk(d)
	d.leave()
	d.leave()
	if err := d.end(); err != nil {
		return err
	}
	rec := r.byID[m.ID]
	if rec == nil {
		return errors.New("a mark without its record")
	}
	return m.move(rec)
}

func (r *reader) add(rec *Record) error {
	if err := rec.check(); err != nil {
		return err
	}
	if r.byID[rec.ID] != nil {
		return fmt.Errorf("request %s stands there twice", rec.ID)
	}
	r.byID[rec.ID] = rec
	r.records = append(r.records, rec)
	return nil
}

// move takes the mark's step on its record.
func (m mark) move(r *Record) error {
	yes := r.State == Pending && m.State == Granted && m.By != ""
	done := r.State == Executing && m.State == Consumed && m.By == ""
	if !yes && !done {
		return fmt.Errorf("no way from %s to %q", r.State, m.State)
	}
	r.State, r.Changed = m.State, m.At
	if yes {
		r.By = m.By
	}
	return r.check()
}
