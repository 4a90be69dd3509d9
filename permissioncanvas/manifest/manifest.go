// Package manifest reads a capability manifest: the file by which whoever
// starts cua-driver narrows what may be done through it, for a time. It is not
// the driver manifest, which is what `cua-driver manifest` prints.
//
// [Parse] understands versions 1 to 3 of the file, in YAML or JSON. The
// [Manifest] keeps the file's bytes as they were read, so that the driver can
// be given the same ones, and [Manifest.Check] says of one call whether the
// file grants it.
//
// # Guarantees
//
// What is not understood whole is an error: an unknown key or version, a key
// written twice, a tag, an anchor or an alias, a second document, a number or
// a truth in any spelling but the plain one. So this package and the driver
// read one text alike, and where they should differ both have to grant a call.
//
// A manifest narrows and never widens: nothing here answers an ask or lifts a
// level. A tool or target that it does not name is not granted.
//
// # Limits
//
// It is pure: no clock and no disk. Lifetimes are numbers that the caller
// counts, and an executable's path is brought into its one form by the caller's
// [Options.Resolve]. Grants for the pages of a browser, for files, processes,
// the driver's settings and its history are read and checked for form, but
// grant nothing here, since no call for them is made.
package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Options for Parse.
type Options struct {
	// Resolve brings an executable's absolute path into its one form, without
	// links. Nil leaves it as written.
	Resolve func(path string) (string, error)
}

// A Window names one window.
type Window struct {
	PID int
	ID  uint64
}

// A Manifest is one file, frozen. Its methods may be called at once.
type Manifest struct {
	bytes   []byte
	version int
	expires int64 // seconds; 0 where the file says nothing
	idle    int64
	tools   map[string]bool
	windows map[Window]bool
	exes    map[string]bool
	bundles map[string]bool
	display bool
}

// Bytes are the file's, as Parse got them.
func (m *Manifest) Bytes() []byte { return slices.Clone(m.bytes) }

// Version is that of the file's form: 1, 2 or 3.
func (m *Manifest) Version() int { return m.version }

// Hash is the digest by which the driver names the file.
func (m *Manifest) Hash() string {
	domain := "cua-driver-session-policy"
	if m.version == 3 {
		domain = "cua-driver-capability-manifest"
	}
	sum := sha256.Sum256(append(fmt.Appendf(nil, "%s-v%d\x00", domain, m.version), m.bytes...))
	return hex.EncodeToString(sum[:])
}

// Expires is how many seconds after its start the manifest grants nothing any
// more; 0 where it says nothing.
func (m *Manifest) Expires() int64 { return m.expires }

// Idle is how many seconds without a granted call end the manifest for good; 0
// where it says nothing.
func (m *Manifest) Idle() int64 { return m.idle }

// Bounded says why the manifest cannot carry bounded mode, or nil.
func (m *Manifest) Bounded() error {
	if m.expires == 0 || m.idle == 0 {
		return fmt.Errorf("bounded mode needs expires_after and idle_timeout in the capability manifest")
	}
	return nil
}

// Tools returns the granted tools, in order.
func (m *Manifest) Tools() []string { return slices.Sorted(maps.Keys(m.tools)) }

// Display reports whether the list of all windows and the whole screen are
// granted.
func (m *Manifest) Display() bool { return m.display }

// A Call is one call of a tool, by what it reaches.
type Call struct {
	Tool       string
	Window     Window // zero where the call names none
	Executable string // of the window's process, without links; "" where unknown
	Bundle     string // of the window's application on macOS; "" where unknown
}

// A DeniedError says what a manifest does not grant. Its text holds no word of
// the file's and none of a window's.
type DeniedError struct {
	Tool   string
	Target Target // what was missing; None where the tool is
}

func (e *DeniedError) Error() string {
	switch e.Target {
	case ToDisplay:
		return e.Tool + ", which needs desktop.display in the capability manifest"
	case ToWindow:
		return e.Tool + " in this window, which the capability manifest does not grant"
	}
	return e.Tool + ", which the capability manifest does not grant"
}

// Target is what a tool reaches.
type Target int

const (
	// ToWindow is one window, which must be granted. The zero value asks most.
	ToWindow Target = iota
	// ToDisplay is the list of windows, or the screen.
	ToDisplay
	// ToNothing is neither screen nor input.
	ToNothing
)

// TargetOf says what a tool reaches, as the drivers attest it. An unknown tool
// reaches a window.
func TargetOf(tool string) Target {
	switch tool {
	case "list_windows", "list_apps", "get_desktop_state", "get_accessibility_tree", "escalate_session":
		return ToDisplay
	case "start_session", "end_session", "get_session", "get_screen_size", "get_cursor_position":
		return ToNothing
	}
	return ToWindow
}

// Check returns nil where the manifest grants c, else a [*DeniedError].
func (m *Manifest) Check(c Call) error {
	if !m.tools[canonical(c.Tool)] {
		return &DeniedError{Tool: c.Tool, Target: ToNothing}
	}
	switch t := TargetOf(c.Tool); t {
	case ToDisplay:
		if !m.display {
			return &DeniedError{Tool: c.Tool, Target: t}
		}
	case ToWindow:
		if c.Window.PID <= 0 || c.Window.ID == 0 || !m.window(c) {
			return &DeniedError{Tool: c.Tool, Target: t}
		}
	}
	return nil
}

func (m *Manifest) window(c Call) bool {
	return m.windows[c.Window] ||
		c.Executable != "" && m.exes[c.Executable] ||
		c.Bundle != "" && m.bundles[c.Bundle]
}

// canonical folds a tool's old name, as the driver does.
func canonical(tool string) string {
	if tool == "type_text_chars" {
		return "type_text"
	}
	return tool
}
