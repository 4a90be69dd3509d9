package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/permission-canvas/permission-canvas/driver/desktop"
	"github.com/permission-canvas/permission-canvas/permissioncanvas"
)

// finding is one line of what check says.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Say  string `json:"say"`
	Next string `json:"next,omitempty"` // what to do about it
}

// check is `check`. It looks at files and at where the driver is, and captures
// nothing. It says whether all is sound.
func (s *settings) check(_ context.Context, out io.Writer) (bool, error) {
	desk, err := s.open("check", nil)
	if err != nil {
		return false, err
	}
	defer desk.Close()
	st := desk.Status()
	all := []finding{{What: "profile", OK: true, Say: st.Dir}, rules(st), hand(st), s.driverFinding(st), record(st)}
	if st.Capabilities != nil {
		all = append(all, held(*st.Capabilities))
	}
	if s.json {
		return sound(all), document(out, map[string]any{"sound": sound(all), "findings": all}, true)
	}
	for _, f := range all {
		mark := "ok  "
		if !f.OK {
			mark = "FAIL"
		}
		fmt.Fprintf(out, "%s  %-8s %s\n", mark, f.What, f.Say)
		if f.Next != "" {
			fmt.Fprintf(out, "      %-8s → %s\n", "", f.Next)
		}
	}
	fmt.Fprintln(out, "\nIt guards what goes through it. An agent with a shell on your account can go round it.")
	return sound(all), nil
}

func sound(all []finding) bool {
	for _, f := range all {
		if !f.OK {
			return false
		}
	}
	return true
}

func rules(st permissioncanvas.Status) finding {
	f := finding{What: "rules", OK: st.Policy == nil}
	if st.Policy != nil {
		f.Say, f.Next = st.Policy.Error(), "mend the file; until then everything is refused"
		return f
	}
	f.Say = fmt.Sprintf("%d rules, %d windows selected, anything else: %s", st.Rules, st.Windows, st.DefaultLevel.Word())
	if st.Windows == 0 {
		f.Next = "pc windows, then pc select: the agent sees only what you select"
	}
	return f
}

func hand(st permissioncanvas.Status) finding {
	f := finding{What: "desktop", OK: true, Say: "the agent may work"}
	if st.Paused {
		f.Say, f.Next = "paused", "pc resume, when you want the agent to work"
		if st.PausedBy != "" {
			f.Say = fmt.Sprintf("paused by %q", st.PausedBy)
		}
	}
	return f
}

func (s *settings) driverFinding(st permissioncanvas.Status) finding {
	f := finding{What: "driver"}
	dr, command := s.desktop()
	if dr != nil {
		_ = dr.Close()
		f.OK, f.Say = true, "the simulated desktop"
		return f
	}
	path, how, err := desktop.Find(command, os.Getenv, st.Dir)
	if err != nil {
		f.Say, f.Next = err.Error(), "pip install cua-driver, or name it with --driver PATH"
		return f
	}
	f.OK, f.Say = true, path+" ("+how+")"
	return f
}

func record(st permissioncanvas.Status) finding {
	f := finding{What: "record", OK: st.Record == nil && st.Broken == ""}
	switch {
	case st.Record != nil:
		f.Say = st.Record.Error()
	case st.Broken != "":
		f.Say = st.Broken
	default:
		f.Say = fmt.Sprintf("%d entries, unbroken", st.Entries)
	}
	if !f.OK {
		f.Next = "keep the audit folder as it is and look into it; pc audit verify says where"
	}
	return f
}

func held(c permissioncanvas.Capabilities) finding {
	f := finding{What: "manifest", OK: c.Able}
	f.Say = fmt.Sprintf("version %d, %d tools granted, sha256 %s", c.Version, len(c.Tools), c.Hash)
	if !c.Able {
		f.Next = "nothing can be seen under it: grant list_windows and get_window_state, and desktop.display for the list of windows"
	}
	return f
}
