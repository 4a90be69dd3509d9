package driver

import (
	"image"
	"strings"
)

// A WindowRef names one window exactly. The zero value names none and is
// refused everywhere; so is a negative PID.
type WindowRef struct {
	PID int
	ID  uint64 // the window system's
}

// IsZero reports whether w cannot name a window.
func (w WindowRef) IsZero() bool { return w.PID <= 0 || w.ID == 0 }

// Window is one top-level window as a driver reads it.
type Window struct {
	Ref    WindowRef
	Start  uint64 // start of process PID, in a unit of the system's; 0 where unknown
	App    string // what the driver calls the application
	Exe    string // base name of the process's executable; "" where unknown
	Path   string // whole path of that executable, without links; "" where unknown
	Site   string // origin of the page shown, as in "https://acme.example"; "" where unknown
	Title  string
	Bounds image.Rectangle // in screen pixels
	Z      int             // stacking; greater is nearer to the person
	Hidden bool            // minimised, on another desktop or otherwise not on the screen
}

// IsApp reports whether name is the window's application, by its executable's
// base name or by the driver's name for it, in any case.
func (w Window) IsApp(name string) bool {
	return name != "" && (strings.EqualFold(name, w.Exe) || strings.EqualFold(name, w.App))
}

// AppName is the name that rules and people use: the executable's where known.
func (w Window) AppName() string {
	if w.Exe != "" {
		return w.Exe
	}
	return w.App
}

// SameProcess reports whether both windows belong to one process for certain.
func (w Window) SameProcess(o Window) bool {
	return w.Ref.PID == o.Ref.PID && w.Start == o.Start && w.Start != 0
}
