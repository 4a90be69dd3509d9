//go:build ignore

// This program makes tools.json from a recorded tool list of cua-driver:
//
//	go run recorded.go tools-0.37.0.json
//
// It keeps the entries that the simulated desktop can stand for, one a line,
// their keys, numbers and strings as they were recorded.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"slices"
)

var kept = []string{
	"list_windows", "list_apps", "get_window_state", "click", "double_click", "right_click", "type_text", "set_value",
	"press_key", "hotkey", "scroll", "drag", "bring_to_front",
	"start_session", "end_session", "get_session", "get_screen_size", "get_cursor_position",
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run recorded.go tools-0.37.0.json")
	}
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var list struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(data, &list); err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	found, sep := 0, "[\n"
	for _, raw := range list.Tools {
		var tool struct{ Name string }
		if err := json.Unmarshal(raw, &tool); err != nil {
			log.Fatal(err)
		}
		if !slices.Contains(kept, tool.Name) {
			continue
		}
		found++
		out.WriteString(sep)
		sep = ",\n"
		if err := json.Compact(&out, raw); err != nil {
			log.Fatal(err)
		}
	}
	out.WriteString("\n]\n")
	if found != len(kept) {
		log.Fatalf("%d of %d tools found", found, len(kept))
	}
	if err := os.WriteFile("tools.json", out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
