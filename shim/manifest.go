package shim

import (
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
)

// A DriverManifest describes this executable as `cua-driver manifest`
// describes the driver's, for hosts that ask before they start one. It is no
// capability manifest.
type DriverManifest struct {
	Schema     string     `json:"schema_version"`
	Version    string     `json:"binary_version"` // of the driver's contract that is served
	Path       string     `json:"binary_path"`
	Name       string     `json:"name"`
	Own        string     `json:"permission_canvas_version"`
	Features   struct{}   `json:"features"`
	Invocation invocation `json:"mcp_invocation"`
	Commands   []command  `json:"subcommands"`
}

type invocation struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

type command struct {
	Name  string `json:"name"`
	About string `json:"description"`
	Args  []flag `json:"args"`
}

type flag struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	About string `json:"description"`
}

// Describe returns the manifest of the executable at path, with the flags that
// a host has to repeat for the same profile. Only what works is named, so that
// a host that needs more learns it here and not halfway.
func Describe(path string, flags []string) DriverManifest {
	versions := guard.Versions()
	m := DriverManifest{
		Schema: "1", Version: versions[len(versions)-1], Path: path, Name: Name, Own: Version,
		Invocation: invocation{path, append([]string{"mcp"}, flags...)},
	}
	where := []flag{
		{"--home", "string", "The profile's home."},
		{"--data-dir", "string", "The data directory itself."},
		{"--driver", "string", "cua, sim, or the driver's path."},
	}
	held := []flag{
		{"--mode", "string", "The driver's permission mode: standard, bounded or unrestricted. None relaxes a rule."},
		{"--capability-manifest", "string", "A file that narrows the session in every mode; bounded needs one."},
		{"--tiers", "string", "A file of tiers for tools, under the person's own."},
	}
	all := func(more ...[]flag) []flag {
		list := append([]flag{}, where...)
		for _, m := range more {
			list = append(list, m...)
		}
		return list
	}
	asJSON := []flag{{"--json", "flag", "One JSON document."}}
	m.Commands = []command{
		{"mcp", "Serve an MCP host on standard input and output, under the person's rules.", all(held, []flag{{"--log", "string", "A log file."}})},
		{"serve", "Serve a plugin with one JSON object a line.", all(held, []flag{
			{"--jsonl", "flag", "The only form there is; required."},
			{"--agent", "string", "Who asks, as the person reads it."},
			{"--log", "string", "A log file."},
		})},
		{"call", "Answer one call that only looks.", all(held, []flag{
			{"tool", "positional-string", "The tool's name."},
			{"json-args", "positional-json", "Its arguments."},
		})},
		{"manifest", "Print this description.", all([]flag{{"--pretty", "flag", "Indented."}})},
		{"check", "Say whether everything is in place; captures nothing.", all(held, asJSON)},
		{"check-update", "Say that no network is asked.", asJSON},
		{"init", "Make the profile, if there is none.", where},
	}
	return m
}

// An Update is the answer to a host that asks whether there is a newer driver:
// nobody was asked.
type Update struct {
	Current   string  `json:"current_version"`
	Latest    *string `json:"latest_version"`
	Available bool    `json:"update_available"`
	Source    string  `json:"source"`
	Error     string  `json:"error"` // a host that finds one stays quiet
}

// CheckUpdate answers without a network.
func CheckUpdate() Update {
	versions := guard.Versions()
	return Update{
		Current: versions[len(versions)-1], Source: "none",
		Error: "not looked up: this executable asks no network",
	}
}
