package shim

import (
	"errors"
	"sync"
)

// errClosed: the host is gone.
var errClosed = errors.New("closed")

// An opener opens one desktop at its first use. What failed is tried again at
// the next: a person may have mended it meanwhile.
type opener struct {
	mu   sync.Mutex
	desk Desk
	over bool
}

func (o *opener) get(open func() (Desk, error)) (Desk, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return nil, errClosed
	}
	if o.desk != nil {
		return o.desk, nil
	}
	desk, err := open()
	if err == nil {
		o.desk = desk
	}
	return desk, err
}

// close opens nothing any more.
func (o *opener) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
}
