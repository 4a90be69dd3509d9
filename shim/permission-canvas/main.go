// Command permission-canvas stands between an AI agent and a person's desktop.
//
//	permission-canvas mcp             serve an MCP host on stdin and stdout
//	permission-canvas serve --jsonl   serve a host's plugin, one JSON object a line
//	permission-canvas call NAME JSON  answer one call that only looks
//	permission-canvas manifest        describe this executable for a host
//	permission-canvas init            make the profile, if there is none
//	permission-canvas check           say whether everything is in place
//
// It cannot approve, edit a rule or resume: that is `pc`, another program.
//
// # Guarantees
//
// Standard output of mcp and serve is the protocol's alone. What this process
// has read of a screen is not left to core dumps or debuggers of the same user
// (Linux). No network is used.
//
// Exit codes are 0 for done, 1 for refused or failed and 2 for a command that
// is not understood.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/shim"
)

const usage = `Usage: permission-canvas COMMAND [flags]

  mcp               serve an MCP host on stdin and stdout, where cua-driver mcp stood
  serve --jsonl     serve a host's plugin, one JSON object a line
  call NAME [JSON]  answer one call that only looks; to act, use mcp
  manifest          describe this executable, as hosts ask cua-driver
  init              make the profile's directory and rules, if there are none
  check             say whether profile, rules, driver and record are in place
  check-update      answer a host that asks; no network is used
  version           print the version

Where the profile and the desktop are (mcp, serve, call, manifest, init, check):
  --home DIR      the profile's home; the data is in DIR/permission-canvas
  --data-dir DIR  the data directory itself
  --driver D      cua (found), sim (a simulated desktop), or a path
What narrows the session (mcp, serve, call, check):
  --mode M                     standard, bounded or unrestricted: the driver's
                               permission mode. None relaxes a rule.
  --capability-manifest FILE   held to in every mode; bounded needs one
  --tiers FILE                 tiers for tools, under the person's own
Of mcp and serve:            --log FILE
Of serve:                    --agent NAME
Of check, check-update:      --json
Of manifest:                 --pretty
`

func main() {
	if err := harden(); err != nil {
		fmt.Fprintln(os.Stderr, "permission-canvas: this process cannot be closed to debuggers:", err)
		os.Exit(1)
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// errUsage: the command line is not understood, and that has been said.
var errUsage = errors.New("usage")

// errSaid: the command failed, and its output says why.
var errSaid = errors.New("refused")

// run is main with its surroundings given. It returns the exit code: 0 done,
// 1 refused or failed, 2 usage.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return 2
	}
	switch args[0] {
	case "-h", "--help", "help":
		fmt.Fprint(stdout, usage)
		return 0
	case "version", "--version":
		fmt.Fprintln(stdout, shim.Name, shim.Version)
		return 0
	}
	s, err := parse(args[0], args[1:], stderr)
	if err != nil {
		return code(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = s.do(ctx, args[0], stdin, stdout)
	if err != nil && !errors.Is(err, errSaid) {
		fmt.Fprintln(stderr, "permission-canvas:", explain(err))
	}
	return code(err)
}

// do runs a command that parse knows.
func (s *settings) do(ctx context.Context, name string, in io.Reader, out io.Writer) error {
	switch name {
	case "mcp":
		return s.mcp(ctx, in, out)
	case "serve":
		return s.lines(ctx, in, out)
	case "call":
		return s.call(ctx, out)
	case "manifest":
		return s.describe(out)
	case "check-update":
		return s.update(out)
	case "init":
		return s.init(out)
	}
	sound, err := s.check(ctx, out)
	if err == nil && !sound {
		err = errSaid
	}
	return err
}

func code(err error) int {
	switch {
	case err == nil, errors.Is(err, errHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	return 1
}

// explain is an error as the person reads it, with what the agent is not told.
func explain(err error) string {
	var e *permissioncanvas.Error
	if errors.As(err, &e) {
		if why := e.Detail(); why != "" {
			return e.Message + " (" + why + ")"
		}
	}
	return err.Error()
}

// init is `init`: New makes a profile that is not there, and reads one that
// is.
func (s *settings) init(out io.Writer) error {
	desk, err := s.open("init", nil)
	if err != nil {
		return err
	}
	defer desk.Close()
	st := desk.Status()
	if st.Policy != nil {
		return fmt.Errorf("%s: %w", st.Dir, st.Policy)
	}
	fmt.Fprintf(out, "Profile: %s\nThe person now runs `pc setup`.\n", st.Dir)
	return nil
}
