package drivertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Script is what a lying server of MCP on standard streams does. It is JSON,
// so that it reaches another process.
type Script struct {
	Name     string            // its own name; "": cua-driver
	Version  string            // "": 0.37.0
	Protocol string            // the MCP version it answers; "": the one it was asked for
	Tools    []json.RawMessage // what it lists; nil: the tools it has an answer to

	// Answers by the tool's name, or by the method's where it is not
	// tools/call. The nth call gets the nth answer, later ones the last. What
	// is not here is answered honestly, as PlausibleResult has it.
	Answers map[string][]Answer
}

// Answer is how one call is answered.
type Answer struct {
	Mode    Mode
	Result  json.RawMessage `json:",omitempty"` // nil: the honest one
	Error   json.RawMessage `json:",omitempty"` // a JSON-RPC error in the place of a result
	Func    string          // the name of a Func that makes the result
	DelayMS int             // how long it waits before anything of the answer
	Size    int             // bytes of a Huge line; 0: 70 MB
}

// Mode is what is wrong with an answer.
type Mode string

// The modes. The zero Mode is honest.
const (
	ModeNever      Mode = "never"       // no answer
	ModeTwice      Mode = "twice"       // the same answer two times
	ModeHuge       Mode = "huge"        // one line of 70 MB, or Size
	ModeEndless    Mode = "endless"     // a line that never ends, at 1 MB every 10 ms
	ModeGarbage    Mode = "garbage"     // a line that is not JSON, then the answer
	ModeShape      Mode = "shape"       // a result of the wrong shape
	ModeWrongID    Mode = "wrong_id"    // the answer to a call that was never made
	ModeStringID   Mode = "string_id"   // the right number as a string
	ModeDuplicate  Mode = "duplicate"   // an answer with a key in it twice
	ModeBatch      Mode = "batch"       // the answer within an array
	ModeNoise      Mode = "noise"       // unknown notifications and requests of its own, then the answer
	ModeNotUTF8    Mode = "not_utf8"    // an answer with a broken letter
	ModeDie        Mode = "die"         // the process ends
	ModeDieHalfway Mode = "die_halfway" // the process ends within the answer
	ModeStall      Mode = "stall"       // half the answer, and nothing more to any call
)

// A Func makes the result of a tools/call from its arguments in the serving
// process.
type Func func(tool string, args json.RawMessage) (result any)

// Child is a lying server as an executable.
type Child struct {
	Path string // to start, with any arguments
	log  string
}

const (
	scriptVariable = "PERMISSION_CANVAS_TEST_SCRIPT"
	logVariable    = "PERMISSION_CANVAS_TEST_LOG"
)

// Executable writes an executable that runs this very test binary as a server
// of script. It sets what it needs itself, so the caller may start it in an
// empty environment. The binary's TestMain begins with [Serve].
func Executable(t *testing.T, script Script) Child {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	data, err := json.Marshal(script)
	require.NoError(t, err)
	file, log := filepath.Join(dir, "script.json"), filepath.Join(dir, "received.log")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	path, text := filepath.Join(dir, "lying-driver"), strings.Join([]string{
		"#!/bin/sh", scriptVariable + "=" + quote(file), logVariable + "=" + quote(log),
		"export " + scriptVariable + " " + logVariable, "exec " + quote(self) + ` "$@"`, ""}, "\n")
	if runtime.GOOS == "windows" {
		path += ".cmd"
		text = strings.Join([]string{"@echo off", "set " + scriptVariable + "=" + file,
			"set " + logVariable + "=" + log, `"` + self + `" %*`, ""}, "\r\n")
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	return Child{Path: path, log: log}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// A Received is one line that the server read, in the order they came, over
// all its lives.
type Received struct {
	Method string          `json:"method"`
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Line   string          `json:"line,omitempty"` // where it was not a request or notification
}

// Received returns what the server has read so far.
func (c Child) Received(t *testing.T) []Received {
	t.Helper()
	data, err := os.ReadFile(c.log)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	var all []Received
	for line := range strings.Lines(string(data)) {
		var r Received
		if json.Unmarshal([]byte(line), &r) == nil {
			all = append(all, r)
		}
	}
	return all
}

// Calls returns how often a tool was called.
func (c Child) Calls(t *testing.T, tool string) int {
	t.Helper()
	n := 0
	for _, r := range c.Received(t) {
		if r.Method == "tools/call" && r.Tool == tool {
			n++
		}
	}
	return n
}

// Serve runs the server and ends the process where the process was started by
// an [Executable], and returns at once where not:
//
//	func TestMain(m *testing.M) {
//		drivertest.Serve(nil)
//		os.Exit(m.Run())
//	}
func Serve(funcs map[string]Func) {
	file := os.Getenv(scriptVariable)
	if file == "" {
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		os.Exit(3)
	}
	var script Script
	if err := json.Unmarshal(data, &script); err != nil {
		os.Exit(3)
	}
	log, err := os.OpenFile(os.Getenv(logVariable), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(3)
	}
	if err := ServeStdio(os.Stdin, os.Stdout, log, script, funcs); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}
