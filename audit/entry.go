package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kinds of entries. Others may be added: a kind is a word of lower-case letters
// and underscores.
const (
	Capture  = "capture"  // an agent looked
	Intent   = "intent"   // an act is about to be dispatched
	Outcome  = "outcome"  // what came of it
	Refused  = "refused"  // a call that was refused, with its code
	Asked    = "asked"    // a person was asked
	Answered = "answered" // and answered
	Paused   = "paused"   // the desktop was taken
	Resumed  = "resumed"  // and given back
	Policy   = "policy"   // rules were edited
	Selected = "selected" // windows were chosen
)

// Entry is one thing that happened.
type Entry struct {
	Seq     uint64            `json:"seq"` // from 1
	Time    time.Time         `json:"time"`
	Session string            `json:"session"`
	Agent   string            `json:"agent"`
	Kind    string            `json:"kind"`
	Fields  map[string]string `json:"fields,omitempty"`
	Prev    string            `json:"prev"` // hash of the entry before
	Hash    string            `json:"hash,omitempty"`
}

var (
	errLong = fmt.Errorf("entry longer than %d bytes", maxLine)
	errForm = errors.New("not in the form that is written here")
)

// before is the hash that the first entry follows.
const before = "0000000000000000000000000000000000000000000000000000000000000000"

// The end of each line: hashStart, 64 digits, hashEnd.
const (
	hashStart = `,"hash":"`
	hashEnd   = `"}` + "\n"
	hashLen   = len(hashStart) + len(before) + len(hashEnd)
)

func (e *Entry) check() error {
	if !printable(e.Kind) {
		return fmt.Errorf("kind %.40q: use a word of lower-case letters", e.Kind)
	}
	return nil
}

// seal sets Hash and returns the entry's line.
func (e *Entry) seal() ([]byte, error) {
	// Bytes that are no UTF-8 would come back as another text than the hash saw.
	e.Session, e.Agent = strings.ToValidUTF8(e.Session, "\ufffd"), strings.ToValidUTF8(e.Agent, "\ufffd")
	if e.Fields != nil {
		clean := make(map[string]string, len(e.Fields))
		for k, v := range e.Fields {
			clean[strings.ToValidUTF8(k, "\ufffd")] = strings.ToValidUTF8(v, "\ufffd")
		}
		e.Fields = clean // the caller's map stays as it is
	}
	body, err := e.body()
	if err != nil {
		return nil, err
	}
	if len(body)+hashLen > maxLine {
		return nil, errLong
	}
	e.Hash = sum(body)
	return append(body, hashStart+e.Hash+hashEnd...), nil
}

// body is the line up to the comma before the hash.
func (e *Entry) body() ([]byte, error) {
	bare := *e
	bare.Hash = ""
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(bare); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("}\n")), nil
}

func sum(body []byte) string {
	h := sha256.Sum256(body)
	return hex.EncodeToString(h[:])
}

// open reads a line, with its line break, that seal has written, and only such
// a line: what it says must be written again as the same bytes, so that no
// other reader can find something else in it.
func open(line []byte) (Entry, error) {
	var e Entry
	if len(line) > maxLine {
		return e, errLong
	}
	n := len(line) - hashLen
	if n < 0 || !bytes.HasPrefix(line[n:], []byte(hashStart)) || !bytes.HasSuffix(line, []byte(hashEnd)) {
		return e, errForm
	}
	body := line[:n]
	hash := string(line[n+len(hashStart) : len(line)-len(hashEnd)])
	if sum(body) != hash {
		return e, errors.New("its content does not have its hash")
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return e, errForm
	}
	again, err := e.body()
	if err != nil || !bytes.Equal(again, body) {
		return e, errForm
	}
	return e, nil
}
