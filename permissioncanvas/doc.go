// Package permissioncanvas puts a person's rules between an AI agent and a
// desktop.
//
// [New] binds a profile and returns a [Canvas]. [Canvas.ListWindows] names the
// windows a person selected, [Canvas.Capture] returns what the agent may see
// of one, and [Canvas.Act] does one thing to a control of it, waiting for the
// person where a rule says so.
//
// # Guarantees
//
// What a rule hides is in no byte of what Capture returns. Nothing is done to
// a control that the person made read only or hid. Where a rule says ask, one
// exact action is done once, after a person said yes to it. Every intent is on
// record before it is dispatched. What is unknown, late, broken or ambiguous
// is refused with a [Code], a sentence and a [Next].
//
// # Limits
//
// It guards what goes through it and is no sandbox: a program on the same
// account can go round it. It does not know every copy of a secret, and
// pictures of text are pictures. People and programs that use the desktop at
// the same time are a race; identity and place are checked again immediately
// before each dispatch, which makes that race short and does not end it.
//
// # Concurrency
//
// A Canvas is one session and safe for concurrent use. Any number of them, in
// any processes, may share a profile: they meet in its files.
package permissioncanvas
