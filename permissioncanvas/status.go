package permissioncanvas

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/permission-canvas/permission-canvas/audit"
)

// Status is what `permission-canvas check` says of a profile. It is for the
// person: its texts name files and say what is wrong in them.
type Status struct {
	Dir          string
	Policy       error // why the rules cannot be used
	Rules        int
	Windows      int
	DefaultLevel Level
	Paused       bool
	PausedBy     string
	Entries      uint64
	Broken       string // where the record's chain breaks
	Record       error  // why the record cannot be read

	Capabilities *Capabilities // of the manifest that this session holds itself to
}

// Capabilities is what a person may know of a capability manifest.
type Capabilities struct {
	Version int
	Hash    string // as the driver writes it
	Tools   []string
	Able    bool // windows can be listed and read under it, if it grants any
}

// Status looks at the profile's files and at nothing else.
func (c *Canvas) Status() Status {
	st := Status{Dir: c.profile.Dir()}
	rules, err := c.rules()
	if err != nil {
		st.Policy = err
		if e := (*Error)(nil); errors.As(err, &e) && e.cause != nil {
			st.Policy = e.cause // the person reads where in the file
		}
	} else {
		st.Rules, st.Windows, st.DefaultLevel = len(rules.Rules()), len(rules.Windows()), rules.DefaultLevel()
	}
	if c.held != nil {
		m := c.held.manifest
		st.Capabilities = &Capabilities{
			Version: m.Version(), Hash: m.Hash(), Tools: m.Tools(),
			Able: m.Display() && slices.Contains(m.Tools(), "list_windows") && slices.Contains(m.Tools(), "get_window_state"),
		}
	}
	pause := c.gate.State()
	st.Paused, st.PausedBy = pause.Paused, pause.By
	report, err := audit.Verify(filepath.Join(st.Dir, "audit"))
	st.Record, st.Entries = err, uint64(report.Entries)
	if report.Broken != nil {
		st.Broken = fmt.Sprintf("entry %d: %s", report.Broken.Index, report.Broken.Reason)
	}
	return st
}
