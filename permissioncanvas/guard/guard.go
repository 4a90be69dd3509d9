// Package guard decides by a tool's name alone: which of seventeen categories
// it belongs to, what the category's tier says (deny, ask, auto) and whether
// the tool goes through the rules for controls at all.
//
// Start with [Config.Decide]:
//
//	d := guard.Config{Person: tiers}.Decide("launch_app")
//	switch d.Tier {
//	case guard.Auto: // go on to the rules for controls
//	case guard.Ask:  // ask a person once for this tool and these arguments
//	default:         // refuse with d.Code and d.Reason
//	}
//
// The order is fixed. A name on the denied list is denied. Where there is an
// allowed list, its names are auto and every other one is denied. Otherwise
// the category's tier counts: the person's, else the deployment's, else the
// factory's.
//
// # Guarantees
//
// A name that the table does not hold is of category Unknown, which the
// factory denies. A tier that is none of the three counts as deny. A tool that
// nothing here has taught to respect the rules for controls is uncovered and
// refused, whatever its tier, unless Config.ToolsOnly says that there are no
// such rules. A tool that runs other tools is judged by the strictest of them.
// Nothing here reads, writes, waits or remembers.
//
// # Limits
//
// Names are not arguments: a tool whose argument names a file or the whole
// desktop is judged here as if it did not. What is judged is [Canonical] of a
// name, so that name and no other has to be dispatched. Only calls through us
// are judged; whoever has a shell can call the driver directly.
//
// # Concurrency
//
// Everything may be used from several goroutines; a Config must not be changed
// meanwhile.
package guard

import (
	"slices"
	"strings"
)

// Source says which layer decided.
type Source string

const (
	FromFactory  Source = "factory"
	FromBase     Source = "base"     // the deployment's tiers
	FromPerson   Source = "person"   // the person's policy
	FromDenied   Source = "denied"   // the denied list
	FromAllowed  Source = "allowed"  // the allowed list
	FromCoverage Source = "coverage" // the tool would go past the rules for controls
)

// Codes of a refusal, as hosts see them.
const (
	CodeDenied    = "tool_denied"
	CodeUncovered = "tool_uncovered"
	// LegacyCode goes beside CodeDenied, for hosts that know the older guard.
	LegacyCode = "COMPUTER_USE_GUARD_DENIED"
)

// Config is what one decision is made from. The zero Config is the factory's.
type Config struct {
	Base   map[Category]Tier // the deployment's; a category left out is the factory's
	Person map[Category]Tier // the person's, over Base

	// Denied and Allowed are tools in any spelling that Canonical takes. An
	// Allowed that is not empty denies every tool that is not in it.
	Denied, Allowed []string

	// ToolsOnly says that no control is protected: uncovered tools then follow
	// their tier.
	ToolsOnly bool
}

// Decision is the answer for one tool.
type Decision struct {
	Tool     string // canonical: the name to dispatch
	Tier     Tier   // Deny, Ask or Auto
	Category Category
	Coverage Coverage
	Source   Source
	Code     string // of the refusal; "" unless Tier is Deny
	Reason   string // a sentence of ours; it quotes no name the table does not hold
}

// Decide judges a call of tool whose contents are not known: one that runs
// other tools is judged by all that it can run.
func (c Config) Decide(tool string) Decision {
	return c.DecideComposite(tool, Reach(tool))
}

// DecideComposite judges a call of tool that will run the tools inner and no
// others: the strictest of all of them.
func (c Config) DecideComposite(tool string, inner []string) Decision {
	d := c.named(tool)
	for _, name := range inner {
		in := c.named(name)
		if Stricter(d.Tier, in.Tier) == d.Tier {
			continue
		}
		d.Tier, d.Source = in.Tier, in.Source
		d.Reason = shown(d.Tool) + " can run " + shown(in.Tool) + ": " + in.Reason
	}
	switch {
	case d.Tier == Deny:
		d.Code = CodeDenied
	case d.Coverage == Uncovered && !c.ToolsOnly:
		d.Tier, d.Source, d.Code = Deny, FromCoverage, CodeUncovered
		d.Reason = "it would go past the rules for controls"
	}
	return d
}

// TierOf is the tier that counts for a category where no list does, and the
// layer that set it.
func (c Config) TierOf(cat Category) (Tier, Source) {
	if t, ok := c.Person[cat]; ok {
		return t.known(), FromPerson
	}
	if t, ok := c.Base[cat]; ok {
		return t.known(), FromBase
	}
	return cat.Factory(), FromFactory
}

// Counts says how many of the categories are denied, asked for and automatic.
func (c Config) Counts() (deny, ask, auto int) {
	for _, cat := range Categories() {
		switch t, _ := c.TierOf(cat); t {
		case Auto:
			auto++
		case Ask:
			ask++
		default:
			deny++
		}
	}
	return deny, ask, auto
}

// named judges one name in the fixed order: denied, allowed, category.
func (c Config) named(tool string) Decision {
	name := Canonical(tool)
	d := Decision{Tool: name, Category: CategoryOf(name), Coverage: CoverageOf(name)}
	switch {
	case lists(c.Denied, name):
		d.Tier, d.Source, d.Reason = Deny, FromDenied, "it is on the list of denied tools"
	case lists(c.Allowed, name):
		d.Tier, d.Source, d.Reason = Auto, FromAllowed, "it is on the list of allowed tools"
	case len(c.Allowed) > 0:
		d.Tier, d.Source, d.Reason = Deny, FromAllowed, "it is not on the list of allowed tools"
	default:
		d.Tier, d.Source = c.TierOf(d.Category)
		d.Reason = "tools of category " + string(d.Category) + " are set to " + string(d.Tier)
	}
	return d
}

// shown is a name for a reason: one that the table does not hold comes from
// outside and is not repeated.
func shown(name string) string {
	if _, ok := table[name]; !ok {
		return "an unknown tool"
	}
	return name
}

// lists reports whether list holds the canonical name. The empty name is in no
// list, so that a blank entry allows nothing.
func lists(list []string, name string) bool {
	return name != "" && slices.ContainsFunc(list, func(entry string) bool { return Canonical(entry) == name })
}

// ParseList reads a list as a person types it: names with commas between.
// Blank entries are dropped, the rest made canonical and duplicates folded.
func ParseList(text string) []string {
	var list []string
	for entry := range strings.SplitSeq(text, ",") {
		if name := Canonical(entry); name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
