package cua

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"strings"
	"sync"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/internal/mcpwire"
)

// startLimit bounds the handshake and the first list of tools.
const startLimit = 20 * time.Second

// ourName is how an executable of ours introduces itself.
const ourName = "permission-canvas"

// link is one process and what holds only while it lives.
type link struct {
	child  *child
	client *mcpwire.Client
	nonce  string
	tools  driver.Tools
	inputs map[string]map[string]bool // tool → its arguments' names
	modern bool                       // 0.37 or later

	stopping sync.Once
	session  chan struct{} // holds one: the right to begin a session

	mu     sync.Mutex
	tokens map[driver.WindowRef]map[driver.Token]spot
	images map[driver.WindowRef]view
	begun  bool // the session is known to live
	ended  bool // the driver said that it ended
}

// spot is where an element is, and where the driver believes its middle is.
type spot struct {
	bounds image.Rectangle
	aim    image.Point
}

// view is the picture of a window's newest reading.
type view struct {
	size  image.Point
	whole bool // of the whole window
}

// start runs exe and learns its tools.
func start(ctx context.Context, exe string, opts *Options) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	f, err := opts.write()
	if err != nil {
		return nil, err
	}
	args := opts.Args
	if args == nil {
		args = []string{"mcp"}
	}
	c, err := spawn(exe, args, environ(opts, f))
	if err != nil {
		return nil, err
	}
	l := &link{
		child: c, nonce: newNonce(), inputs: map[string]map[string]bool{},
		session: make(chan struct{}, 1), begun: opts.Name == "",
		tokens: map[driver.WindowRef]map[driver.Token]spot{}, images: map[driver.WindowRef]view{},
	}
	if l.client, err = mcpwire.Dial(ctx, c.stdout, c.stdin, nil); err == nil {
		err = l.learn(ctx)
	}
	if err != nil {
		go l.stop()
		return nil, err
	}
	return l, nil
}

// learn reads who the driver is and what its tools take.
func (l *link) learn(ctx context.Context) error {
	name, version := l.client.Server()
	if strings.EqualFold(name, ourName) {
		return errors.New("the driver is permission-canvas itself")
	}
	entries, err := l.client.Tools(ctx)
	if err != nil {
		return err
	}
	l.tools.Version = version
	l.modern = atLeast(version, 0, 37)
	for _, raw := range entries {
		var t struct {
			Name   string `json:"name"`
			Schema struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"inputSchema"`
		}
		if err := json.Unmarshal(raw, &t); err != nil || t.Name == "" {
			return fmt.Errorf("%w: tool entry", errShape)
		}
		if l.inputs[t.Name] != nil {
			return fmt.Errorf("%w: a tool listed twice", errShape)
		}
		l.inputs[t.Name] = map[string]bool{}
		for p := range t.Schema.Properties {
			l.inputs[t.Name][p] = true
		}
		l.tools.Entries = append(l.tools.Entries, driver.Tool{Name: t.Name, Raw: raw})
	}
	return nil
}

// takes reports whether a tool's schema has an argument.
func (l *link) takes(tool, argument string) bool { return l.inputs[tool][argument] }

func (l *link) dead() bool {
	select {
	case <-l.client.Done():
		return true
	default:
		return false
	}
}

// hangUp ends the conversation at once; calls under way fail.
func (l *link) hangUp() {
	if l.client != nil {
		_ = l.client.Close()
	}
}

// stop ends the process. It returns when it is gone.
func (l *link) stop() {
	l.stopping.Do(func() {
		l.hangUp()
		l.child.stop()
	})
}

// token is what we give out for a driver's own: tokens of two processes are
// alike, so ours name the process (M7).
func (l *link) token(own string) driver.Token { return driver.Token(l.nonce + "." + own) }

// own returns the driver's token for one of window w's newest snapshot.
func (l *link) own(w driver.WindowRef, t driver.Token) (string, spot, error) {
	own, ok := strings.CutPrefix(string(t), l.nonce+".")
	l.mu.Lock()
	defer l.mu.Unlock()
	at, known := l.tokens[w][t]
	if !ok || !known {
		return "", spot{}, driver.ErrStaleToken
	}
	return own, at, nil
}

// view returns the picture in window w's newest snapshot.
func (l *link) view(w driver.WindowRef) (view, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := l.images[w]
	return v, ok
}

// remember makes s the newest snapshot of its window.
func (l *link) remember(s *driver.Snapshot, spots map[driver.Token]spot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := s.Window.Ref
	l.tokens[w] = spots
	if s.Image != nil {
		l.images[w] = view{s.Size, s.Frame == s.Window.Bounds}
	}
}

// forget kills what was given out for w.
func (l *link) forget(w driver.WindowRef) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tokens, w)
	delete(l.images, w)
}

// forgetAll kills what was given out for every window.
func (l *link) forgetAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.tokens)
	clear(l.images)
}

func newNonce() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// atLeast compares a version such as "0.37.0"; one that cannot be read is old.
func atLeast(version string, major, minor int) bool {
	var a, b int
	if n, _ := fmt.Sscanf(version, "%d.%d", &a, &b); n != 2 {
		return false
	}
	return a > major || a == major && b >= minor
}
