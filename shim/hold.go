package shim

import (
	"context"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// How long a question is waited for within one call (D34).
const (
	holdUnknown  = 4 * time.Second  // a host that may give up at any time
	holdProgress = 45 * time.Second // a host that is told how it goes
	beat         = 2 * time.Second  // between two notes of progress
)

// limits are how long hosts are known to wait for a reply, by the beginning of
// the name they give; five seconds less is what a question may take. Source:
// the hosts' own documentation and public reports, not measured here.
var limits = map[string]time.Duration{
	"codex":      60 * time.Second,
	"claude-ai":  60 * time.Second,
	"hermes":     30 * time.Second,
	"openai-age": 5 * time.Second,
}

// hold bounds how long the call may wait for the person, and reports progress
// where the host asked for it.
func (s *server) hold(ctx context.Context, req *mcp.CallToolRequest) (context.Context, context.CancelFunc) {
	token := req.Params.GetProgressToken()
	limit := holdUnknown
	if token != nil {
		limit = holdProgress
	}
	name := strings.ToLower(agent(req.Session))
	for prefix, l := range limits {
		if strings.HasPrefix(name, prefix) {
			limit = l - 5*time.Second
		}
	}
	ctx, stop := context.WithCancel(permissioncanvas.Hold(ctx, limit))
	if token != nil {
		go s.report(ctx, req, token)
	}
	return ctx, stop
}

// report tells the host that the call goes on, until it is answered.
func (s *server) report(ctx context.Context, req *mcp.CallToolRequest, token any) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for n := 1.0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: n, Message: "Working, or waiting for the person: " + req.Params.Name,
		})
		if err != nil {
			return
		}
	}
}
