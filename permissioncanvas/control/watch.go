package control

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
)

// TerminalTitle is what a terminal is called while one of the person's programs
// runs in it: agents are kept out of windows that are called so.
const TerminalTitle = sight.OurTitle

// A Watch is the person at her post: she sees what is asked and can answer.
// It does not take the desktop.
type Watch struct {
	desk  *Desk
	leave func()
	since time.Time // when somebody watched last

	mu   sync.Mutex
	hold func() // lets input go on; nil while no card is open
}

// Seen is what a Watch sees at one moment.
type Seen struct {
	Cards  []Card // what waits, in the order in which it was first asked
	Missed []Card // what nobody answered since somebody watched last
	Pause  Pause
	Agents []string // that run now, as they call themselves
	// Ended says, for those of the known asks that are over, how they ended.
	Ended map[string]string
	// Windows are how many windows are selected.
	Windows int
	// Problem says what could not be read, "" where all was.
	Problem string
}

// missedMost is how far back a first Watch looks.
const missedMost = 12 * time.Hour

type watched struct {
	Version int       `json:"version"`
	Until   time.Time `json:"until"`
}

const watchedFile = "watched.json"

// Watch begins to watch. Until Close, agents know that somebody is there.
func (d *Desk) Watch() (*Watch, error) {
	leave, err := d.gate.Surface()
	if err != nil {
		return nil, fmt.Errorf("nobody would know that you are here: %w", err)
	}
	w := &Watch{desk: d, leave: leave, since: time.Now().Add(-missedMost)}
	var last watched
	if data, err := statefile.Read(filepath.Join(d.Dir(), watchedFile), 4096); err == nil &&
		strictjson.Decode(data, &last) == nil && last.Until.After(w.since) {
		w.since = last.Until
	}
	return w, nil
}

// Look returns what there is to see now. Known are the asks that the caller
// shows.
func (w *Watch) Look(ctx context.Context, known []string) Seen {
	s := Seen{Pause: w.desk.State(), Ended: map[string]string{}}
	var err error
	if s.Cards, err = w.desk.inbox.Pending(ctx); err != nil {
		s.Problem = err.Error()
	}
	if s.Missed, err = w.desk.inbox.Missed(ctx, w.since); err != nil {
		s.Problem = err.Error()
	}
	for _, id := range known {
		if !slices.ContainsFunc(s.Cards, func(c Card) bool { return c.ID == id }) {
			s.Ended[id] = w.end(ctx, id)
		}
	}
	if sessions, err := w.desk.Sessions(); err == nil {
		for _, one := range sessions {
			s.Agents = append(s.Agents, one.Agent)
		}
	}
	if doc, err := w.desk.Rules(); err != nil {
		s.Problem = err.Error()
	} else {
		s.Windows = len(doc.Windows)
	}
	return s
}

// end says how an ask ended.
func (w *Watch) end(ctx context.Context, id string) string {
	card, err := w.desk.inbox.Get(ctx, id)
	switch {
	case err != nil:
		return "over"
	case card.Reason != "":
		return string(card.State) + ": " + card.Reason
	case card.By == "":
		return string(card.State)
	case card.State == "denied":
		return "denied by " + card.By
	}
	return "approved by " + card.By
}

// Stamp changes when there may be something new to see. It reads no file.
func (w *Watch) Stamp() string {
	var all string
	for _, name := range []string{"approvals/ledger.jsonl", "pause.json", "policy.json", "session"} {
		var st fs.FileInfo
		st, err := os.Lstat(filepath.Join(w.desk.Dir(), filepath.FromSlash(name)))
		if err != nil {
			all += "-;"
			continue
		}
		all += fmt.Sprintf("%d %d;", st.Size(), st.ModTime().UnixNano())
	}
	return all
}

// Open keeps all input of agents back while a card is open before the person.
func (w *Watch) Open() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hold != nil {
		return nil
	}
	hold, err := w.desk.gate.HoldInput()
	if err != nil {
		return err
	}
	w.hold = hold
	return nil
}

// Fold lets input go on.
func (w *Watch) Fold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hold != nil {
		w.hold()
		w.hold = nil
	}
}

// Close ends the watch and remembers when.
func (w *Watch) Close() error {
	w.Fold()
	w.leave()
	return statefile.Replace(filepath.Join(w.desk.Dir(), watchedFile),
		fmt.Appendf(nil, "{\"version\":1,\"until\":%q}\n", time.Now().UTC().Format(time.RFC3339Nano)), &statefile.ReplaceOptions{NoSync: true})
}
