// Package sight takes one honest look at a window.
//
// [Take] finds the window, reads it, proves that what was read belongs
// together, lets the policy judge every element, and makes of that the plan by
// which package redact shows it. Backend and the person's preview look by the
// same function, so what the person sees decided is what the agent meets.
//
// # Guarantees
//
// The window is listed exactly once, is one that the person selected, and is
// the same process, application, place, title and rectangle before and after
// the picture.
//
// Where something can be hidden, the tree is read again after the picture. All
// that is near to a mask, and all that a rule hides, must be the same both
// times; else everything is read again, at most twice, and then withheld. The
// second tree, whose tokens live, is the one that is handed out.
//
// Hidden elements take their descendants with them. What overlaps one is
// omitted, its ancestors stay without strings, and what has no place stays only
// where it cannot lie over something hidden. Passwords are veiled without any
// rule.
//
// A browser without a page is not shown: its controls would pass for all there
// is.
//
// # Limits
//
// A driver that lies about places deceives it. Passwords that appear between
// tree and picture in a window where no rule can hide anything are not seen.
// Which process runs in a terminal is not known here.
//
// # Concurrency
//
// Take may be called concurrently as far as the driver may.
package sight
