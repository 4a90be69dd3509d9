package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
)

// A Pause is what pause.json says, or that it says nothing.
type Pause struct {
	Paused     bool
	Reason     string // the person's side's words, or why the file counts as a pause
	By         string // who paused, or resumed
	At         time.Time
	NeverSetUp bool // there is no file: nobody has resumed in this profile yet
}

// record is the file. Paused is a pointer, so that leaving it out is not false.
type record struct {
	Paused *bool     `json:"paused"`
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

const maxPause = 16 << 10

// State reads the pause as it is on the disk now. It takes no lock.
func (g *Gate) State() Pause {
	data, err := statefile.Read(g.path(pauseFile), maxPause)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Pause{Paused: true, NeverSetUp: true}
	case err != nil:
		return Pause{Paused: true, Reason: "pause.json cannot be read"}
	}
	r, err := parse(data)
	if err != nil {
		return Pause{Paused: true, Reason: "pause.json does not say whether to pause"}
	}
	return Pause{Paused: *r.Paused, Reason: r.Reason, By: r.By, At: r.At}
}

// parse takes one object of known keys that says paused.
func parse(data []byte) (record, error) {
	var r record
	if err := strictjson.Decode(data, &r); err != nil {
		return r, err
	}
	if r.Paused == nil {
		return r, errors.New("paused is missing")
	}
	return r, nil
}

func (r record) encode() ([]byte, error) {
	b, err := json.Marshal(r)
	return append(b, '\n'), err
}

// SetPaused pauses the desktop, durably, without taking it: calls that are in
// finish, and nobody gets in. It works while anybody holds any lock.
func (g *Gate) SetPaused(by, reason string) error { return g.write(true, by, reason) }

// SetResumed ends a pause, durably. Only the person's side calls it.
func (g *Gate) SetResumed(by string) error { return g.write(false, by, "") }

func (g *Gate) write(paused bool, by, reason string) error {
	const most = 500 // characters: shown in one line
	b, err := record{Paused: &paused, Reason: cut(reason, most), By: cut(by, most), At: time.Now().UTC().Round(0)}.encode()
	if err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	if err := statefile.Replace(g.path(pauseFile), b, nil); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return nil
}

// cut keeps at most n characters, and only what JSON brings back unchanged.
func cut(s string, n int) string {
	r := []rune(s) // bytes that are no UTF-8 become U+FFFD
	return string(r[:min(len(r), n)])
}
