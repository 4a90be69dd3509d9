package profile

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/internal/strictjson"
)

const sessionDir = "session"

// A Session says which desktop a running session drives, so that a person who
// comes by SSH finds the same one.
type Session struct {
	Agent   string    `json:"agent"` // as the person reads it; untrusted
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`

	// Values of the environment, "" where not set.
	Display    string `json:"display"`     // DISPLAY
	Wayland    string `json:"wayland"`     // WAYLAND_DISPLAY
	XAuthority string `json:"x_authority"` // XAUTHORITY: a path, no secret
	Bus        string `json:"bus"`         // DBUS_SESSION_BUS_ADDRESS
	RuntimeDir string `json:"runtime_dir"` // XDG_RUNTIME_DIR
}

// SessionOf returns the session of this process in the environment env.
func SessionOf(agent string, env func(string) string) Session {
	return Session{
		Agent: agent, PID: os.Getpid(), Started: time.Now(),
		Display: env("DISPLAY"), Wayland: env("WAYLAND_DISPLAY"), XAuthority: env("XAUTHORITY"),
		Bus: env("DBUS_SESSION_BUS_ADDRESS"), RuntimeDir: env("XDG_RUNTIME_DIR"),
	}
}

// Environ returns what a driver needs to reach the session's desktop.
func (s Session) Environ() []string {
	var env []string
	for _, v := range []struct{ name, value string }{
		{"DISPLAY", s.Display}, {"WAYLAND_DISPLAY", s.Wayland}, {"XAUTHORITY", s.XAuthority},
		{"DBUS_SESSION_BUS_ADDRESS", s.Bus}, {"XDG_RUNTIME_DIR", s.RuntimeDir},
	} {
		if v.value != "" {
			env = append(env, v.name+"="+v.value)
		}
	}
	return env
}

// WriteSession leaves s in the data directory until remove is called or this
// process ends in any way. The system gives back the lock that says so, which a
// process id, used again, would not.
func (p *Profile) WriteSession(s Session) (remove func() error, err error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	dir, err := p.subdir(sessionDir)
	if err != nil {
		return nil, err
	}
	var id [4]byte
	rand.Read(id[:]) // never fails
	base := filepath.Join(dir, fmt.Sprintf("%d-%s", s.PID, hex.EncodeToString(id[:])))
	lock, ok, err := statefile.TryLock(base + ".lock")
	if err != nil || !ok {
		return nil, errors.Join(errors.New("the session's lock cannot be taken"), err)
	}
	s.Started = s.Started.UTC().Round(0)
	text, err := json.Marshal(s)
	if err == nil {
		err = statefile.Replace(base+".json", append(text, '\n'), &statefile.ReplaceOptions{NoSync: true})
	}
	remove = func() error {
		err := statefile.Remove(base + ".json")
		return errors.Join(err, lock.Unlock(), statefile.Remove(base+".lock"))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Unlock(), statefile.Remove(base+".lock"))
	}
	return remove, nil
}

// Sessions returns the running sessions, the latest first. What sessions left
// behind that are gone is removed.
func (p *Profile) Sessions() ([]Session, error) {
	dir := p.path(sessionDir)
	entries, err := os.ReadDir(dir)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var running []Session
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		base := filepath.Join(dir, name)
		lock, gone, err := statefile.TryLock(base + ".lock")
		if err != nil {
			return nil, err
		}
		if gone {
			// Nobody takes this name again, so a failure leaves only litter.
			_ = statefile.Remove(base + ".json")
			_ = lock.Unlock()
			_ = statefile.Remove(base + ".lock")
			continue
		}
		if s, err := readSession(base + ".json"); err == nil {
			running = append(running, s)
		}
	}
	slices.SortFunc(running, func(a, b Session) int { return b.Started.Compare(a.Started) })
	return running, nil
}

func readSession(path string) (Session, error) {
	data, err := statefile.Read(path, limit)
	if err != nil {
		return Session{}, err
	}
	var s Session
	if err := strictjson.Decode(data, &s); err != nil {
		return Session{}, &InvalidError{path, err}
	}
	return s, s.check()
}

// check refuses what cannot be a value of an environment.
func (s Session) check() error {
	if s.PID <= 0 {
		return errors.New("a session needs its process")
	}
	for _, v := range s.Environ() {
		if len(v) > 4096 || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("%.40q cannot be a value of the environment", v)
		}
	}
	return nil
}
