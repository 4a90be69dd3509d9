package ledger

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How long what has ended is remembered: for late waiters and for the list of
// what a person missed. A denial is kept while it can still block something,
// whatever else comes.
const (
	maxEnded    = 256
	keepEnded   = 24 * time.Hour
	keepDenials = 20 * time.Minute
)

// Change says who moves a record, and in which words.
type Change struct {
	By, Reply, Reason string
}

// A Book is the ledger at one moment. In [Ledger.Update] its methods collect
// what will be written.
type Book struct {
	Now     time.Time
	records []*Record
	// written are the journal's new lines, if appending them is enough.
	written []byte
	// rewrite says that the file must be replaced, because something in clear
	// has to leave it.
	rewrite bool
}

// Records returns copies of all records, in the order in which they were
// asked.
func (b *Book) Records() []Record {
	all := make([]Record, len(b.records))
	for i, r := range b.records {
		all[i] = *r
	}
	return all
}

// Find returns a copy of the record with exactly this id.
func (b *Book) Find(id string) (Record, bool) {
	r := b.find(id)
	if r == nil {
		return Record{}, false
	}
	return *r, true
}

func (b *Book) find(id string) *Record {
	i := slices.IndexFunc(b.records, func(r *Record) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return b.records[i]
}

// Add writes a new pending record. It gives r its id, code, state and times;
// First is kept where it is set.
func (b *Book) Add(r Record, c Clear) (Record, error) {
	r.ID, r.State, r.Asked, r.Changed = b.id(), Pending, b.Now, b.Now
	if r.First.IsZero() || r.First.After(b.Now) {
		r.First = b.Now
	}
	c.Code = b.code()
	if longest := b.Now.Add(2 * Lifetime); c.Until.IsZero() || c.Until.After(longest) {
		c.Until = longest // a question and its yes
	}
	c.Until = c.Until.UTC().Truncate(time.Millisecond)
	r.Clear = &c
	if !r.readable() {
		return Record{}, fmt.Errorf("%w: not UTF-8", ErrInvalid)
	}
	if err := r.check(); err != nil {
		return Record{}, fmt.Errorf("%w: %v", ErrInvalid, err)
	}
	l := r.line(nil)
	if len(l) > MaxRecord {
		return Record{}, ErrTooLarge
	}
	b.records = append(b.records, &r)
	b.written = append(b.written, l...)
	return r, nil
}

// Move takes the record with this id to another state. A move that is not in
// the table of states is an error and changes nothing. Every move that ends
// the openness of a record takes what it holds in clear off the disk in the
// same step.
func (b *Book) Move(id string, to State, c Change) error {
	r := b.find(id)
	if r == nil {
		return ErrUnknown
	}
	if !slices.Contains(next[r.State], to) {
		return fmt.Errorf("approval: no way from %s to %q", r.State, to)
	}
	if m := (mark{ID: id, State: to, At: b.Now, By: c.By}); to == Granted || to == Consumed {
		if err := m.move(r); err != nil {
			return err
		}
		b.written = m.line(b.written)
		return nil
	}
	r.State, r.Changed, r.Clear, b.rewrite = to, b.Now, nil, true
	if c.By != "" {
		r.By = c.By
	}
	r.Reply, r.Reason = brief(c.Reply), brief(c.Reason)
	return nil
}

// maxBrief is how long words beside an answer may be, in characters.
const maxBrief = 200

// brief is s as far as it is kept.
func brief(s string) string {
	r := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	return string(r[:min(len(r), maxBrief)])
}

// Lift makes every denial so far block nothing any more.
func (b *Book) Lift() {
	for _, r := range b.records {
		if r.State == Denied && !r.Lifted {
			r.Lifted, b.rewrite = true, true
		}
	}
}

// sweep ends what the clock has ended, at the moment at which it did.
func (b *Book) sweep() {
	for _, r := range b.records {
		if !r.lapsed(b.Now) {
			continue
		}
		ended := b.Now
		if due := r.Expires(); due.Before(ended) {
			ended = due
		}
		r.State, r.Changed, r.Clear, b.rewrite = Expired, ended, nil, true
	}
}

// forget drops what is remembered long enough.
func (b *Book) forget() {
	ended := 0
	kept := make([]*Record, 0, len(b.records))
	for _, r := range slices.Backward(b.records) {
		age := b.Now.Sub(r.Changed)
		switch {
		case r.State.Open(), r.State == Denied && age < keepDenials:
		case age >= keepEnded:
			continue
		case r.State == Executing:
		case ended >= maxEnded:
			continue
		default:
			ended++
		}
		kept = append(kept, r)
	}
	slices.Reverse(kept)
	b.records = kept
}

// encode is the whole journal in its shortest form.
func (b *Book) encode() []byte {
	out := appendLine(nil, version)
	for _, r := range b.records {
		out = r.line(out)
	}
	return out
}

// id returns 16 hex digits that no record has.
func (b *Book) id() string {
	for {
		var raw [8]byte
		rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
		if id := hex.EncodeToString(raw[:]); b.find(id) == nil {
			return id
		}
	}
}

// letters are those that cannot be taken for another one or for a digit, and
// neither y nor n, so that no code is half an answer, nor the keys by which a
// terminal denies, pauses and quits.
const letters = "abcefghjkmrstuvwxz"

// code returns two letters that no open record has, so that a person who
// types them answers the question in front of them and no other.
func (b *Book) code() string {
	taken := map[string]bool{"ok": true}
	for _, r := range b.records {
		if r.Clear != nil {
			taken[r.Clear.Code] = true
		}
	}
	for {
		var raw [2]byte
		rand.Read(raw[:])
		code := string([]byte{letters[int(raw[0])%len(letters)], letters[int(raw[1])%len(letters)]})
		if !taken[code] || len(taken) >= len(letters)*len(letters)/2 {
			return code
		}
	}
}
