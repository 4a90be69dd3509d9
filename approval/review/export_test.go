package review

import "github.com/permission-canvas/permission-canvas/approval/internal/ledger"

// OpenWithClock is Open with a clock that tests turn.
func OpenWithClock(dir string, c ledger.Clock) (*Inbox, error) {
	l, err := ledger.New(dir, c)
	return &Inbox{ledger: l}, err
}
