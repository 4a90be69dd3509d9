package policy

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/driver"
)

// titleRule is the id under which hide_window_title_regex shows in verdicts.
const titleRule = "hide_window_title_regex"

// mostInteger is the largest that every JSON parser reads alike.
const mostInteger = 1 << 53

const (
	mostRules  = 20_000
	mostNested = 8 // of within
	longestID  = 64
)

// check reads the whole document and compiles its rules.
func (p *Policy) check() error {
	if p.doc.Version != Version {
		return wrong("version", "%d is not a version this program knows: it reads and writes %d", p.doc.Version, Version)
	}
	if key := badText(reflect.ValueOf(p.doc), ""); key != "" {
		return wrong(key, "not valid UTF-8")
	}
	if _, err := driver.ParseLevel(string(p.doc.DefaultLevel)); err != nil {
		return wrong("default_level", "%v", err)
	}
	if err := p.checkSettings(); err != nil {
		return err
	}
	if source := p.doc.HideWindowTitleRegex; source != "" {
		p.title = &rule{Rule: Rule{ID: titleRule, Level: driver.LevelHide, Expect: ExpectAnywhere, Match: Match{TextRegex: source}}}
		var err *Error
		if p.title.matcher, err = p.compile(p.title.Rule.Match, "", 0); err != nil {
			err.Key = titleRule
			return err
		}
	}
	return p.checkRules()
}

func (p *Policy) checkSettings() error {
	d := &p.doc
	if !slices.Contains([]MouseUse{MouseAsk, MouseAllow, MouseNever}, d.RealMouse) {
		return wrong("real_mouse", "%.40q: use ask, allow or never", d.RealMouse)
	}
	if d.Discover != DiscoverSelected && d.Discover != DiscoverAll {
		return wrong("discover", "%.40q: use selected or all", d.Discover)
	}
	for i, w := range d.Windows {
		if err := w.check(fmt.Sprintf("windows[%d]", i)); err != nil {
			return err
		}
	}
	for i, w := range d.Coordinates {
		if err := w.check(fmt.Sprintf("coordinates[%d]", i)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Tiers)) {
		tier := d.Tiers[name]
		if !isName(name) {
			return wrong("tiers", "%.40q is not the name of a category", name)
		}
		if !slices.Contains([]string{"deny", "ask", "auto"}, tier) {
			return wrong("tiers."+name, "%.40q: use deny, ask or auto", tier)
		}
	}
	for i, tool := range d.DeniedTools {
		if strings.TrimSpace(tool) == "" {
			return wrong(fmt.Sprintf("denied_tools[%d]", i), "names no tool")
		}
	}
	for i, tool := range d.AllowedTools {
		if strings.TrimSpace(tool) == "" {
			return wrong(fmt.Sprintf("allowed_tools[%d]", i), "names no tool")
		}
	}
	return nil
}

// check refuses what no window can be: a process or window of 0 or -1.
func (w Window) check(key string) *Error {
	switch {
	case !isProcess(w.PID):
		return wrong(key+".pid", "%d is no process", w.PID)
	case isPlaceholder(w.WindowID):
		return wrong(key+".window_id", "%d is no window", w.WindowID)
	case w.Start > mostInteger:
		return wrong(key+".start", "%d is beyond 2^53", w.Start)
	case strings.TrimSpace(w.App) == "":
		return wrong(key+".app", "missing: name the application")
	case w.Site != "" && !isOrigin(w.Site):
		return wrong(key+".site", "%.80q: write an origin such as https://acme.example", w.Site)
	}
	return nil
}

func isProcess(pid int) bool { return pid > 0 && int64(pid) <= math.MaxUint32 }

func isPlaceholder(id uint64) bool { return id == 0 || id == math.MaxUint32 || id > mostInteger }

func (p *Policy) checkRules() error {
	if len(p.doc.Rules) > mostRules {
		return wrong("rules", "more than %d", mostRules)
	}
	seen := map[string]bool{}
	for i, r := range p.doc.Rules {
		key := fmt.Sprintf("rules[%d]", i)
		c, err := p.rule(r, key)
		if err == nil && seen[r.ID] {
			err = wrong(key+".id", "%q is taken by a rule above", r.ID)
		}
		if err != nil {
			if isID(r.ID) {
				err.Rule = r.ID
			}
			return err
		}
		seen[r.ID] = true
		p.rules = append(p.rules, c)
	}
	return nil
}

func (p *Policy) rule(r Rule, key string) (*rule, *Error) {
	if !isID(r.ID) {
		return nil, wrong(key+".id", "%.80q: give the rule a short name of letters, digits, . _ and -, such as r1", r.ID)
	}
	if _, err := driver.ParseLevel(string(r.Level)); err != nil {
		return nil, wrong(key+".level", "%v", err)
	}
	if r.Expect != "" && r.Expect != ExpectHere && r.Expect != ExpectAnywhere {
		return nil, wrong(key+".expect", "%.40q: use here or anywhere", r.Expect)
	}
	if r.Level == driver.LevelAllow && digests(&r.Match) {
		return nil, wrong(key+".match", "text_digest cannot allow: a fingerprint compares loosely; use role and label")
	}
	m, err := p.compile(r.Match, key+".match", 0)
	if err != nil {
		return nil, err
	}
	return &rule{Rule: r, matcher: m}, nil
}

func digests(m *Match) bool {
	return m != nil && (m.TextDigest != "" || digests(m.Within))
}

// isID reports whether id can name a rule. The name of the title's pattern is
// not free.
func isID(id string) bool {
	if id == "" || len(id) > longestID || id == titleRule {
		return false
	}
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		default:
			return false
		}
	}
	return true
}

func isName(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-' {
			return false
		}
	}
	return s != "" && len(s) <= longestID
}

// badText returns the key of a string in v that is not UTF-8, "" where all are.
func badText(v reflect.Value, key string) string {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return key
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return badText(v.Elem(), key)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if bad := badText(v.Index(i), fmt.Sprintf("%s[%d]", key, i)); bad != "" {
				return bad
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if badText(k, "k") != "" || badText(v.MapIndex(k), "v") != "" {
				return key
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if bad := badText(v.Field(i), strings.TrimPrefix(key+"."+name, ".")); bad != "" {
				return bad
			}
		}
	}
	return ""
}
