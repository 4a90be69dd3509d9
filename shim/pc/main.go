// Command pc is the person's side of Permission Canvas in a terminal: choose
// the window that an agent may use, say what it may do there, answer what it
// asks, pause and resume it, and read the record. It works over SSH and in
// scripts, where every command takes --json and prints one JSON document.
//
//	pc setup                        the first minutes, step by step
//	pc windows                      what is on the desktop
//	pc select 2                     agents may use window 2 of that list
//	pc preview                      look at it yourself, its controls numbered
//	pc hide 5                       they see no 5
//	pc allow 8-12                   and use these without asking
//	pc resume                       let them work
//	pc watch                        see what they ask, and answer
//	pc pending                      the same in a script
//	pc approve 9f3c2a7704d1be58     yes, once, to exactly this
//	pc log                          what they did while you were away
//
// `pc help` lists everything. `pc-approve [ID]` is a second name of
// `pc approve`.
//
// # Guarantees
//
// Words of a page or an agent are quoted and escaped, so they can neither pass
// for ours nor move the terminal. A number of a window means the list that pc
// windows printed last, and one of a control what the last preview showed under
// it: what changed since is refused. What a rule hides, a preview prints only
// where the rule names it, and nothing of it is stored.
//
// pc watch takes nothing from agents: only an open card holds their input. It
// approves the ask that was on the screen when both letters were typed, once
// all of it was shown, and no sooner than half a second after any change.
//
// What this process has read of a screen is not left to core dumps or debuggers
// of the same user (Linux).
//
// # Limits
//
// A preview prints what is not hidden yet, so it stays in the terminal's memory.
// The title that keeps agents out of a terminal is the terminal's own to show: a
// multiplexer may keep it to itself.
//
// On a terminal, an approval asks for two letters that stand beside this ask
// alone, so that neither a habit nor keys that an agent presses answer it. With
// --json, or where standard input is no terminal, nothing is asked: a script
// is the person's own, and an agent host that has a shell on her account can
// run one, or write the files itself. The wall against that is another user
// account.
//
// Exit codes are 0 for done, 1 for refused or failed and 2 for a command that
// is not understood.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	if err := harden(); err != nil {
		fmt.Fprintln(os.Stderr, "pc: this process cannot be closed to debuggers:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	args := os.Args[1:]
	if name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); name == "pc-approve" {
		args = append([]string{"approve"}, args...)
	}
	code := run(ctx, args, streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
