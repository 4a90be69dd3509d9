package permissioncanvas

import (
	"fmt"
	"path/filepath"

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
}

// Status looks at the profile's files and at nothing else.
func (c *Canvas) Status() Status {
	st := Status{Dir: c.profile.Dir()}
	rules, err := c.profile.Policy()
	if err != nil {
		st.Policy = err
	} else {
		st.Rules, st.Windows, st.DefaultLevel = len(rules.Rules()), len(rules.Windows()), rules.DefaultLevel()
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
