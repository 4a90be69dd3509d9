package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/driver/desktop"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// streams are where a call reads and writes.
type streams struct {
	in       *os.File
	out, err io.Writer
}

// A call is one run of pc.
type call struct {
	streams
	ctx   context.Context
	args  *arguments
	words []string // after the verb
	desk  *control.Desk
	json  bool
}

// errSaid is a refusal whose reason is printed already.
var errSaid = errors.New("refused")

// run does what the command line says and returns the exit code.
func run(ctx context.Context, line []string, s streams) int {
	args, err := parse(line)
	c := &call{streams: s, ctx: ctx, args: args, json: args.has("json")}
	if err == nil && (args.has("help") || len(args.words) > 0 && args.words[0] == "help") {
		fmt.Fprint(c.out, help())
		return 0
	}
	if err == nil {
		err = c.do()
	}
	var wrong *usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSaid):
		return 1
	}
	c.fail(err)
	if errors.As(err, &wrong) {
		fmt.Fprintln(c.err, "`pc help` says more.")
		return 2
	}
	return 1
}

func (c *call) do() error {
	v, rest, err := find(c.args.words)
	if err != nil {
		return err
	}
	if err := c.args.refuseExcept(v.flags); err != nil {
		return err
	}
	c.words = rest
	dir, err := control.Dir(c.args.get("data-dir"), c.args.get("home"), os.Getenv)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.err, "Profile:", plain(dir))
	c.desk, err = control.Open(dir, &control.Options{By: c.who()})
	if err != nil {
		return err
	}
	defer c.desk.Close()
	if v.looks != looksNever && !c.args.has("match") {
		closeDriver, err := c.openDriver()
		if err != nil && v.looks == looksAlways {
			return err
		}
		if err != nil {
			c.say("No driver: %s.", plain(err.Error()))
		}
		defer closeDriver()
	}
	return v.run(c)
}

// openDriver gives the desk the driver that --driver names.
func (c *call) openDriver() (closeDriver func(), err error) {
	name := c.args.get("driver")
	if name == "sim" {
		d := sim.New(nil)
		c.desk.Attach(d)
		return func() { d.Close() }, nil
	}
	if name == "cua" {
		name = ""
	}
	path, how, err := desktop.Find(name, nil, c.desk.Dir())
	if err != nil {
		return func() {}, fmt.Errorf("%w; install cua-driver, or name it with --driver PATH", err)
	}
	c.say("Driver: %s (%s)", plain(path), plain(how))
	d := desktop.Open(path, &desktop.Options{Name: "pc", PolicyFile: c.desk.WriteDriverPolicy, Env: c.display()})
	c.desk.Attach(d)
	return func() { d.Close() }, nil
}

// display is the environment of the desktop that an agent drives, where this
// process has none of its own, as over SSH.
func (c *call) display() []string {
	if os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" {
		return nil
	}
	sessions, _ := c.desk.Sessions() // what cannot be read is not there to be used
	for _, s := range sessions {
		if s.Display != "" || s.Wayland != "" {
			c.say("Using the desktop of %s (%s).", quote(s.Agent), plain(s.Display+s.Wayland))
			return s.Environ()
		}
	}
	if runtime.GOOS == "linux" {
		c.say("DISPLAY is not set and no agent runs here, so there is no desktop to look at: set DISPLAY.")
	}
	return nil
}

// who acts, as records and pauses name it.
func (c *call) who() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	where := "script"
	switch {
	case os.Getenv("SSH_CONNECTION") != "":
		where = "ssh"
	case c.onTerminal():
		where = "terminal"
	}
	if !utf8.ValidString(name) || len(name) > 40 || strings.TrimSpace(name) == "" {
		name = "person"
	}
	return name + "@" + where
}

// onTerminal reports whether a person types the answers of this call.
func (c *call) onTerminal() bool { return !c.json && c.in != nil && isTerminal(c.in) }

// line is the next line that the person types, "" when ctx ends first.
func (c *call) line(ctx context.Context) string {
	typed := make(chan string, 1)
	go func() { // outlives ctx only as long as this process does
		line, err := bufio.NewReader(c.in).ReadString('\n')
		if err != nil {
			line = ""
		}
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		return line
	case <-ctx.Done():
		fmt.Fprintln(c.err)
		return ""
	}
}
