package mcpwire_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/mcpwire"
)

// peer is the other end of a client: it reads requests and says lines.
type peer struct {
	t   *testing.T
	in  *bufio.Reader
	out io.WriteCloser

	mu    sync.Mutex
	lines []string
}

// seen returns what the client has sent so far.
func (p *peer) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lines)
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func last(s []string) string { return s[len(s)-1] }

func (p *peer) say(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format+"\n", args...) }

func (p *peer) hear() (request, bool) {
	line, err := p.in.ReadString('\n')
	if err != nil {
		return request{}, false
	}
	p.mu.Lock()
	p.lines = append(p.lines, line)
	p.mu.Unlock()
	var r request
	_ = json.Unmarshal([]byte(line), &r)
	return r, true
}

const hello = `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"cua-driver","version":"9.8.7"}}}`

// dial connects a client to a peer whose answers to calls act gives.
func dial(t *testing.T, opts *mcpwire.DialOptions, act func(p *peer, r request)) (*mcpwire.Client, *peer) {
	t.Helper()
	toPeer, fromClient := io.Pipe()
	toClient, fromPeer := io.Pipe()
	p := &peer{t: t, in: bufio.NewReader(toPeer), out: fromPeer}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			r, ok := p.hear()
			switch {
			case !ok:
				return
			case r.Method == "initialize":
				p.say(hello, r.ID)
			case len(r.ID) > 0:
				act(p, r)
			}
		}
	}()
	c, err := mcpwire.Dial(t.Context(), toClient, fromClient, opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		<-over
	})
	return c, p
}

func TestPC46Handshake(t *testing.T) {
	c, p := dial(t, nil, func(*peer, request) {})
	name, version := c.Server()
	require.Equal(t, "cua-driver", name)
	require.Equal(t, "9.8.7", version)
	var first struct {
		Params struct {
			ProtocolVersion string
			Capabilities    json.RawMessage
			ClientInfo      struct{ Name string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(p.seen()[0]), &first))
	require.Equal(t, "2025-11-25", first.Params.ProtocolVersion)
	require.JSONEq(t, `{}`, string(first.Params.Capabilities))
	require.Equal(t, "permission-canvas", first.Params.ClientInfo.Name)
}

func TestPC46ResultsComeAsTheyWere(t *testing.T) {
	const result = `{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":9007199254740991,"z":1.0,"a":1e0}}`
	c, p := dial(t, nil, func(p *peer, r request) { p.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result) })
	raw, err := c.Call(t.Context(), "look", json.RawMessage(`{"z":1.0,"a":9007199254740991}`))
	require.NoError(t, err)
	require.Equal(t, result, string(raw))
	require.Contains(t, last(p.seen()), `"arguments":{"z":1.0,"a":9007199254740991}`)
	_, err = c.Call(t.Context(), "look", nil)
	require.NoError(t, err)
	require.Contains(t, last(p.seen()), `"arguments":{}`)
}

func TestPC46WhatNobodyAskedForIsDropped(t *testing.T) {
	c, p := dial(t, nil, func(p *peer, r request) {
		p.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hunter2"}}`)
		p.say(`{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{}}`)
		p.say(`{"jsonrpc":"2.0","id":%s9,"result":{"content":[]}}`, r.ID)
		p.say(`{"jsonrpc":"2.0","id":"%s","result":{"content":[]}}`, r.ID)
		p.say(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`)
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"mine":true}}`, r.ID)
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, r.ID)
	})
	raw, err := c.Call(t.Context(), "look", nil)
	require.NoError(t, err)
	require.Contains(t, string(raw), "mine")
	require.Eventually(t, func() bool { return c.Dropped() == 6 }, 5*time.Second, time.Millisecond)
	require.Len(t, p.seen(), 3, "nothing of it was answered")
}

func TestPC45AFrameWithTwoReadingsEndsTheDriver(t *testing.T) {
	tests := map[string]string{
		"duplicate key":     `{"jsonrpc":"2.0","id":%s,"result":{},"result":{}}`,
		"case variant":      `{"jsonrpc":"2.0","id":%s,"result":{},"Result":{}}`,
		"not JSON":          `%s oops`,
		"array":             `[{"jsonrpc":"2.0","id":%s,"result":{}}]`,
		"another version":   `{"jsonrpc":"1.0","id":%s,"result":{}}`,
		"unknown member":    `{"jsonrpc":"2.0","id":%s,"result":{},"more":1}`,
		"both answers":      `{"jsonrpc":"2.0","id":%s,"result":{},"error":{"code":1,"message":""}}`,
		"an error of words": `{"jsonrpc":"2.0","id":%s,"error":"x"}`,
		"big number":        `{"jsonrpc":"2.0","id":%s,"result":{"n":90071992547409930}}`,
		"lone surrogate":    `{"jsonrpc":"2.0","id":%s,"result":{"n":"\ud800"}}`,
		"not UTF-8":         `{"jsonrpc":"2.0","id":%s,"result":{"n":"` + "\xff" + `"}}`,
	}
	for name, line := range tests {
		t.Run(name, func(t *testing.T) {
			c, _ := dial(t, nil, func(p *peer, r request) { p.say(line, r.ID) })
			_, err := c.Call(t.Context(), "look", nil)
			require.ErrorIs(t, err, mcpwire.ErrGarbage)
			<-c.Done()
			require.ErrorIs(t, c.Err(), mcpwire.ErrGarbage)
			_, err = c.Call(t.Context(), "look", nil)
			require.Error(t, err)
		})
	}
}

func TestPC21ALineIsBounded(t *testing.T) {
	c, _ := dial(t, &mcpwire.DialOptions{MaxLine: 1000}, func(p *peer, r request) {
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":"%s"}}`, r.ID, strings.Repeat("x", 1000))
	})
	_, err := c.Call(t.Context(), "look", nil)
	require.ErrorIs(t, err, mcpwire.ErrTooLong)
}

func TestPC21APeerThatEnds(t *testing.T) {
	c, _ := dial(t, nil, func(p *peer, r request) {
		p.say(`{"jsonrpc":"2.0","id":%s,"resu`, r.ID)
		_ = p.out.Close()
	})
	_, err := c.Call(t.Context(), "look", nil)
	require.Error(t, err)
	<-c.Done()
}

func TestPC27APeersWordsAreNotForwarded(t *testing.T) {
	c, _ := dial(t, nil, func(p *peer, r request) {
		p.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"label: API key sk-1","data":{"x":"sk-2"}}}`, r.ID)
	})
	_, err := c.Call(t.Context(), "look", nil)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "sk-")
	_, err = c.Tools(t.Context())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "sk-")
}

func TestPC21ContextEndsACall(t *testing.T) {
	c, _ := dial(t, nil, func(*peer, request) {})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := c.Call(ctx, "look", nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestPC21APeerThatDoesNotRead(t *testing.T) {
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	c, _ := dial(t, nil, func(p *peer, r request) {
		select {
		case <-stuck:
		case <-t.Context().Done():
		}
	})
	first, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := c.Call(first, "look", nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	second, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = c.Call(second, "look", nil) // the peer is stuck in its first request
	require.Error(t, err)
}

func TestPC46Tools(t *testing.T) {
	c, p := dial(t, nil, func(p *peer, r request) {
		if strings.Contains(string(r.Params), `"next"`) {
			p.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"c","risk":{"n":1.0}}],"nextCursor":null}}`, r.ID)
			return
		}
		p.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a"},{"name":"b","inputSchema":{"maximum":1e0}}],"nextCursor":"next"}}`, r.ID)
	})
	tools, err := c.Tools(t.Context())
	require.NoError(t, err)
	require.Equal(t, []json.RawMessage{
		json.RawMessage(`{"name":"a"}`), json.RawMessage(`{"name":"b","inputSchema":{"maximum":1e0}}`), json.RawMessage(`{"name":"c","risk":{"n":1.0}}`),
	}, tools)
	require.Len(t, p.seen(), 4)
}

func TestPC46ToolsOfALiar(t *testing.T) {
	for name, result := range map[string]string{
		"no list":   `{"tools":7}`,
		"missing":   `{}`,
		"endless":   `{"tools":[],"nextCursor":"again"}`,
		"cursor":    `{"tools":[],"nextCursor":{}}`,
		"no object": `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := dial(t, nil, func(p *peer, r request) { p.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result) })
			_, err := c.Tools(t.Context())
			require.Error(t, err)
		})
	}
}

func TestPC21HandshakeFails(t *testing.T) {
	tests := map[string]func(p *peer, r request){
		"ends":  func(p *peer, r request) { _ = p.out.Close() },
		"error": func(p *peer, r request) { p.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"no"}}`, r.ID) },
		"protocol": func(p *peer, r request) {
			p.say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"1999-01-01"}}`, r.ID)
		},
		"shape":     func(p *peer, r request) { p.say(`{"jsonrpc":"2.0","id":%s,"result":7}`, r.ID) },
		"never":     func(*peer, request) {},
		"not ready": func(p *peer, r request) { p.say(`Error: no display`) },
	}
	for name, act := range tests {
		t.Run(name, func(t *testing.T) {
			toPeer, fromClient := io.Pipe()
			toClient, fromPeer := io.Pipe()
			p := &peer{t: t, in: bufio.NewReader(toPeer), out: fromPeer}
			go func() {
				for {
					r, ok := p.hear()
					if !ok {
						return
					}
					act(p, r)
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := mcpwire.Dial(ctx, toClient, fromClient, &mcpwire.DialOptions{Name: "x", Version: "1"})
			require.Error(t, err)
			_, err = fromClient.Write([]byte("x"))
			require.Error(t, err, "the streams are closed")
		})
	}
}
