package approval

import (
	"errors"
	"fmt"
	"time"

	"github.com/permission-canvas/permission-canvas/approval/internal/ledger"
)

var (
	// ErrUnknown is a request that is not there, or is another session's.
	ErrUnknown = ledger.ErrUnknown
	// ErrInvalid is wrapped when an ask lacks its digest or session, or holds
	// text that is not UTF-8.
	ErrInvalid = ledger.ErrInvalid
	// ErrTooLarge is an ask of more than MaxAsk bytes.
	ErrTooLarge = ledger.ErrTooLarge
	// ErrBusy is wrapped when another process held the ledger's lock too long.
	ErrBusy = ledger.ErrBusy

	// ErrTooMany is wrapped when a session or the profile has as many pending
	// asks as a person can look at, or a control was denied too often.
	ErrTooMany = errors.New("approval: too many asks")
	// ErrPending is a grant that is not there yet.
	ErrPending = errors.New("approval: not answered yet")
	// ErrExpired is a question or a grant whose time is over.
	ErrExpired = errors.New("approval: expired")
	// ErrWithdrawn is a question or a grant that was taken back.
	ErrWithdrawn = errors.New("approval: withdrawn")
	// ErrSpent is a grant that was spent, by whomever, or an act that is over.
	ErrSpent = errors.New("approval: already spent")
	// ErrMismatch is a grant for something else than what is to be done.
	ErrMismatch = errors.New("approval: the grant is for something else")
)

// A DeniedError is a person's no, said to this request or one like it.
type DeniedError struct {
	ID    string    // of the request that was denied
	Reply string    // the person's words, if any
	Until time.Time // when it may be asked again
	// Blocked says that three denials stopped all asks about this control or
	// tool. The error is then an ErrTooMany too.
	Blocked bool
}

func (e *DeniedError) Error() string {
	if e.Blocked {
		return fmt.Sprintf("approval: denied three times, not asked again until %s", e.Until.Format(time.RFC3339))
	}
	return "approval: denied by the person"
}

// Unwrap is ErrTooMany where Blocked.
func (e *DeniedError) Unwrap() error {
	if e.Blocked {
		return ErrTooMany
	}
	return nil
}

// failure is why a record in this state cannot be spent.
func failure(r ledger.Record) error {
	switch r.State {
	case ledger.Pending:
		return ErrPending
	case ledger.Denied:
		return &DeniedError{ID: r.ID, Reply: r.Reply, Until: r.Changed.Add(denialBlock)}
	case ledger.Expired:
		return ErrExpired
	case ledger.Withdrawn:
		return ErrWithdrawn
	}
	return ErrSpent
}
