package shim

import (
	"context"
	"encoding/json"
	"image"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/strictjson"
	"github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// How long a question to the person is waited for within one request, in
// seconds.
const (
	usualWait = 25 // the shortest limit that a known host of this protocol has, less 5
	maxWait   = 600
)

// ordered says whether a request runs in its turn: it acts, or ends what
// earlier ones returned.
func (r lineRequest) ordered() bool {
	switch r.method {
	case "capture", "act":
		return true
	case "call":
		var p struct{ Name string }
		_ = json.Unmarshal(r.params, &p) // one that cannot be read is refused in its turn or out of it
		return permissioncanvas.IsAct(p.Name)
	}
	return false
}

// answer does what a request asks for.
func (s *lines) answer(ctx context.Context, req lineRequest) (any, error) {
	if err := ctx.Err(); err != nil { // given up while it waited for its turn
		return nil, err
	}
	desk, err := s.desk()
	if err != nil {
		return nil, err
	}
	switch req.method {
	case "list_windows":
		if err := decode(req.params, &struct{}{}); err != nil {
			return nil, err
		}
		return listWindows(ctx, desk)
	case "capture":
		return capture(ctx, desk, req.params)
	case "act":
		return act(ctx, desk, req.params)
	case "call":
		return call(ctx, desk, req.params)
	case "tools":
		if err := decode(req.params, &struct{}{}); err != nil {
			return nil, err
		}
		return tools(ctx, desk)
	}
	return nil, bad("There is no such method. Use list_windows, capture, act, call, tools, cancel or close.")
}

// decode reads params strictly; none are an empty object.
func decode(params json.RawMessage, into any) error {
	if params == nil {
		return nil
	}
	if params[0] != '{' {
		return bad("The params are one JSON object.")
	}
	if err := strictjson.Decode(params, into); err != nil {
		return bad("The params cannot be used: " + err.Error() + ".")
	}
	return nil
}

// rectangle is a place, in pixels.
type rectangle struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"width"`
	H int `json:"height"`
}

func rectangleOf(r image.Rectangle) rectangle {
	return rectangle{r.Min.X, r.Min.Y, r.Dx(), r.Dy()}
}

// windowLine is a window as the agent may know it.
type windowLine struct {
	PID    int       `json:"pid"`
	ID     uint64    `json:"window_id"`
	App    string    `json:"app"`
	Title  string    `json:"title"`
	Bounds rectangle `json:"bounds"`
}

func windowOf(w permissioncanvas.Window) windowLine {
	return windowLine{w.Ref.PID, w.Ref.ID, w.App, w.Title, rectangleOf(w.Bounds)}
}

func listWindows(ctx context.Context, desk Desk) (any, error) {
	all, err := desk.ListWindows(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]windowLine, 0, len(all))
	for _, w := range all {
		list = append(list, windowOf(w))
	}
	return struct {
		Windows []windowLine `json:"windows"`
	}{list}, nil
}

// picture is an image in a reply.
type picture struct {
	Type   string `json:"mime_type"`
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
	Data   []byte `json:"data"` // as base64
}

// elementLine is an element as the agent may know it.
type elementLine struct {
	Index  int                    `json:"index"`
	Token  permissioncanvas.Token `json:"token"`
	Parent *int                   `json:"parent,omitempty"`
	Role   string                 `json:"role"`
	Label  string                 `json:"label,omitempty"`
	Value  string                 `json:"value,omitempty"`
	Level  permissioncanvas.Level `json:"level"`
	Bounds *rectangle             `json:"bounds,omitempty"` // in the image
}

// captureReply is what capture returns.
type captureReply struct {
	Window   windowLine    `json:"window"`
	Text     string        `json:"text"`
	Elements []elementLine `json:"elements"`
	Covered  int           `json:"covered"`
	Expires  string        `json:"expires_at"`
	Image    *picture      `json:"image,omitempty"`
}

func capture(ctx context.Context, desk Desk, params json.RawMessage) (any, error) {
	var p struct {
		PID         int    `json:"pid"`
		ID          uint64 `json:"window_id"`
		NoImage     bool   `json:"no_image"`
		MaxSide     int    `json:"max_side"`
		MaxElements int    `json:"max_elements"`
		Query       string `json:"query"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	obs, err := desk.Capture(ctx, permissioncanvas.WindowRef{PID: p.PID, ID: p.ID}, &permissioncanvas.CaptureOptions{
		NoImage: p.NoImage, MaxSide: p.MaxSide, MaxElements: p.MaxElements, Query: p.Query,
	})
	if err != nil {
		return nil, err
	}
	reply := captureReply{
		Window: windowOf(obs.Window()), Text: obs.Text(), Covered: obs.Covered(), Elements: []elementLine{},
		Expires: obs.Expires().UTC().Format(time.RFC3339),
	}
	for e := range obs.Elements() {
		line := elementLine{Index: e.Index, Token: e.Token, Role: e.Role, Label: e.Label, Value: e.Value, Level: e.Level}
		if e.Parent >= 0 {
			line.Parent = &e.Parent
		}
		if !e.Bounds.Empty() {
			r := rectangleOf(e.Bounds)
			line.Bounds = &r
		}
		reply.Elements = append(reply.Elements, line)
	}
	if png := obs.PNG(); png != nil {
		reply.Image = &picture{"image/png", obs.Size().X, obs.Size().Y, png}
	}
	return reply, nil
}

func call(ctx context.Context, desk Desk, params json.RawMessage) (any, error) {
	p := struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Wait      int             `json:"wait"`
	}{Wait: usualWait}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	ctx, err := waiting(ctx, p.Wait)
	if err != nil {
		return nil, err
	}
	res, err := desk.Call(ctx, p.Name, p.Arguments)
	if err != nil {
		return nil, err
	}
	reply := struct {
		Text       string   `json:"text"`
		Structured any      `json:"structured,omitempty"`
		Image      *picture `json:"image,omitempty"`
	}{Text: res.Text, Structured: res.Structured}
	if res.Image != nil {
		reply.Image = &picture{Type: "image/png", Data: res.Image}
	}
	return reply, nil
}

// waiting bounds how long the person is waited for.
func waiting(ctx context.Context, seconds int) (context.Context, error) {
	if seconds < 0 || seconds > maxWait {
		return nil, bad("Wait is a number of seconds from 0 to 600.")
	}
	return permissioncanvas.Hold(ctx, time.Duration(seconds)*time.Second), nil
}

func tools(ctx context.Context, desk Desk) (any, error) {
	all, err := desk.Tools(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]json.RawMessage, 0, len(all))
	for _, t := range all {
		list = append(list, t.Raw)
	}
	return struct {
		Tools []json.RawMessage `json:"tools"`
	}{list}, nil
}
