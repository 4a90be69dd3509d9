package guard

import (
	"fmt"
	"maps"
	"slices"
)

// Tier says what happens to a call. Whatever is neither Ask nor Auto denies,
// the zero Tier too.
type Tier string

const (
	Deny Tier = "deny" // refused
	Ask  Tier = "ask"  // a person answers, once, for this tool and these arguments
	Auto Tier = "auto" // goes on
)

// ParseTier reads a tier as files and people spell it.
func ParseTier(text string) (Tier, error) {
	if t := Tier(text); t == t.known() {
		return t, nil
	}
	return Deny, fmt.Errorf("tier %.40q: use deny, ask or auto", text)
}

// ParseTiers reads categories and their tiers as a policy or a deployment's
// file holds them. One that is not known is an error.
func ParseTiers(texts map[string]string) (map[Category]Tier, error) {
	tiers := make(map[Category]Tier, len(texts))
	for name, text := range texts {
		tiers[Category(name)] = Tier(text)
	}
	if err := Check(tiers); err != nil {
		return nil, err
	}
	return tiers, nil
}

// Check refuses a category or a tier that is not known.
func Check(tiers map[Category]Tier) error {
	for _, name := range slices.Sorted(maps.Keys(tiers)) {
		c, err := ParseCategory(string(name))
		if err != nil {
			return err
		}
		if _, err := ParseTier(string(tiers[name])); err != nil {
			return fmt.Errorf("category %s: %w", c, err)
		}
	}
	return nil
}

// Stricter returns the more restrictive of two tiers.
func Stricter(a, b Tier) Tier {
	switch {
	case a.known() == Deny || b.known() == Deny:
		return Deny
	case a == Ask || b == Ask:
		return Ask
	default:
		return Auto
	}
}

// known is t, or Deny for one that is none of the three.
func (t Tier) known() Tier {
	if t == Ask || t == Auto {
		return t
	}
	return Deny
}
