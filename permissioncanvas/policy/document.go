package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Version is the form of document that this package reads and writes.
const Version = 1

// Document is policy.json.
type Document struct {
	Version              int               `json:"version"`
	DefaultLevel         driver.Level      `json:"default_level"`
	HideWindowTitleRegex string            `json:"hide_window_title_regex"`
	Windows              []Window          `json:"windows"`
	Strict               bool              `json:"strict"`
	RealMouse            MouseUse          `json:"real_mouse"`
	Discover             Discovery         `json:"discover"`
	Coordinates          []Window          `json:"coordinates"`
	Rules                []Rule            `json:"rules"`
	Tiers                map[string]string `json:"tiers"`
	ToolsOnly            bool              `json:"tools_only"`
	DeniedTools          []string          `json:"denied_tools"`
	AllowedTools         []string          `json:"allowed_tools"`
}

// MouseUse says whether acts may use the real pointer and keyboard.
type MouseUse string

const (
	MouseAsk   MouseUse = "ask" // where the document does not say
	MouseAllow MouseUse = "allow"
	MouseNever MouseUse = "never"
)

// Discovery says which windows a list of windows tells about.
type Discovery string

const (
	DiscoverSelected Discovery = "selected" // and a count of the rest; where the document does not say
	DiscoverAll      Discovery = "all"
)

// Window is a window that a person chose. Start, Site and Title may be missing
// in a hand-written entry: it is then not yet bound.
type Window struct {
	PID      int    `json:"pid"`
	Start    uint64 `json:"start,omitempty"`
	WindowID uint64 `json:"window_id"`
	App      string `json:"app"`
	Site     string `json:"site,omitempty"`
	Title    string `json:"title,omitempty"`
}

// Rule gives Level to what Match describes.
type Rule struct {
	ID     string       `json:"id"`
	Level  driver.Level `json:"level"`
	Expect Expectation  `json:"expect,omitempty"`
	Match  Match        `json:"match"`
	Note   string       `json:"note,omitempty"`
}

// Expectation says what it means when a hide rule matches nothing.
type Expectation string

const (
	// ExpectHere: on its app and place the rule must find its control.
	ExpectHere Expectation = "here"
	// ExpectAnywhere: finding nothing is normal, after a complete search.
	ExpectAnywhere Expectation = "anywhere"
)

// Match describes elements; all keys that are there must hold. A Match without
// keys is an error.
type Match struct {
	Role             string `json:"role,omitempty"` // one of the closed set, or the toolkit's word
	Label            string `json:"label,omitempty"`
	LabelRegex       string `json:"label_regex,omitempty"`
	TextRegex        string `json:"text_regex,omitempty"`  // over each string, and over each block's text
	TextDigest       string `json:"text_digest,omitempty"` // keyed, of Normal of the text
	ValueRegex       string `json:"value_regex,omitempty"`
	App              string `json:"app,omitempty"`
	Site             string `json:"site,omitempty"` // an origin
	PID              int    `json:"pid,omitempty"`
	Start            uint64 `json:"start,omitempty"`
	WindowID         uint64 `json:"window_id,omitempty"`
	WindowTitle      string `json:"window_title,omitempty"`
	WindowTitleRegex string `json:"window_title_regex,omitempty"`
	InWebContent     *bool  `json:"in_web_content,omitempty"`
	Within           *Match `json:"within,omitempty"` // an ancestor; without keys of the window
}

// New returns the document of a new profile: ask first, nothing selected.
func New() Document { return Document{Version: Version}.settled() }

// WindowOf returns the entry that selects w.
func WindowOf(w driver.Window) Window {
	return Window{PID: w.Ref.PID, Start: w.Start, WindowID: w.Ref.ID, App: w.AppName(), Site: w.Site, Title: w.Title}
}

// Expects is what r expects, said or by its kind: a rule that names its control
// by label, or by role and no pattern, expects it here; a pattern may match
// nothing.
func (r Rule) Expects() Expectation {
	m := r.Match
	pattern := m.LabelRegex != "" || m.TextRegex != "" || m.TextDigest != "" || m.ValueRegex != ""
	switch {
	case r.Expect != "":
		return r.Expect
	case m.Label != "" || m.Role != "" && !pattern:
		return ExpectHere
	default:
		return ExpectAnywhere
	}
}

// Pinned reports whether r names a live window.
func (r Rule) Pinned() bool { return r.Match.PID != 0 || r.Match.Start != 0 || r.Match.WindowID != 0 }

// Digest changes with everything about r but its note.
func (r Rule) Digest() string {
	r.Note = ""
	sum := sha256.Sum256(encode(r))
	return hex.EncodeToString(sum[:])
}

func (r Rule) clone() Rule { r.Match = r.Match.clone(); return r }

func (m Match) clone() Match {
	if m.InWebContent != nil {
		web := *m.InWebContent
		m.InWebContent = &web
	}
	if m.Within != nil {
		within := m.Within.clone()
		m.Within = &within
	}
	return m
}

// settled returns a copy that shares nothing with d and in which nothing is
// left to be understood.
func (d Document) settled() Document {
	if d.DefaultLevel == "" {
		d.DefaultLevel = driver.LevelAsk
	}
	if d.RealMouse == "" {
		d.RealMouse = MouseAsk
	}
	if d.Discover == "" {
		d.Discover = DiscoverSelected
	}
	d.Windows = copied(d.Windows)
	d.Coordinates = copied(d.Coordinates)
	d.DeniedTools = copied(d.DeniedTools)
	d.AllowedTools = copied(d.AllowedTools)
	d.Rules = copied(d.Rules)
	for i := range d.Rules {
		d.Rules[i] = d.Rules[i].clone()
	}
	d.Tiers = maps.Clone(d.Tiers)
	if d.Tiers == nil {
		d.Tiers = map[string]string{}
	}
	return d
}

// copied is never nil, so that it is written as [].
func copied[T any](s []T) []T { return append([]T{}, slices.Clip(s)...) }

func (d Document) encode() []byte {
	var out bytes.Buffer
	// encode gives valid JSON, so Indent cannot fail.
	_ = json.Indent(&out, encode(d), "", "  ")
	return out.Bytes()
}

// encode cannot fail: what this package encodes has no type that could.
func encode(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return out.Bytes()
}
