package shim_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/shim"
)

// A script is a desk that does what a test says, and notes what it did.
type script struct {
	shim.Desk // nothing else is called
	act       func(ctx context.Context, a permissioncanvas.Action) (permissioncanvas.Result, error)
	list      func(ctx context.Context) ([]permissioncanvas.Window, error)

	mu   sync.Mutex
	said []string
}

func (s *script) Warm(context.Context) { s.note("warm") }

func (s *script) Act(ctx context.Context, a permissioncanvas.Action) (permissioncanvas.Result, error) {
	return s.act(ctx, a)
}

func (s *script) ListWindows(ctx context.Context) ([]permissioncanvas.Window, error) {
	return s.list(ctx)
}

func (s *script) Tools(context.Context) ([]permissioncanvas.Tool, error) {
	return []permissioncanvas.Tool{{Name: "click", Raw: json.RawMessage(`{"name":"click","z":1,"a":9007199254740993}`)}}, nil
}

func (s *script) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, text)
}

// A talk is a host's conversation with a server.
type talk struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	ended chan error
}

func speak(t *testing.T, ctx context.Context, desk shim.Desk, failing error) *talk {
	t.Helper()
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	c := &talk{t: t, in: feed, lines: make(chan string, 200), ended: make(chan error, 1)}
	go func() {
		c.ended <- shim.ServeLines(ctx, func() (shim.Desk, error) { return desk, failing }, in, out, nil)
		out.Close()
	}()
	go func() {
		defer close(c.lines)
		for s := bufio.NewScanner(answers); s.Scan(); {
			c.lines <- s.Text()
		}
	}()
	return c
}

func (c *talk) say(format string, a ...any) {
	c.t.Helper()
	_, err := fmt.Fprintf(c.in, format+"\n", a...)
	require.NoError(c.t, err)
}

func (c *talk) hears(want string) {
	c.t.Helper()
	select {
	case got := <-c.lines:
		require.Contains(c.t, got, want)
	case <-time.After(10 * time.Second):
		c.t.Fatalf("no answer with %s", want)
	}
}

func (c *talk) ends() {
	c.t.Helper()
	select {
	case err := <-c.ended:
		require.NoError(c.t, err)
		c.in.Close() // what still reads it
	case <-time.After(10 * time.Second):
		c.t.Fatal("it goes on")
	}
}

const press = `{"id":%d,"method":"act","params":{"action":"press_keys","pid":1,"window_id":2,"keys":["%s"]}}`

func TestPC47ActsRunInTheOrderTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &script{list: func(context.Context) ([]permissioncanvas.Window, error) { return nil, nil }}
		d.act = func(_ context.Context, a permissioncanvas.Action) (permissioncanvas.Result, error) {
			key := string(a.(permissioncanvas.PressKeys).Keys[0])
			d.note("begin " + key)
			time.Sleep(time.Second)
			d.note("end " + key)
			return permissioncanvas.Result{Effect: "confirmed"}, nil
		}
		c := speak(t, t.Context(), d, nil)
		for i, key := range []string{"a", "b", "c"} {
			c.say(press, i, key)
		}
		c.say(`{"id":"w","method":"list_windows"}`)
		c.hears(`"id":"w"`) // overtakes
		c.say(`{"id":"x","method":"close"}`)
		for i := range 3 {
			c.hears(fmt.Sprintf(`"id":%d,"result":{"effect":"confirmed"}`, i))
		}
		c.hears(`{"id":"x","result":{}}`)
		c.ends()
		require.Equal(t, "begin a,end a,begin b,end b,begin c,end c", strings.Join(slices.DeleteFunc(d.said, func(s string) bool { return s == "warm" }), ","))
	})
}

func TestPC19WhatTheHostGivesUp(t *testing.T) {
	waiting := func(d *script) {
		d.act = func(ctx context.Context, a permissioncanvas.Action) (permissioncanvas.Result, error) {
			d.note("waits " + string(a.(permissioncanvas.PressKeys).Keys[0]))
			<-ctx.Done()
			d.note("given up")
			return permissioncanvas.Result{}, &permissioncanvas.Error{Code: permissioncanvas.Busy}
		}
	}
	t.Run("cancel", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := &script{}
			waiting(d)
			c := speak(t, t.Context(), d, nil)
			c.say(press, 1, "a")
			c.say(press, 2, "b") // in its turn, behind the first
			synctest.Wait()
			c.say(`{"method":"cancel","params":{"id":2}}`)
			c.say(`{"id":"c","method":"cancel","params":{"id":9}}`) // no such request
			c.hears(`{"id":"c","result":{}}`)
			c.say(`{"method":"cancel","params":{"id":1}}`)
			c.hears(`"id":1,"error":{"code":"busy","message":"Given up, as you asked. Nothing was done."`)
			c.hears(`"id":2,"error":{"code":"busy","message":"Given up`)
			c.say(`{"method":"cancel","params":{"id":1}}`) // over already: nothing to say
			c.say(`{"method":"cancel"}`)
			c.hears(`Cancel needs the id`)
			require.NoError(t, c.in.Close())
			c.ends()
			require.NotContains(t, d.said, "waits b")
		})
	})
	for name, over := range map[string]func(c *talk, stop func()){
		"end of input": func(c *talk, _ func()) { c.in.Close() },
		"a signal":     func(_ *talk, stop func()) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				d := &script{}
				waiting(d)
				c := speak(t, ctx, d, nil)
				c.say(press, 1, "a")
				synctest.Wait()
				over(c, stop)
				c.hears(`"id":1,"error"`)
				c.ends()
				require.Contains(t, d.said, "given up")
				c.in.Close()
			})
		})
	}
}

func TestPC45LinesThatAreNotUsed(t *testing.T) {
	c := speak(t, t.Context(), &script{}, nil)
	for line, want := range map[string]string{
		`{"id":1,"method":"tools"`:                            `{"id":null,"error":{"code":"bad_request"`,
		`{"id":1,"ID":2,"method":"tools"}`:                    `"id":null`,
		`{"id":3,"method":"act","params":{"a":1,"a":2}}`:      `"id":3,"error":{"code":"bad_request"`,
		`{"id":4,"method":"act","params":{"a":"\ud800"}}`:     `"id":4`,
		`{"id":5,"method":"act","params":[1]}`:                `one JSON object`,
		`{"id":9007199254740993,"method":"tools"}`:            `"id":null`,
		`{"id":1.5,"method":"tools"}`:                         `"id":null`,
		`{"id":null,"method":"tools"}`:                        `The id is a text or a whole number`,
		`{"id":6,"method":7}`:                                 `"id":6,"error":{"code":"bad_request","message":"The method is a text."`,
		`{"id":7}`:                                            `needs a method`,
		`{"id":8,"method":"tools","jsonrpc":"2.0"}`:           `id, method and params, and nothing else`,
		`{"id":9,"method":"tools","params":{"a":1}}`:          `unknown key`,
		`{"id":"a","method":"capture","params":{"PID":1}}`:    `unknown key`,
		`{"id":"b","method":"act","params":{"action":"zap"}}`: `The action is click`,
		`{"id":"c","method":"act"}`:                           `The action is click`,
		`{"id":"d","method":"act","params":{"action":"raise","pid":1,"window_id":2,"token":"x"}}`:                 `"code":"argument_unknown","message":"This action takes no token. Leave it out."`,
		`{"id":"e","method":"act","params":{"action":"type_text","token":"x"}}`:                                   `lacks what it is to do`,
		`{"id":"f","method":"act","params":{"action":"click","token":"x","wait":601}}`:                            `from 0 to 600`,
		`{"id":"g","method":"act","params":{"action":"steps","steps":[{"action":"steps","steps":[]}]}}`:           `no list of its own`,
		`{"id":"h","method":"act","params":{"action":"steps","steps":[{"action":"click","token":"x","wait":1}]}}`: `takes no wait`,
		`{"id":"i","method":"call","params":{"name":"click","arguments":{"a":1,"A":2}}}`:                          `"id":"i","error":{"code":"bad_request"`,
		`{"id":"j","method":"tools","params":{}` + strings.Repeat(" ", 5<<20) + `}`:                               `the line is too long`,
		`{"id":"k","method":"call","params":{"name":"click","wait":-1}}`:                                          `from 0 to 600`,
		`{"id":"l","method":"act","params":{"action":"drag","pid":1,"window_id":2,"from":{"x":1,"y":2}}}`:         `lacks what it is to do`,
	} {
		c.say("%s", line)
		c.hears(want)
	}
	c.say(`{"id":"n","method":"tools","params":null}`)
	c.hears(`{"id":"n","result"`)
	c.say(`{"id":"m","method":"tools"}`) // the session lives on, and numbers keep their digits
	c.hears(`{"id":"m","result":{"tools":[{"name":"click","z":1,"a":9007199254740993}]}}`)
	require.NoError(t, c.in.Close())
	c.ends()
}

func TestOpenRequestsAreBounded(t *testing.T) {
	release := make(chan struct{})
	d := &script{list: func(context.Context) ([]permissioncanvas.Window, error) { <-release; return nil, nil }}
	c := speak(t, t.Context(), d, nil)
	for i := range 64 {
		c.say(`{"id":%d,"method":"list_windows"}`, i)
	}
	c.say(`{"id":64,"method":"list_windows"}`)
	c.hears(`{"id":64,"error":{"code":"busy"`)
	c.say(`{"id":3,"method":"list_windows"}`)
	c.hears(`The id is in use`)
	close(release)
	for range 64 {
		c.hears(`"windows":[]`)
	}
	c.say(`{"id":3,"method":"list_windows"}`)
	c.hears(`{"id":3,"result"`)
	c.say(`{"id":"x","method":"close"}`)
	c.hears(`"id":"x"`)
	c.ends()
	c.in.Close()
}

func TestEachRequestSaysWhyNothingOpens(t *testing.T) {
	why := &permissioncanvas.Error{Code: permissioncanvas.ManifestInvalid, Message: "m", Next: permissioncanvas.AskPerson}
	c := speak(t, t.Context(), nil, why)
	for i := range 3 {
		c.say(`{"id":%d,"method":"tools"}`, i)
		c.hears(`"error":{"code":"manifest_invalid","message":"m","next":"ask_person"}`)
	}
	c.in.Close()
	c.ends()
}

func TestBX07EveryRefusalIsWhole(t *testing.T) {
	expires := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := &script{}
	for err, want := range map[error]string{
		&permissioncanvas.Error{Code: permissioncanvas.ApprovalDenied, Message: "m", Next: permissioncanvas.Stop,
			Approval: &permissioncanvas.Approval{ID: "i", Expires: expires, Command: "c", Reply: "r"}}: `{"code":"approval_denied","message":"m","next":"stop","approval":{"id":"i","expires_at":"2026-01-02T03:04:05Z","person_command":"c","person_reply":"r"}}`,
		&permissioncanvas.Error{Code: permissioncanvas.BackgroundUnavailable, Message: "m", Next: permissioncanvas.CaptureAgain}: `"next":"capture_again","escalation":{"recommended":"foreground"`,
		errors.New("inner words"): `{"code":"busy","message":"The call could not be answered. Nothing was done.","next":"retry_same"}`,
	} {
		d.act = func(context.Context, permissioncanvas.Action) (permissioncanvas.Result, error) {
			return permissioncanvas.Result{}, err
		}
		c := speak(t, t.Context(), d, nil)
		c.say(press, 1, "a")
		c.hears(want)
		c.in.Close()
		c.ends()
	}
}
