// Command mcphost is an MCP host in small: it starts permission-canvas as its
// server, lists the windows, looks at the first one, clicks what it is told to,
// and does about each refusal what the refusal says.
//
//	go run ./examples/mcphost -click Save
//	go run ./examples/mcphost -server "$(which permission-canvas)" -click Save -- --driver sim
//
// What stands after -- goes to the server: --home, --data-dir, --driver.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const serverPackage = "github.com/permission-canvas/permission-canvas/shim/permission-canvas"

func main() {
	log.SetFlags(0)
	server := flag.String("server", "", "the permission-canvas executable; empty: go run")
	click := flag.String("click", "", "label of the control to click; empty: only look")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *server, flag.Args(), *click); err != nil {
		log.Fatal("mcphost: ", err)
	}
}

// host is one connection to one server.
type host struct {
	session *mcp.ClientSession
	out     io.Writer
}

// run is main with its surroundings given.
func run(ctx context.Context, out io.Writer, server string, args []string, click string) error {
	cmd := exec.CommandContext(ctx, server, append([]string{"mcp"}, args...)...)
	if server == "" {
		cmd = exec.CommandContext(ctx, "go", append([]string{"run", serverPackage, "mcp"}, args...)...)
	}
	cmd.Stderr = os.Stderr
	// The name stands on the person's cards and in her record.
	client := mcp.NewClient(&mcp.Implementation{Name: "mcphost", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	defer session.Close()
	h := &host{session, out}

	var list struct {
		Windows []window `json:"windows"`
		Others  int      `json:"other_windows"`
	}
	if err := h.call(ctx, "list_windows", nil, &list); err != nil {
		return h.tell(err)
	}
	h.say("%d of the person's %d windows are mine to use", len(list.Windows), len(list.Windows)+list.Others)
	if len(list.Windows) == 0 {
		return errors.New("the person has selected no window")
	}
	w := list.Windows[0]
	seen, err := h.look(ctx, w)
	if err != nil {
		return h.tell(err)
	}
	h.say("%s", seen.Tree)
	if click == "" {
		return nil
	}
	return h.click(ctx, w, seen, click)
}

// window is what a call needs to name one.
type window struct {
	PID   int    `json:"pid"`
	ID    uint64 `json:"window_id"`
	App   string `json:"app_name"`
	Title string `json:"title"`
}

// view is the part of a capture that this host uses. The picture, which a model
// would want, stands in the reply's content.
type view struct {
	Tree     string `json:"tree_markdown"`
	Elements []struct {
		Token string `json:"element_token"`
		Role  string `json:"role"`
		Label string `json:"label"`
		Level string `json:"level"`
	} `json:"elements"`
}

// token is the control called label, "" where there is none.
func (v view) token(label string) string {
	for _, e := range v.Elements {
		if e.Label == label && (e.Role == "button" || e.Role == "link" || e.Role == "checkbox" || e.Role == "menuitem") {
			return e.Token
		}
	}
	return ""
}

func (h *host) look(ctx context.Context, w window) (view, error) {
	var v view
	err := h.call(ctx, "get_window_state", map[string]any{"pid": w.PID, "window_id": w.ID}, &v)
	return v, err
}

// rounds is how often a host may begin anew before it leaves it.
const rounds = 3

// click clicks label, and lets each refusal's next decide how it goes on.
func (h *host) click(ctx context.Context, w window, seen view, label string) error {
	delivery := "background"
	for range rounds {
		token := seen.token(label)
		if token == "" {
			return fmt.Errorf("there is no control %q in what may be seen", label)
		}
		args := map[string]any{"pid": w.PID, "window_id": w.ID, "element_token": token, "delivery_mode": delivery}
		err := h.patiently(ctx, "click", args)
		if err == nil {
			h.say("clicked %q", label)
			return nil
		}
		refused, ok := errors.AsType[*refusal](err)
		if !ok {
			return err
		}
		switch refused.Next {
		case "capture_again": // what was seen is old: look, and decide afresh
			h.say("%s", refused.Message)
			if refused.Escalation.Recommended != "" {
				delivery = refused.Escalation.Recommended
			}
		case "inspect": // it may have happened: look, and never repeat it
			h.say("%s", refused.Message)
			if seen, err = h.look(ctx, w); err == nil {
				h.say("%s", seen.Tree)
			}
			return err
		default: // stop, ask_person, and any word this host does not know
			return h.tell(err)
		}
		if seen, err = h.look(ctx, w); err != nil {
			return h.tell(err)
		}
	}
	return fmt.Errorf("%q could not be clicked in %d rounds", label, rounds)
}

// patiently repeats the identical call while the person is asked. No capture
// may stand in between: that would withdraw the ask.
func (h *host) patiently(ctx context.Context, tool string, args map[string]any) error {
	for {
		err := h.call(ctx, tool, args, nil)
		refused, ok := errors.AsType[*refusal](err)
		if !ok || refused.Next != "retry_same" {
			return err
		}
		h.say("%s", refused.Message)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// refusal is what the server says where it does not do a thing. Message is
// fixed text and goes to the model as it is.
type refusal struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	Next     string `json:"next"`
	Approval struct {
		ID      string `json:"id"`
		Expires string `json:"expires_at"`
		Command string `json:"person_command"`
	} `json:"approval"`
	// Escalation comes with background_unavailable: the way that works.
	Escalation struct {
		Recommended string `json:"recommended"`
	} `json:"escalation"`
}

func (r *refusal) Error() string { return r.Message + " (" + r.Code + ", next: " + r.Next + ")" }

// call calls a tool and reads the structured half of its answer into v.
func (h *host) call(ctx context.Context, tool string, args map[string]any, v any) error {
	res, err := h.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err // the connection, not an answer
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return err
	}
	if res.IsError {
		r := &refusal{}
		if err := json.Unmarshal(data, r); err != nil || r.Code == "" {
			return fmt.Errorf("%s: an error that cannot be read", tool)
		}
		return r
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(data, v)
}

// tell shows the person a refusal that only she can change, and ends.
func (h *host) tell(err error) error {
	if refused, ok := errors.AsType[*refusal](err); ok && refused.Next == "ask_person" {
		h.say("For the person: %s", refused.Message)
	}
	return err
}

func (h *host) say(format string, args ...any) { fmt.Fprintf(h.out, format+"\n", args...) }
