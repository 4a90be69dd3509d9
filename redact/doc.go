// Package redact makes of a raw reading of a window what an agent may have.
//
// [Redact] takes a [driver.Snapshot] and a [Plan], which holds one [Verdict]
// for each element, and returns an [Observation] or [ErrWithheld]. No other
// package can fill an Observation, so nothing raw reaches an agent by a
// forgotten call.
//
// # Guarantees
//
// The zero Verdict hides, and so does one that is not known. A plan of another
// length than the tree is an error.
//
// Nothing of a hidden element or of its descendants is in an Observation but
// their share in one count: no string, no pixel, no index, no token. What the
// driver wrote as free text is never passed on; every row is written here, from
// permitted elements alone. Strict ancestors of a hidden element keep role and
// number only, since toolkits repeat a child's text in its parents. A kept
// string that contains a hidden element's text is dropped whole, never edited.
//
// Pixels of what is hidden are one flat opaque colour ([MaskColor]). Masks grow
// outwards to whole pixels at any scale, by the toolkit's margin and by what
// resampling can smear. The picture is always decoded, checked against the
// snapshot and encoded anew, so no metadata passes. It is scaled down after it
// was masked.
//
// A password's value and the value's length are never shown, in text or in
// pixels, whatever the plan says.
//
// Where one of these cannot be done, because a place is not known or the
// picture is not what the snapshot says, nothing is returned: ErrWithheld.
//
// # Limits
//
// Redact hides what the plan names. Copies of a hidden text that stand in a
// picture, or that are spelt otherwise, are not found. Which other elements
// lie over a hidden one is for the plan to say (package sight makes it).
//
// # Concurrency
//
// Redact may be called concurrently; it changes neither the snapshot nor the
// plan. An Observation never changes.
package redact
