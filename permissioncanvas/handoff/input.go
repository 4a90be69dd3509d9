package handoff

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

// An Input is the right to send input: one holder over all sessions of the
// profile, since they share one pointer and one focus.
type Input struct {
	epoch, before uint64
	lock          *statefile.Lock
}

// Input waits until ctx is done for its turn. Each turn has a higher epoch than
// every turn before it; focus that was inferred in one epoch is known only as
// long as no other has begun.
func (g *Gate) Input(ctx context.Context) (*Input, error) {
	lock, err := statefile.LockContext(ctx, g.path(inputLock))
	if err != nil {
		return nil, fmt.Errorf("wait for the input: %w", err)
	}
	before := g.Epoch()
	epoch := before + 1
	if before == 0 { // a file that was lost must not bring numbers back
		epoch = uint64(time.Now().UnixNano())
	}
	// No fsync: after a power failure no focus of before is left to confuse.
	err = statefile.Replace(g.path(epochFile), encodeEpoch(epoch), &statefile.ReplaceOptions{NoSync: true})
	if err != nil {
		lock.Unlock()
		return nil, fmt.Errorf("count the input: %w", err)
	}
	return &Input{epoch: epoch, before: before, lock: lock}, nil
}

// Epoch is this turn's number.
func (i *Input) Epoch() uint64 { return i.epoch }

// Before is the number of the turn before this one, anybody's: focus that was
// inferred at that epoch is still known. 0 means that nothing is.
func (i *Input) Before() uint64 { return i.before }

// Release ends the turn. A second call does nothing.
func (i *Input) Release() { i.lock.Unlock() }

// Epoch is the number of the turn that began last, 0 where that is not known.
func (g *Gate) Epoch() uint64 {
	data, err := statefile.Read(g.path(epochFile), epochSize)
	if err != nil || len(data) != epochSize || crc32.ChecksumIEEE(data[:8]) != binary.BigEndian.Uint32(data[8:]) {
		return 0
	}
	return binary.BigEndian.Uint64(data)
}

// The epoch file is the number and a checksum of it, both big-endian.
const epochSize = 12

func encodeEpoch(n uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, n)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// Reading waits until ctx is done for the turn to read the desktop through the
// driver. Readers slow each other down so much that they go one at a time.
func (g *Gate) Reading(ctx context.Context) (release func(), err error) {
	lock, err := statefile.LockContext(ctx, g.path(captureLock))
	if err != nil {
		return nil, fmt.Errorf("wait to read the desktop: %w", err)
	}
	return releaser(lock), nil
}
