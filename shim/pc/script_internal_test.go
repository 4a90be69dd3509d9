package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/permission-canvas/permission-canvas/approval"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/profile"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pc": main, "pc-approve": main})
}

// Each script runs pc as a person does, on the simulated desktop, for the
// profile in $DATA.
func TestPC(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("DATA", filepath.Join(e.WorkDir, "config", "permission-canvas"))
			e.Setenv("USER", "ada")
			path, err := exec.LookPath("pc")
			e.Setenv("PC", path)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ask": agentAsks, "state": asksState, "field": hasField, "session": agentSession, "code": exits,
			"nowhere": isNowhere, "asleep": sleeps, "record": records, "tamper": tampers,
		},
		RequireUniqueNames: true,
	})
}

// agentAsks is an agent that asks: its arguments are name=value of the ask's fields.
// The id goes to $ID.
func agentAsks(ts *testscript.TestScript, _ bool, args []string) {
	s, err := approval.Open(filepath.Join(ts.Getenv("DATA"), "approvals"), nil)
	ts.Check(err)
	a := approval.Ask{
		Digest: strings.Repeat("ab", 32), Session: "s1", Agent: "claude-code", Verb: "CLICK", Target: "button Save",
		Window: "sim-console", Place: "Admin Console", Arguments: `{"count":1}`,
	}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		if name != "arguments" {
			value = strings.NewReplacer(`\n`, "\n", `\e`, "\x1b", `\r`, "\u202e").Replace(value)
		}
		switch name {
		case "digest":
			a.Digest = strings.Repeat(value, 32)
		case "same":
			a.Same = value
		case "target":
			a.Target = value
		case "place":
			a.Place = value
		case "agent":
			a.Agent = value
		case "arguments":
			a.Arguments = value
		case "verb":
			a.Verb = value
		case "delivery":
			a.Delivery = value
		default:
			ts.Fatalf("no field %q", name)
		}
	}
	p, err := s.Request(context.Background(), a)
	ts.Check(err)
	ts.Setenv("ID", p.ID)
}

// asksState fails unless the ask $ID is in this state.
func asksState(ts *testscript.TestScript, _ bool, args []string) {
	s, err := approval.Open(filepath.Join(ts.Getenv("DATA"), "approvals"), nil)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	got, _ := s.Wait(ctx, ts.Getenv("ID")) // pending, where the time is over
	if string(got) != args[0] {
		ts.Fatalf("the ask is %s, not %s", got, args[0])
	}
}

// hasField compares a member of the JSON document on the last standard output
// with a text: field windows.0.title 'Admin Console'.
func hasField(ts *testscript.TestScript, neg bool, args []string) {
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc))
	at := doc
	for _, key := range strings.Split(args[0], ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(v) {
				ts.Fatalf("no %s in %s", args[0], ts.ReadFile("stdout"))
			}
			at = v[i]
		default:
			ts.Fatalf("no %s in %s", args[0], ts.ReadFile("stdout"))
		}
	}
	if got := fmt.Sprint(at); (got == args[1]) == neg {
		ts.Fatalf("%s is %q", args[0], got)
	}
}

// agentSession is an agent on another display, until the script ends.
func agentSession(ts *testscript.TestScript, _ bool, args []string) {
	p, err := profile.Open(ts.Getenv("DATA"))
	ts.Check(err)
	remove, err := p.WriteSession(profile.Session{Agent: args[0], PID: os.Getpid(), Started: time.Now(), Display: args[1]})
	ts.Check(err)
	ts.Defer(func() { ts.Check(remove()) })
}

// exits fails unless a command exits with this code: code 2 pc frob.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	var exit *exec.ExitError
	got := 0
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, not %s", got, args[0])
	}
}
