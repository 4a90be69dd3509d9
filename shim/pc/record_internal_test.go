package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/permission-canvas/permission-canvas/audit"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// isNowhere fails where a file of the profile holds one of the texts (BX05).
func isNowhere(ts *testscript.TestScript, _ bool, texts []string) {
	files := 0
	ts.Check(filepath.WalkDir(ts.Getenv("DATA"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) {
				ts.Fatalf("%s holds %q", path, text)
			}
		}
		return err
	}))
	if files == 0 {
		ts.Fatalf("there is no profile")
	}
}

// sleeps makes the rules that allow something be of a process that is gone, and
// adds one for a control that is gone too.
func sleeps(ts *testscript.TestScript, _ bool, args []string) {
	desk, err := control.Open(ts.Getenv("DATA"), nil)
	ts.Check(err)
	doc, err := desk.Rules()
	ts.Check(err)
	var gone control.Rule
	for _, r := range doc.Rules {
		if r.Level != control.LevelAllow {
			continue
		}
		_, err := fmt.Sscan(args[0], &r.Match.PID)
		ts.Check(err)
		ts.Check(desk.SetRule(context.Background(), r))
		gone = r
	}
	gone.ID, gone.Match.Label = "gone", "Gone"
	_, err = desk.AddRule(context.Background(), gone)
	ts.Check(err)
}

// records puts an entry on record: kind name=value…, or kind/person.
func records(ts *testscript.TestScript, _ bool, args []string) {
	l, err := audit.Open(filepath.Join(ts.Getenv("DATA"), "audit"))
	ts.Check(err)
	kind, who, _ := strings.Cut(args[0], "/")
	e := audit.Entry{Session: "s1", Agent: "claude-code", Kind: kind, Fields: map[string]string{}}
	if who != "" {
		e.Session, e.Agent = "", ""
	}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		e.Fields[name] = strings.NewReplacer(`\e`, "\x1b", `\r`, "\u202e").Replace(value)
	}
	_, err = l.Append(context.Background(), e)
	ts.Check(err)
}

// tampers changes a word of the record.
func tampers(ts *testscript.TestScript, _ bool, _ []string) {
	path := filepath.Join(ts.Getenv("DATA"), "audit", "audit-000001.jsonl")
	data, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(path, bytes.Replace(data, []byte("ada@panel"), []byte("eve@panel"), 1), 0o600))
}
