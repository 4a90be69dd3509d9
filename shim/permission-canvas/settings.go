package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// errHelp: help was asked for and given.
var errHelp = errors.New("help")

// settings are the flags and arguments of one call.
type settings struct {
	home, dataDir, driver     string
	mode, capabilities, tiers string
	log, agent                string
	json, jsonl, pretty       bool
	tool, arguments           string // of call
}

// parse reads a command's flags. What it does not understand it has said.
func parse(name string, args []string, stderr io.Writer) (*settings, error) {
	s := &settings{}
	f := flag.NewFlagSet("permission-canvas "+name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { fmt.Fprint(stderr, usage) }
	if !s.flags(f, name) {
		fmt.Fprintf(stderr, "permission-canvas: no command %q\n\n%s", name, usage)
		return nil, errUsage
	}
	var arguments []string
	for { // flags may stand behind arguments too
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, errHelp
			}
			return nil, errUsage
		}
		if f.NArg() == 0 {
			break
		}
		arguments, args = append(arguments, f.Arg(0)), f.Args()[1:]
	}
	if err := s.positional(name, arguments); err != nil {
		fmt.Fprintf(stderr, "permission-canvas %s: %v\n", name, err)
		return nil, errUsage
	}
	s.narrow(os.Getenv)
	return s, nil
}

// flags defines a command's. It is false for an unknown command.
func (s *settings) flags(f *flag.FlagSet, name string) bool {
	commands := []string{"mcp", "serve", "call", "check", "init", "manifest", "check-update"}
	if !slices.Contains(commands, name) {
		return false
	}
	if name != "check-update" {
		f.StringVar(&s.home, "home", "", "")
		f.StringVar(&s.dataDir, "data-dir", "", "")
		f.StringVar(&s.driver, "driver", "cua", "")
	}
	if slices.Contains(commands[:4], name) {
		f.StringVar(&s.mode, "mode", "", "")
		f.StringVar(&s.tiers, "tiers", "", "")
		f.StringVar(&s.capabilities, "capability-manifest", "", "")
	}
	switch name {
	case "mcp":
		f.StringVar(&s.log, "log", "", "")
	case "serve":
		f.StringVar(&s.log, "log", "", "")
		f.StringVar(&s.agent, "agent", "a host's plugin", "")
		f.BoolVar(&s.jsonl, "jsonl", false, "")
	case "check", "check-update":
		f.BoolVar(&s.json, "json", false, "")
	case "manifest":
		f.BoolVar(&s.pretty, "pretty", false, "")
		f.BoolVar(&s.pretty, "p", false, "")
	}
	return true
}

// positional reads what stands behind the flags.
func (s *settings) positional(name string, args []string) error {
	if name == "call" {
		if len(args) == 0 {
			return errors.New("name a tool, as in call list_windows")
		}
		s.tool, args = args[0], args[1:]
		if len(args) > 0 {
			s.arguments, args = args[0], args[1:]
		}
	}
	if len(args) > 0 {
		return fmt.Errorf("no argument %q", args[0])
	}
	if name == "serve" && !s.jsonl {
		return errors.New("say --jsonl; there is no other form")
	}
	return nil
}

// narrow takes from the environment what a host set for the driver in our
// place: a variable may narrow what a session can do and never widen it, so
// no other mode is read there, and no bypass.
func (s *settings) narrow(env func(string) string) {
	if s.mode == "" && env("CUA_DRIVER_PERMISSION_MODE") == string(permissioncanvas.Bounded) {
		s.mode = string(permissioncanvas.Bounded)
	}
	for _, name := range []string{"CUA_DRIVER_CAPABILITY_MANIFEST_FILE", "CUA_DRIVER_SESSION_POLICY_FILE"} {
		if s.capabilities == "" {
			s.capabilities = env(name)
		}
	}
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
		Agent: agent, DataDir: s.dataDir, Mode: permissioncanvas.Mode(s.mode), Tiers: s.tiers, Manifest: s.capabilities,
		Driver: dr, Command: command, Logger: log,
	})
}

// again returns the flags by which another process finds the same profile and
// desktop.
func (s *settings) again() []string {
	var args []string
	if s.home != "" {
		args = append(args, "--home", s.home)
	}
	if s.dataDir != "" {
		args = append(args, "--data-dir", s.dataDir)
	}
	if s.driver != "" && s.driver != "cua" {
		args = append(args, "--driver", s.driver)
	}
	return args
}
