package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

// slotSize is the length of each of the two slots: less than what any disk
// writes at once, and a torn one does not touch the other.
const slotSize = 128

// A head says where the newest acknowledged entry ends.
type head struct {
	seq     uint64
	hash    string
	segment uint64
	size    int64 // of the segment, with that entry
	slot    int   // where it was read
}

// encode is "seq hash segment size checksum\n" in fixed columns.
func (h head) encode() []byte {
	b := fmt.Appendf(nil, "%020d %s %06d %010d ", h.seq, h.hash, h.segment, h.size)
	return append(append(b, sum(b)[:slotSize-1-len(b)]...), '\n')
}

func decodeSlot(b []byte, slot int) (head, bool) {
	h := head{slot: slot}
	parts := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte(" "))
	if len(parts) != 5 {
		return h, false
	}
	var err, e error
	h.hash = string(parts[1])
	h.seq, err = strconv.ParseUint(string(parts[0]), 10, 64)
	h.segment, e = strconv.ParseUint(string(parts[2]), 10, 64)
	err = errors.Join(err, e)
	h.size, e = strconv.ParseInt(string(parts[3]), 10, 64)
	err = errors.Join(err, e)
	if err != nil || len(h.hash) != len(before) || h.segment == 0 || h.segment > lastSegment || h.size < 0 || h.size > maxSegment {
		return h, false
	}
	if h.seq == 0 && (h.hash != before || h.segment != 1 || h.size != 0) {
		return h, false // nothing comes before the first entry
	}
	return h, bytes.Equal(h.encode(), b)
}

// firstHead is the file of a log without entries: one slot, and one blank.
func firstHead() []byte {
	b := head{hash: before, segment: 1}.encode()
	return append(b, bytes.Repeat([]byte{' '}, slotSize)...)
}

// readHead returns the newer of the two slots. One that does not read was being
// written when a process was killed; two are more than that leaves.
func readHead(dir string) (head, error) {
	data, err := statefile.Read(filepath.Join(dir, headName), 2*slotSize)
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, &Break{Reason: "the head is missing"}
	}
	if errors.Is(err, statefile.ErrTooLarge) || errors.Is(err, statefile.ErrNotRegular) {
		return head{}, &Break{Reason: "the head does not read"}
	}
	if err != nil {
		return head{}, fmt.Errorf("read the head: %w", err)
	}
	var newest head
	found := false
	for slot := range 2 {
		if len(data) < (slot+1)*slotSize {
			break
		}
		if h, ok := decodeSlot(data[slot*slotSize:][:slotSize], slot); ok && (!found || h.seq > newest.seq) {
			newest, found = h, true
		}
	}
	if !found {
		return head{}, &Break{Reason: "the head does not read"}
	}
	return newest, nil
}

// writeHead records st as the newest entry, in the slot that does not hold the
// one before.
func (st state) writeHead(dir string) error {
	h := head{seq: st.seq, hash: st.hash, segment: st.segment, size: st.size}
	err := statefile.WriteAt(filepath.Join(dir, headName), int64(st.slot)*slotSize, h.encode())
	if err != nil {
		return fmt.Errorf("write the head: %w", err)
	}
	return nil
}
