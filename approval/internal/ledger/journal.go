package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// version is the journal's form. A file in another one is refused untouched.
const version = 1

// sumLength is the length of what stands before a line's own content:
// {"sum":"01234567",
const sumLength = len(`{"sum":"01234567",`)

// A line is one step of the journal: exactly one of its fields is set.
type line struct {
	Version int     `json:"version,omitempty"`
	Record  *Record `json:"record,omitempty"`
	Mark    *mark   `json:"mark,omitempty"`
}

// A mark moves a record without repeating it. Only moves that keep what the
// file holds in clear are marks: a yes, and the end of an act.
type mark struct {
	ID    string    `json:"id"`
	State State     `json:"state"`
	At    time.Time `json:"at"`
	By    string    `json:"by,omitempty"`
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

// encode makes the line's bytes: one JSON object whose first member is the
// CRC-32C of all that follows it, and a line feed.
func (l line) encode() []byte {
	body, err := json.Marshal(l)
	if err != nil {
		panic(err) // a year beyond 9999: no clock gives one
	}
	body = append(body, '\n')[1:]
	return fmt.Appendf(nil, `{"sum":"%08x",%s`, checksum(body[:len(body)-1]), body)
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// decode reads what encode wrote, and nothing else: encoding the result again
// must give the same bytes, so unknown, repeated, missing and differently
// spelled members are all errors.
func decode(b []byte) (line, error) {
	var l line
	if len(b) < sumLength {
		return l, errors.New("too short")
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return l, fmt.Errorf("not a line of a ledger: %w", err)
	}
	if again := l.encode(); !bytes.Equal(again[:len(again)-1], b) {
		if string(again[:sumLength]) != string(b[:sumLength]) {
			return l, errors.New("the checksum differs")
		}
		return l, errors.New("not in the ledger's own form")
	}
	return l, nil
}

// parse reads a whole journal. keep is how much of data is whole lines; what
// is beyond it is the torn end of an append that was cut short.
func parse(path string, data []byte) (records []*Record, keep int, err error) {
	keep = bytes.LastIndexByte(data, '\n') + 1
	fail := func(n, off int, err error) ([]*Record, int, error) {
		return nil, 0, &CorruptError{Path: path, Line: n, Offset: off, Reason: err.Error()}
	}
	if keep == 0 {
		return fail(1, 0, errors.New("no whole line"))
	}
	seen := map[string]*Record{}
	for n, off := 1, 0; off < keep; n++ {
		end := off + bytes.IndexByte(data[off:], '\n')
		l, err := decode(data[off:end])
		if err == nil {
			records, err = l.apply(n, records, seen)
		}
		if err != nil {
			return fail(n, off, err)
		}
		off = end + 1
	}
	return records, keep, nil
}

// apply takes the n-th line's step.
func (l line) apply(n int, records []*Record, seen map[string]*Record) ([]*Record, error) {
	switch {
	case n == 1:
		if l.Version != version || l.Record != nil || l.Mark != nil {
			return nil, fmt.Errorf("not a ledger of version %d", version)
		}
		return records, nil
	case l.Version == 0 && l.Record != nil && l.Mark == nil:
		if err := l.Record.check(); err != nil {
			return nil, err
		}
		if seen[l.Record.ID] != nil {
			return nil, fmt.Errorf("id %s stands there twice", l.Record.ID)
		}
		seen[l.Record.ID] = l.Record
		return append(records, l.Record), nil
	case l.Version == 0 && l.Record == nil && l.Mark != nil:
		r := seen[l.Mark.ID]
		if r == nil {
			return nil, errors.New("a mark without its record")
		}
		return records, l.Mark.move(r)
	}
	return nil, errors.New("not exactly one step")
}

// move takes the mark's step on its record.
func (m mark) move(r *Record) error {
	yes := r.State == Pending && m.State == Granted
	done := r.State == Executing && m.State == Consumed && m.By == ""
	if !yes && !done {
		return fmt.Errorf("no way from %s to %q by a mark", r.State, m.State)
	}
	r.State, r.Changed = m.State, m.At
	if yes {
		r.By = m.By
	}
	return r.check()
}
