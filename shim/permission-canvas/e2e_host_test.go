package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// A tap keeps every byte that was read through it.
type tap struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (p *tap) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept.Write(b)
}

// bytes returns a copy of what was kept.
func (p *tap) bytes() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.kept.Bytes())
}

// A child is a `permission-canvas mcp` with its pipes.
type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Reader // stdout, tapped
	raw    *tap      // stdout
	notes  *tap      // stderr
	exited chan struct{}
}

// serve starts `permission-canvas mcp` on the desk. It ends with the test at
// the latest.
func (d *desk) serve(env ...string) *child {
	d.t.Helper()
	c := &child{t: d.t, raw: &tap{}, notes: &tap{}, exited: make(chan struct{})}
	c.cmd = exec.Command(canvasProgram, "mcp", "--driver", d.driver, "--data-dir", d.dir)
	c.cmd.Env = append(append([]string(nil), d.env...), env...)
	c.cmd.Stderr = c.notes
	var err error
	c.in, err = c.cmd.StdinPipe()
	require.NoError(d.t, err)
	// Not StdoutPipe, which Wait closes although bytes may still be in it.
	out, feed := io.Pipe()
	c.cmd.Stdout, c.out = io.MultiWriter(c.raw, feed), out
	require.NoError(d.t, c.cmd.Start())
	go func() {
		_ = c.cmd.Wait()
		feed.Close()
		close(c.exited)
	}()
	d.t.Cleanup(c.kill)
	return c
}

// pid is the process's.
func (c *child) pid() int { return c.cmd.Process.Pid }

// kill ends the process at once, as nothing else would, and waits.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.exited
}

// ends closes stdin and requires the process to exit by itself, with success,
// within d.
func (c *child) ends(d time.Duration) {
	c.t.Helper()
	require.NoError(c.t, c.in.Close())
	c.gone(d)
}

// gone requires the process to have exited with success within d.
func (c *child) gone(d time.Duration) {
	c.t.Helper()
	select {
	case <-c.exited:
		require.Zero(c.t, c.cmd.ProcessState.ExitCode(), "stderr: %s", c.notes.bytes())
	case <-time.After(d):
		c.t.Fatalf("the process still runs %v after the end of its input", d)
	}
}

// A host is an agent's host: the official client, in a session with a child.
type host struct {
	*child
	session *mcp.ClientSession
}

// host starts a child and a session with it. The name is what the client calls
// itself.
func (d *desk) host(name string, env ...string) *host {
	d.t.Helper()
	c := d.serve(env...)
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: io.NopCloser(c.out), Writer: c.in}, nil)
	require.NoError(d.t, err, "stderr: %s", c.notes.bytes())
	return &host{child: c, session: session}
}

// A reply is what a model gets of a tool's result.
type reply struct {
	t      *testing.T
	failed bool
	text   string
	image  []byte
	fields map[string]any // structuredContent
}

// asks is what a call gives so that it may wait for the person, and how long
// it does so by itself without.
const asks = "progress"

// call calls a tool and returns its result.
func (h *host) call(tool string, args map[string]any) *reply {
	h.t.Helper()
	r, err := h.try(context.Background(), tool, args)
	require.NoError(h.t, err, "%s %v\nstderr: %s", tool, args, h.notes.bytes())
	return r
}

// try is call with a context and for a goroutine.
func (h *host) try(ctx context.Context, tool string, args map[string]any) (*reply, error) {
	return call(ctx, h.t, h.session, tool, args)
}

func call(ctx context.Context, t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p := &mcp.CallToolParams{Name: tool, Arguments: args}
	if args[asks] != nil { // ours, to say that the host shows progress
		more := map[string]any{}
		for k, v := range args {
			if k != asks {
				more[k] = v
			}
		}
		p.Arguments = more
		p.SetProgressToken(args[asks])
	}
	res, err := s.CallTool(ctx, p)
	if err != nil {
		return nil, err
	}
	return replyOf(t, res)
}

func replyOf(t *testing.T, res *mcp.CallToolResult) (*reply, error) {
	r := &reply{t: t, failed: res.IsError}
	for _, c := range res.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			r.text += c.Text
		case *mcp.ImageContent:
			if r.image != nil || c.MIMEType != "image/png" {
				return nil, fmt.Errorf("a second image, or one that is %s", c.MIMEType)
			}
			r.image = c.Data
		default:
			return nil, fmt.Errorf("content of the type %T", c)
		}
	}
	if res.StructuredContent == nil {
		return r, nil
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(data, &r.fields)
}

// field returns a text of the structured half, "" where it has none.
func (r *reply) field(name string) string {
	s, _ := r.fields[name].(string)
	return s
}

// code is the refusal's, "" where the call was done.
func (r *reply) code() string {
	if !r.failed {
		return ""
	}
	return r.field("code")
}

// refused requires a refusal with that code, its sentence and its next step in
// both halves (BX07), and returns it.
func (r *reply) refused(code string) *reply {
	r.t.Helper()
	require.True(r.t, r.failed, "done, where %s was due: %v", code, r.fields)
	require.Equal(r.t, code, r.field("code"), "%s", r.text)
	next, sentence := r.field("next"), r.field("message")
	require.Contains(r.t, []string{"stop", "ask_person", "retry_same", "capture_again", "inspect"}, next)
	require.NotEmpty(r.t, sentence)
	require.NotContains(r.t, sentence, "%!")
	for _, part := range []string{sentence, code, next} {
		require.Contains(r.t, r.text, part)
	}
	require.Nil(r.t, r.image)
	return r
}

// done requires an act that was done.
func (r *reply) done() *reply {
	r.t.Helper()
	require.False(r.t, r.failed, "%s", r.text)
	require.Equal(r.t, "done", r.field("status"))
	return r
}

// notDone requires an answer that does not say the act was done: a new ask, or
// a snapshot that is not to be used any more.
func (r *reply) notDone() *reply {
	r.t.Helper()
	require.True(r.t, r.failed, "%v", r.fields)
	require.Contains(r.t, []string{"approval_required", "approval_denied", "approval_expired", "stale_snapshot", "stale_token"}, r.code())
	return r
}

// A shot is a capture as the agent got it.
type shot struct {
	*reply
	raw []byte // of the reply, as it stood on the pipe
}

// capture captures the window, which must succeed.
func (h *host) capture(w window, more ...any) *shot {
	h.t.Helper()
	before := len(h.raw.bytes())
	r := h.call("get_window_state", w.args(more...))
	require.False(h.t, r.failed, "%s\nstderr: %s", r.text, h.notes.bytes())
	return &shot{reply: r, raw: h.raw.bytes()[before:]}
}

// An element is one that the agent sees.
type element struct {
	Index int                       `json:"element_index"`
	Token string                    `json:"element_token"`
	Role  string                    `json:"role"`
	Label string                    `json:"label"`
	Value string                    `json:"value"`
	Level string                    `json:"level"`
	Frame *struct{ X, Y, W, H int } `json:"screenshot_frame"`
}

// place is where the element lies on the picture.
func (e element) place() image.Rectangle {
	if e.Frame == nil {
		return image.Rectangle{}
	}
	return image.Rect(e.Frame.X, e.Frame.Y, e.Frame.X+e.Frame.W, e.Frame.Y+e.Frame.H)
}

func (s *shot) elements() []element {
	s.t.Helper()
	data, err := json.Marshal(s.fields["elements"])
	require.NoError(s.t, err)
	var all []element
	require.NoError(s.t, json.Unmarshal(data, &all))
	return all
}

// element returns the only one of that role and label.
func (s *shot) element(role, label string) element {
	s.t.Helper()
	var found []element
	for _, e := range s.elements() {
		if e.Role == role && e.Label == label {
			found = append(found, e)
		}
	}
	require.Len(s.t, found, 1, "%s %q in\n%s", role, label, s.text)
	return found[0]
}

// token returns that element's.
func (s *shot) token(role, label string) string {
	s.t.Helper()
	return s.element(role, label).Token
}

// picture decodes the capture's image.
func (s *shot) picture() image.Image {
	s.t.Helper()
	require.NotNil(s.t, s.image)
	m, err := png.Decode(bytes.NewReader(s.image))
	require.NoError(s.t, err)
	require.EqualValues(s.t, s.fields["screenshot_width"], m.Bounds().Dx())
	require.EqualValues(s.t, s.fields["screenshot_height"], m.Bounds().Dy())
	return m
}

// hides requires that none of texts stands in any byte of the reply, and that
// the tree is the one that we write.
func (s *shot) hides(texts ...string) {
	s.t.Helper()
	require.Greater(s.t, len(s.raw), len(s.text), "the bytes on the pipe")
	require.Contains(s.t, string(s.raw), `"tree_markdown"`)
	for _, text := range texts {
		require.NotContains(s.t, strings.ToLower(string(s.raw)), strings.ToLower(text))
		escaped, err := json.Marshal(text)
		require.NoError(s.t, err)
		require.NotContains(s.t, string(s.raw), strings.Trim(string(escaped), `"`))
	}
	tree := s.field("tree_markdown")
	require.Equal(s.t, s.text, tree)
	require.Contains(s.t, tree, "covered by the person; don't guess")
}

// flat requires one colour in all of r.
func flat(t *testing.T, m image.Image, r image.Rectangle) {
	t.Helper()
	require.False(t, r.Empty())
	require.True(t, r.In(m.Bounds()), "%v in %v", r, m.Bounds())
	require.Equal(t, 1, colours(m, r), "colours in %v", r)
}

// colours counts the colours in r.
func colours(m image.Image, r image.Rectangle) int {
	seen := map[[4]uint32]bool{}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			var c [4]uint32
			c[0], c[1], c[2], c[3] = m.At(x, y).RGBA()
			seen[c] = true
		}
	}
	return len(seen)
}

// A waiting is a call that has been made and not answered yet.
type waiting struct {
	t      *testing.T
	cancel context.CancelFunc
	answer chan *reply // closed without a value where the call failed
	err    error
}

// start makes a call that may wait.
func (h *host) start(tool string, args map[string]any) *waiting {
	ctx, cancel := context.WithCancel(context.Background())
	w := &waiting{t: h.t, cancel: cancel, answer: make(chan *reply, 1)}
	go func() {
		defer cancel()
		defer close(w.answer)
		r, err := h.try(ctx, tool, args)
		if err != nil {
			w.err = err
			return
		}
		w.answer <- r
	}()
	return w
}

// wait returns the answer.
func (w *waiting) wait() *reply {
	w.t.Helper()
	r, ok := <-w.answer
	require.True(w.t, ok, "the call failed: %v", w.err)
	return r
}

// failed waits for the call to fail as a request.
func (w *waiting) failed() {
	w.t.Helper()
	r, ok := <-w.answer
	require.False(w.t, ok, "%v", r)
}

// asks waits until the call stands before the person.
func (w *waiting) asks(d *desk, before ...string) card {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, c := range d.pending() {
			if !contains(before, c.ID) {
				return c
			}
		}
		select {
		case r := <-w.answer:
			require.NoError(w.t, w.err)
			require.Fail(w.t, "answered without an ask", "%s", r.text)
		default:
		}
	}
	require.Fail(w.t, "no ask comes before the person")
	return card{}
}
