// Package policy turns a person's rules into a decision for every element of a
// window. It is pure: no file, no clock, nothing kept between calls.
//
// [Parse] reads policy.json, [Compile] a [Document] built by hand; both give a
// [Policy]. [Policy.Selected] says whether a window is one that the person
// chose, [Policy.Judge] what holds for each element of a snapshot. The person's
// side changes a Document by [Document.AddRule], [Document.SetRule],
// [Document.RemoveRule] and [Document.SelectWindow], and makes rules from what
// was clicked by [RuleFor] and [Offers]. [Identify] is the one way to say which
// control is meant, for rule, capture and input alike.
//
// # Guarantees
//
// Deny-overrides: of all rules that match an element the strictest holds, in
// whatever order they stand. Where none matches, the default level holds.
//
// Rules that restrict (blue, yellow, black) compare loosely: compatibility
// forms, case, white space and invisible characters do not tell two texts
// apart, and a key that cannot be evaluated (an unknown role, site or start)
// counts as satisfied. Rules that allow (green) compare code points, and need
// app, place and the live window, all known and all equal. So what a page does
// to its names can lose it a permission, never a restriction.
//
// A rule that is looser than the default level (yellow where the default is
// blue) replaces it only where it matches as exactly as a green one would.
//
// What is unknown is refused: keys, levels, ids, versions.
//
// # Limits
//
// Letters of different scripts that look alike are different letters. A text
// in pieces is put together along the reading order of one block; a text
// spread over blocks is several texts. A fingerprint of a short text can be
// guessed by who holds the key. Names of tiers' categories and of tools belong
// to package guard and are not checked here.
//
// # Concurrency
//
// A Policy does not change and may be used by any number of goroutines.
package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/permission-canvas/permission-canvas/driver"
)

// Policy is a document that was checked and made ready to decide. Its zero
// value hides everything.
type Policy struct {
	doc      Document
	encoded  []byte
	hash     string
	rules    []*rule
	title    *rule // of hide_window_title_regex; nil where there is none
	patterns int   // how many patterns all rules hold together
	withins  int   // and how many within
}

// Compile checks d and makes it ready. Its error is an *Error without a line.
func Compile(d Document) (*Policy, error) {
	p := &Policy{doc: d.settled()}
	if err := p.check(); err != nil {
		return nil, err
	}
	p.encoded = p.doc.encode()
	sum := sha256.Sum256(p.encoded)
	p.hash = hex.EncodeToString(sum[:])
	return p, nil
}

// Document returns a copy of what was compiled, with omitted settings filled
// in.
func (p *Policy) Document() Document { return p.doc.settled() }

// Encode returns the policy file: always the same bytes for the same document.
func (p *Policy) Encode() []byte { return slices.Clone(p.encoded) }

// Hash is the SHA-256 of Encode in hexadecimal.
func (p *Policy) Hash() string { return p.hash }

// DefaultLevel is the level where no rule matches.
func (p *Policy) DefaultLevel() driver.Level {
	if p.doc.DefaultLevel == "" {
		return driver.LevelHide
	}
	return p.doc.DefaultLevel
}

// Strict reports whether everything that no known node explains is blanked.
func (p *Policy) Strict() bool { return p.doc.Strict }

// RealMouse says whether acts may use the person's pointer and keyboard.
func (p *Policy) RealMouse() MouseUse { return p.doc.RealMouse }

// Discover says how much of unselected windows is told.
func (p *Policy) Discover() Discovery { return p.doc.Discover }

// Tiers is the person's tier for each category of tools that has one.
func (p *Policy) Tiers() map[string]string { return maps.Clone(p.doc.Tiers) }

// ToolsOnly reports whether the tiers alone decide, without rules or selection.
func (p *Policy) ToolsOnly() bool { return p.doc.ToolsOnly }

// DeniedTools are refused by name.
func (p *Policy) DeniedTools() []string { return slices.Clone(p.doc.DeniedTools) }

// AllowedTools, where there are any, are the only ones not refused.
func (p *Policy) AllowedTools() []string { return slices.Clone(p.doc.AllowedTools) }

// Windows are the selected ones.
func (p *Policy) Windows() []Window { return slices.Clone(p.doc.Windows) }

// Rules are all rules, as in the document.
func (p *Policy) Rules() []Rule { return p.Document().Rules }

// Rule returns the rule called id.
func (p *Policy) Rule(id string) (Rule, bool) {
	for _, r := range p.doc.Rules {
		if r.ID == id {
			return r.clone(), true
		}
	}
	return Rule{}, false
}
