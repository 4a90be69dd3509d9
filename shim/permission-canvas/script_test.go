package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Each script runs permission-canvas as a person or a host's plugin does, on
// the simulated desktop, for the profile in $DATA. UPDATE_SCRIPTS=1 writes
// what they print into the files that they compare it with.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			for _, v := range cleanEnv() {
				if name, value, _ := strings.Cut(v, "="); name == "SystemRoot" || name == "PATHEXT" {
					e.Setenv(name, value)
				}
			}
			e.Setenv("PATH", filepath.Dir(canvasProgram)+string(filepath.ListSeparator)+e.Getenv("PATH"))
			e.Setenv("DATA", filepath.Join(e.WorkDir, "data"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("USER", "ada")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": exits, "field": hasField, "talk": talk,
		},
		RequireUniqueNames: true,
		UpdateScripts:      os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// exits fails unless a command exits with this code: code 2 permission-canvas.
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

// hasField compares a member of the JSON document on the last standard output
// with a text: field mcp_invocation.args.0 mcp.
func hasField(ts *testscript.TestScript, neg bool, args []string) {
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &at))
	for _, key := range strings.Split(args[0], ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(v) {
				ts.Fatalf("no %s", args[0])
			}
			at = v[i]
		default:
			ts.Fatalf("no %s", args[0])
		}
	}
	if got := fmt.Sprint(at); (got == args[1]) == neg {
		ts.Fatalf("%s is %q", args[0], got)
	}
}

// talk is a plugin that has a conversation with a server: talk FILE TRANSCRIPT
// PROGRAM ARGS... Of FILE each line is a request, whose answer is awaited; one
// that begins with & is not awaited, $token{button Save} is that of an element
// of the last capture and $ask the last ask's id; a line "pc ..." is what the
// person does meanwhile. What passes is written to TRANSCRIPT, with what
// differs from run to run made the same.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command(args[2], args[3:]...)
	path, err := exec.LookPath(filepath.Join(filepath.Dir(canvasProgram), args[2]))
	ts.Check(err)
	cmd.Path, cmd.Err, cmd.Dir = path, nil, ts.Getenv("WORK")
	for _, name := range []string{"PATH", "HOME", "USER", "SystemRoot", "PERMISSION_CANVAS_INNER"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	defer cmd.Process.Kill()
	c := conversation{ts: ts, answers: bufio.NewReader(out)}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		line = strings.TrimSpace(line)
		switch rest, early := strings.CutPrefix(line, "& "); {
		case line == "" || strings.HasPrefix(line, "#"):
			c.transcript.WriteString(line + "\n")
		case strings.HasPrefix(line, "pc "):
			c.transcript.WriteString("$ " + line + "\n")
			ts.Check(ts.Exec("pc", append(strings.Fields(c.filled(line))[1:], "--data-dir", ts.Getenv("DATA"), "--driver", "sim")...))
		default:
			fmt.Fprintln(in, c.filled(rest))
			c.transcript.WriteString("> " + rest + "\n")
			if !early {
				c.hear()
			}
		}
	}
	ts.Check(in.Close())
	for c.hear() {
	}
	ts.Check(cmd.Wait())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(c.transcript.String()), 0o600))
}

// A conversation is what was said so far.
type conversation struct {
	ts         *testscript.TestScript
	answers    *bufio.Reader
	transcript strings.Builder
	captured   struct {
		Elements []struct{ Token, Role, Label string }
	}
	ask string
}

// tokens is how a request names an element before its token is known.
var tokens = regexp.MustCompile(`\$token\{([a-z]+) ([^}]*)\}`)

func (c *conversation) filled(line string) string {
	line = strings.ReplaceAll(line, "$ask", c.ask)
	return tokens.ReplaceAllStringFunc(line, func(name string) string {
		parts := tokens.FindStringSubmatch(name)
		for _, e := range c.captured.Elements {
			if e.Role == parts[1] && e.Label == parts[2] {
				return e.Token
			}
		}
		c.ts.Fatalf("no element %s", name)
		return ""
	})
}

// changing is what differs from run to run, and what stands for it.
var changing = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`"s[0-9a-f]{8}:`), `"s00000000:`},
	{regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z`), `2026-01-01T00:00:00Z`},
	{regexp.MustCompile(`open until [0-9:]{8}`), `open until 00:00:00`},
	{regexp.MustCompile(`"data":"[^"]*"`), `"data":"(a PNG in base64)"`},
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), `9f3c2a7704d1be58`},
}

// hear reads an answer. It is false at the end.
func (c *conversation) hear() bool {
	line, err := c.answers.ReadBytes('\n')
	if err != nil {
		return false
	}
	var frame struct {
		Result json.RawMessage
		Error  struct{ Approval struct{ ID string } }
	}
	c.ts.Check(json.Unmarshal(line, &frame))
	if bytes.Contains(frame.Result, []byte(`"elements"`)) {
		c.ts.Check(json.Unmarshal(frame.Result, &c.captured))
	}
	if id := frame.Error.Approval.ID; id != "" {
		c.ask = id
	}
	text := strings.ReplaceAll(string(line), c.ts.Getenv("WORK"), "$WORK")
	for _, ch := range changing {
		text = ch.what.ReplaceAllString(text, ch.as)
	}
	c.transcript.WriteString("< " + text)
	return true
}
