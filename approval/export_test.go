package approval

import "github.com/permission-canvas/permission-canvas/approval/internal/ledger"

// Clocked is Options with a clock that tests turn.
func Clocked(c ledger.Clock) *Options { return &Options{clock: &c} }

// Marks is how many requests s remembers by its own clock.
func Marks(s *Store) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.marks)
}
