package ledger

import "time"

// A Clock tells the time twice: as the wall shows it, which other processes
// see too and which can be set, and as time passed, which nobody can set but
// which means nothing outside this process and stands still while the machine
// sleeps.
type Clock struct {
	Wall func() time.Time
	Mono func() time.Duration
}

// System is the machine's clock.
func System() Clock {
	start := time.Now()
	return Clock{Wall: time.Now, Mono: func() time.Duration { return time.Since(start) }}
}

// now is the wall's time in the ledger's form: UTC, whole milliseconds, and
// without the monotonic reading that time.Now carries along.
func (c Clock) now() time.Time { return c.Wall().Round(0).UTC().Truncate(time.Millisecond) }
