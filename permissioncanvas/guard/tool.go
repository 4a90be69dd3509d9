package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Coverage says how a tool stands to the rules for controls.
type Coverage uint8

const (
	// Uncovered tools read or drive the desktop past the rules.
	Uncovered Coverage = iota
	// Harmless tools touch neither screen nor input.
	Harmless
	// Enforced tools go through the rules.
	Enforced
)

// String returns the coverage's name.
func (c Coverage) String() string {
	switch c {
	case Harmless:
		return "harmless"
	case Enforced:
		return "enforced"
	default:
		return "uncovered"
	}
}

// MarshalText returns the coverage's name.
func (c Coverage) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a coverage's name.
func (c *Coverage) UnmarshalText(text []byte) error {
	for _, known := range []Coverage{Uncovered, Harmless, Enforced} {
		if known.String() == string(text) {
			*c = known
			return nil
		}
	}
	return fmt.Errorf("coverage %.40q is not known", text)
}

// CategoryOf returns the tool's category, Unknown for one that is not in the
// table.
func CategoryOf(tool string) Category {
	if r, ok := table[Canonical(tool)]; ok {
		return r.category
	}
	return Unknown
}

// CoverageOf returns the tool's coverage, Uncovered for one that is not in the
// table.
func CoverageOf(tool string) Coverage {
	return table[Canonical(tool)].coverage
}

// Tools returns every tool of the table, sorted.
func Tools() []string { return slices.Sorted(maps.Keys(table)) }

// Reach returns the tools that a call of tool can run besides itself, as far
// as its name tells: none for most.
func Reach(tool string) []string {
	steps := []string{
		"click", "double_click", "right_click", "set_value", "type_text", "press_key",
		"hotkey", "scroll", "drag", "move_cursor", "get_window_state", "verify_state", "zoom",
	}
	switch Canonical(tool) {
	case "run_steps":
		return steps
	case "run_script": // a program nobody has read, over a closed set
		return append(steps, "launch_app", "list_apps", "list_windows")
	case "replay_trajectory": // whatever was recorded
		return Tools()
	}
	return nil
}

// Canonical returns the one spelling of a tool's name: bare, in lower case, an
// alias replaced by the tool it stands for. It does not make a name known.
//
// Hosts with several servers put the server's name and two underscores in
// front; no tool's own name has two together.
func Canonical(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+len("__"):]
	}
	if name == "type_text_chars" { // callable, though no driver lists it
		return "type_text"
	}
	return name
}

// Unrecognised returns the entries of a list that name no tool of the table.
// They stay in force; a person may have mistyped them.
func Unrecognised(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(entry string) bool {
		_, ok := table[Canonical(entry)]
		return ok
	})
}
