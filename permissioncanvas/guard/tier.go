package guard

import "fmt"

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
		c, err := ParseCategory(name)
		if err != nil {
			return nil, err
		}
		t, err := ParseTier(text)
		if err != nil {
			return nil, fmt.Errorf("category %s: %w", c, err)
		}
		tiers[c] = t
	}
	return tiers, nil
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
