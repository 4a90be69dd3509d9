// Command permission-canvas stands between an AI agent and a person's desktop.
//
//	permission-canvas mcp      serve an MCP host on stdin and stdout
//	permission-canvas init     make the profile, if there is none
//	permission-canvas check    say whether everything is in place
//
// It cannot approve, edit a rule or resume: that is `pc`, another program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/shim"
)

const usage = `Usage: permission-canvas COMMAND [flags]

  mcp      serve an MCP host on stdin and stdout, where cua-driver mcp stood
  init     make the profile's directory and rules, if there are none
  check    say whether profile, rules, driver and record are in place
  version  print the version

Flags of every command:
  --home DIR      the profile's home; the data is in DIR/permission-canvas
  --data-dir DIR  the data directory itself
  --driver D      cua (found), sim (a simulated desktop), or a path
Of mcp:    --mode standard|unrestricted, --tiers FILE, --log FILE
Of check:  --json
`

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// settings are the flags of one call.
type settings struct {
	home, dataDir, driver, mode, tiers, manifest, log string
	json                                              bool
}

// run is main with its surroundings given. It returns the exit code: 0 done,
// 1 refused or failed, 2 usage.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return 2
	}
	name := args[0]
	switch name {
	case "-h", "--help", "help":
		fmt.Fprint(stdout, usage)
		return 0
	case "version", "--version":
		fmt.Fprintln(stdout, shim.Name, shim.Version)
		return 0
	case "mcp", "init", "check":
	default:
		fmt.Fprintf(stderr, "permission-canvas: no command %q\n\n%s", name, usage)
		return 2
	}
	s, err := parse(name, args[1:], stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch name {
	case "mcp":
		err = s.serve(ctx, stdin, stdout)
	case "init":
		err = s.init(stdout)
	default:
		var sound bool
		sound, err = s.check(ctx, stdout)
		if err == nil && !sound {
			return 1
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "permission-canvas:", explain(err))
		return 1
	}
	return 0
}

func parse(name string, args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("permission-canvas "+name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { fmt.Fprint(stderr, usage) }
	f.StringVar(&s.home, "home", "", "")
	f.StringVar(&s.dataDir, "data-dir", "", "")
	f.StringVar(&s.driver, "driver", "cua", "")
	switch name {
	case "mcp":
		f.StringVar(&s.mode, "mode", "", "")
		f.StringVar(&s.tiers, "tiers", "", "")
		f.StringVar(&s.manifest, "capability-manifest", "", "")
		f.StringVar(&s.log, "log", "", "")
	case "check":
		f.BoolVar(&s.json, "json", false, "")
	}
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		fmt.Fprintf(stderr, "permission-canvas %s takes no argument %q\n", name, f.Arg(0))
		return s, errors.New("usage")
	}
	return s, nil
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

// desktop returns the driver that a flag names, nil for the one that is found.
func (s *settings) desktop() (dr driver.Driver, command string) {
	switch s.driver {
	case "cua", "":
		return nil, ""
	case "sim":
		return sim.New(nil), ""
	}
	return nil, s.driver
}

// where is the home to give New: the explicit one, or the usual one.
func (s *settings) where() (string, error) {
	if s.home != "" || s.dataDir != "" {
		return s.home, nil
	}
	return permissioncanvas.DefaultHome()
}

// open opens the desktop for an agent.
func (s *settings) open(agent string, log *slog.Logger) (*permissioncanvas.Canvas, error) {
	home, err := s.where()
	if err != nil {
		return nil, err
	}
	dr, command := s.desktop()
	return permissioncanvas.New(home, &permissioncanvas.Options{
		Agent: agent, DataDir: s.dataDir, Mode: permissioncanvas.Mode(s.mode), Tiers: s.tiers, Manifest: s.manifest,
		Driver: dr, Command: command, Logger: log,
	})
}

// serve is `mcp`. Stdout is the protocol's alone.
func (s *settings) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	log := slog.New(slog.DiscardHandler)
	if s.log != "" {
		f, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		log = slog.New(slog.NewTextHandler(f, nil))
	}
	var desk *permissioncanvas.Canvas
	open := func(agent string) (permissioncanvas.Tools, error) {
		var err error
		if desk, err = s.open(agent, log); err != nil {
			return nil, err
		}
		return desk, nil
	}
	err := shim.ServeMCP(ctx, open, in, out, log)
	if desk != nil {
		err = errors.Join(err, desk.Close())
	}
	return err
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
	fmt.Fprintf(out, "Profile: %s\nThe person now runs `pc windows`, `pc select` and `pc resume`.\n", st.Dir)
	return nil
}
