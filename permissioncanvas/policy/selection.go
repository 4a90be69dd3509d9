package policy

import (
	"fmt"

	"github.com/permission-canvas/permission-canvas/driver"
)

// SelectionState says whether a window is one that the person chose.
type SelectionState string

const (
	None    SelectionState = ""        // not chosen
	Exact   SelectionState = "exact"   // chosen and still the same
	Changed SelectionState = "changed" // chosen, but another process, application or place now
)

// Selection is what the policy says of a window.
type Selection struct {
	State SelectionState
	// Reason says what changed, in fixed words.
	Reason string
	// Unbound: the entry is hand-written and leaves out something that the
	// live window has. It matches, and the person's side writes it back.
	Unbound bool
	Entry   Window // the document's, with State Exact or Changed
}

// Selected says whether w is exactly one of the selected windows. A window of a
// selected application that has a selected one's id but another process is
// Changed: ids are used again.
func (p *Policy) Selected(w driver.Window) Selection { return choose(p.doc.Windows, w) }

// Coordinates reports whether raw points may be used in w: it must be selected
// and listed for that, by the same exact comparison.
func (p *Policy) Coordinates(w driver.Window) bool {
	return p.Selected(w).State == Exact && choose(p.doc.Coordinates, w).State == Exact
}

func choose(entries []Window, w driver.Window) Selection {
	var best Selection
	if w.Ref.IsZero() {
		return best
	}
	for _, e := range entries {
		s := e.compare(w)
		if s.State == Exact {
			return s
		}
		if best.State == None {
			best = s
		}
	}
	return best
}

func (e Window) compare(w driver.Window) Selection {
	changed := func(reason string) Selection { return Selection{State: Changed, Reason: reason, Entry: e} }
	switch {
	case e.WindowID != w.Ref.ID:
		return Selection{}
	case !w.IsApp(e.App):
		if e.PID != w.Ref.PID {
			return Selection{}
		}
		return changed("another application")
	case e.PID != w.Ref.PID, e.Start != 0 && e.Start != w.Start:
		return changed("another process")
	case e.Site != "" && w.Site != "":
		if origin(e.Site) != origin(w.Site) {
			return changed("another site")
		}
	case e.Title != "" && e.Title != w.Title:
		return changed("another title, and no site to tell it by")
	case e.Title == "" && e.Site != "":
		return changed("the site is not known now")
	}
	return Selection{State: Exact, Entry: e, Unbound: e.unbound(w)}
}

// unbound reports whether w has what would bind e and e lacks it.
func (e Window) unbound(w driver.Window) bool {
	return e.Start == 0 || e.Site == "" && w.Site != "" || e.Site == "" && e.Title == ""
}

// String is for logs: it names no title.
func (s Selection) String() string {
	if s.State == None {
		return "not selected"
	}
	if s.Reason == "" {
		return string(s.State)
	}
	return fmt.Sprintf("%s: %s", s.State, s.Reason)
}
