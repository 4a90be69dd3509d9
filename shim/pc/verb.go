package main

import (
	"fmt"
	"strings"
)

// looks says what a verb needs of the desktop.
type looks int

const (
	looksNever looks = iota
	looksIfItCan
	looksAlways
)

// A verb is one command of pc.
type verb struct {
	name     string // one or two words
	words    string // what follows it, for help
	help     string
	min, max int // words after the name
	flags    []string
	looks    looks
	run      func(*call) error
}

// verbs are all commands, as help lists them.
func verbs() []verb {
	return []verb{
		{name: "windows", help: "List every window, front first.", looks: looksAlways, run: windows},
		{name: "select", words: "[--add] WINDOW", help: "Choose the window that agents may use. Pauses them.",
			min: 1, max: 1, flags: []string{"add"}, looks: looksAlways, run: selectWindow},
		{name: "rules", help: "List the rules.", run: rules},
		{name: "rule add", words: "LEVEL [--window WINDOW] [--role R] [--label L] [--index N] [--as shape|container|fingerprint] [--note TEXT]",
			help: "Make a rule for one control of a window.",
			min:  1, max: 1, flags: []string{"window", "role", "label", "index", "as", "match", "expect", "note"}, looks: looksIfItCan, run: addRule},
		{name: "rule add", words: "LEVEL --match JSON [--expect here|anywhere] [--note TEXT]",
			help: "Make a rule as policy.json has it, without looking.", run: addRule},
		{name: "rule set", words: "ID LEVEL", help: "Give a rule another level.", min: 2, max: 2, run: setRule},
		{name: "rule rm", words: "ID", help: "Remove a rule.", min: 1, max: 1, run: removeRule},
		{name: "pending", help: "List what agents ask.", run: pending},
		{name: "approve", words: "[ID]", help: "Say yes, once, to exactly this. Without ID: list.", max: 1, run: approve},
		{name: "deny", words: "ID [--reply TEXT]", help: "Say no, with words for the agent.",
			min: 1, max: 1, flags: []string{"reply"}, run: deny},
		{name: "pause", words: "[--reason TEXT]", help: "Keep agents out until you resume.", flags: []string{"reason"}, run: pause},
		{name: "resume", words: "[--accept-unmatched RULE] [--yes]", help: "Let agents work. Says what they will meet.",
			flags: []string{"accept-unmatched", "yes"}, looks: looksIfItCan, run: resume},
		{name: "audit verify", help: "Check that the record is whole.", run: verify},
		{name: "audit tail", words: "[N]", help: "Show the newest N entries of the record (20).", max: 1, run: tail},
	}
}

// find returns the verb that the words begin with, and the words after it.
func find(words []string) (verb, []string, error) {
	if len(words) == 0 {
		return verb{}, nil, usage("what to do? pc knows: %s", names())
	}
	for _, v := range verbs() {
		name := strings.Fields(v.name)
		if len(words) < len(name) || strings.Join(words[:len(name)], " ") != v.name {
			continue
		}
		rest := words[len(name):]
		if len(rest) < v.min || len(rest) > v.max {
			return verb{}, nil, usage("write: pc %s %s", v.name, v.words)
		}
		return v, rest, nil
	}
	return verb{}, nil, usage("pc does not know %q. It knows: %s", strings.Join(words[:min(len(words), 2)], " "), names())
}

func names() string {
	var all []string
	for _, v := range verbs() {
		if len(all) == 0 || all[len(all)-1] != v.name {
			all = append(all, v.name)
		}
	}
	return strings.Join(all, ", ")
}

// help is what `pc help` prints.
func help() string {
	var b strings.Builder
	b.WriteString(`pc: say what an AI agent may do on your desktop.

First time:  pc windows, pc select 2, pc rule add hide --label "API key", pc resume
Each day:    pc pending, pc approve ID, pc pause, pc resume

`)
	for _, v := range verbs() {
		fmt.Fprintf(&b, "  pc %s\n      %s\n", strings.TrimSpace(v.name+" "+v.words), v.help)
	}
	b.WriteString(`
WINDOW is a number of the last ` + "`pc windows`" + `, PID:WINDOW, or a part of a
title or application that fits one window. Without it, the selected one.
LEVEL is one of
  allow     ✓  seen and used without asking (green)
  readonly  ○  seen, never used (blue)
  ask       ?  seen; every use asks you first (yellow)
  hide      ■  neither seen nor used (black)

Everywhere, before or after the command:
  --json           one JSON document on standard output
  --data-dir DIR   the profile's directory
  --home DIR       the profile's directory is DIR/permission-canvas
  --driver D       cua (found by itself), sim (a simulated desktop) or a path

Exit codes: 0 done, 1 refused or failed, 2 not understood.
`)
	return b.String()
}
