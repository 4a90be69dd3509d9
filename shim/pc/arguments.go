package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// arguments is a command line: words and flags, in any order.
type arguments struct {
	words  []string
	values map[string][]string // by flag, without dashes
}

// usageError is a command that is not understood.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// everywhere are the flags of every command, before or after its verb.
var everywhere = []string{"home", "data-dir", "driver", "json", "help"}

// takesValue says of each flag whether a value follows it.
var takesValue = map[string]bool{
	"home": true, "data-dir": true, "driver": true, "json": false, "help": false,
	"add": false, "yes": false, "wake": false,
	"window": true, "role": true, "label": true, "index": true, "as": true,
	"match": true, "expect": true, "note": true,
	"reply": true, "reason": true, "accept-unmatched": true,
	"since": true, "agent": true,
}

// parse splits a command line. Behind "--" everything is a word.
func parse(line []string) (*arguments, error) {
	a := &arguments{values: map[string][]string{}}
	for len(line) > 0 {
		word := line[0]
		line = line[1:]
		if word == "--" {
			a.words = append(a.words, line...)
			break
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			a.words = append(a.words, word)
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
		if name == "h" {
			name = "help"
		}
		takes, known := takesValue[name]
		switch {
		case !known:
			return a, usage("unknown flag %q", word)
		case !takes && given:
			return a, usage("--%s takes no value", name)
		case takes && !given && len(line) == 0:
			return a, usage("--%s needs a value", name)
		case takes && !given:
			value, line = line[0], line[1:]
		}
		if a.has(name) && name != "accept-unmatched" {
			return a, usage("--%s is given twice", name)
		}
		a.values[name] = append(a.values[name], value)
	}
	return a, nil
}

func (a *arguments) has(name string) bool { return len(a.values[name]) > 0 }

// get is a flag's value, "" where it is not given.
func (a *arguments) get(name string) string {
	if !a.has(name) {
		return ""
	}
	return a.values[name][0]
}

// number is a flag's value as a count from 1, 0 where it is not given.
func (a *arguments) number(name string) (int, error) {
	if !a.has(name) {
		return 0, nil
	}
	n, err := strconv.Atoi(a.get(name))
	if err != nil || n < 1 {
		return 0, usage("--%s needs a number from 1", name)
	}
	return n, nil
}

// refuseExcept refuses flags that belong to other verbs.
func (a *arguments) refuseExcept(allowed []string) error {
	for name := range a.values {
		if !slices.Contains(everywhere, name) && !slices.Contains(allowed, name) {
			return usage("--%s does not belong to this command", name)
		}
	}
	return nil
}
