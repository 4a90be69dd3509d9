package main

import (
	"fmt"
	"strings"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// looks says what a verb needs of the desktop.
type looks int

const (
	looksNever looks = iota
	looksIfItCan
	looksAlways
)

const numberWords = "N[,N|N-M]… [--as shape|container|fingerprint]"

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
		{name: "setup", help: "The first minutes, step by step: driver, window, levels, resume.", run: setup},
		{name: "windows", help: "List every window, front first.", looks: looksAlways, run: windows},
		{name: "select", words: "[--add] WINDOW", help: "Choose the window that agents may use. Pauses them.",
			max: 1, flags: []string{"add", "wake", "yes"}, looks: looksAlways, run: selectWindow},
		{name: "select", words: "--wake [WINDOW] [--yes]", help: "Use rules again that allowed something in a window that was closed.",
			max: 1, flags: []string{"add", "wake", "yes"}, looks: looksAlways, run: selectWindow},
		{name: "preview", words: "[WINDOW]", help: "Look at a window yourself, its controls numbered. Pauses agents.",
			max: 1, looks: looksAlways, run: preview},
		{name: "hide", words: numberWords, help: "Hide the controls with these numbers in the last preview.",
			min: 1, max: numbersMost, flags: []string{"as"}, looks: looksAlways, run: numberedVerb(control.LevelHide)},
		{name: "allow", words: "N[,N|N-M]…", help: "Allow them, in this live window.",
			min: 1, max: numbersMost, looks: looksAlways, run: numberedVerb(control.LevelAllow)},
		{name: "ask", words: numberWords, help: "Have every use of them ask you first.",
			min: 1, max: numbersMost, flags: []string{"as"}, looks: looksAlways, run: numberedVerb(control.LevelAsk)},
		{name: "readonly", words: numberWords, help: "Let agents see them and not use them.",
			min: 1, max: numbersMost, flags: []string{"as"}, looks: looksAlways, run: numberedVerb(control.LevelReadOnly)},
		{name: "rules", help: "List the rules.", run: rules},
		{name: "rule add", words: "LEVEL [--window WINDOW] [--role R] [--label L] [--index N] [--as shape|container|fingerprint] [--note TEXT]",
			help: "Make a rule for one control of a window.",
			min:  1, max: 1, flags: []string{"window", "role", "label", "index", "as", "match", "expect", "note"}, looks: looksIfItCan, run: addRule},
		{name: "rule add", words: "LEVEL --match JSON [--expect here|anywhere] [--note TEXT]",
			help: "Make a rule as policy.json has it, without looking.", run: addRule},
		{name: "rule set", words: "ID LEVEL", help: "Give a rule another level.", min: 2, max: 2, run: setRule},
		{name: "rule rm", words: "ID", help: "Remove a rule.", min: 1, max: 1, run: removeRule},
		{name: "watch", help: "See what agents ask, and answer, until you quit.", run: watch},
		{name: "pending", help: "List what agents ask.", run: pending},
		{name: "approve", words: "[ID]", help: "Say yes, once, to exactly this. Without ID: list.", max: 1, run: approve},
		{name: "deny", words: "ID [--reply TEXT]", help: "Say no, with words for the agent.",
			min: 1, max: 1, flags: []string{"reply"}, run: deny},
		{name: "pause", words: "[--reason TEXT]", help: "Keep agents out until you resume.", flags: []string{"reason"}, run: pause},
		{name: "resume", words: "[--accept-unmatched RULE] [--yes]", help: "Let agents work. Says what they will meet.",
			flags: []string{"accept-unmatched", "yes"}, looks: looksIfItCan, run: resume},
		{name: "log", words: "[--since 2h] [--agent NAME]", help: "Tell what agents did and were refused, and what you answered (24h).",
			flags: []string{"since", "agent"}, run: log},
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

First time:  pc setup, or: pc windows, pc select 2, pc preview, pc hide 5, pc allow 8-12, pc resume
Each day:    pc watch, or: pc pending, pc approve ID, pc pause, pc resume

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
