package policy

import (
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

// truth is what can be said of a key: the zero value is no.
type truth int8

const (
	no      truth = iota
	unknown       // cannot be evaluated: enough to restrict, never to allow
	yes
)

func known(b bool) truth {
	if b {
		return yes
	}
	return no
}

// matcher is a Match made ready.
type matcher struct {
	Match
	role              roleWord
	label, title, app string // folded
	site              string // as an origin, folded
	labels, texts     *pattern
	values, titles    *pattern
	within            *matcher
	number            int // of a within, to remember what is inside it
}

// rule is a Rule made ready.
type rule struct {
	Rule
	*matcher
}

func (r *rule) restricts() bool { return r.Level != driver.LevelAllow }
func (r *rule) hides() bool     { return r.Level == driver.LevelHide }

// compile checks m, which stands at key, and makes it ready.
func (p *Policy) compile(m Match, key string, depth int) (*matcher, *Error) {
	if err := m.check(key, depth); err != nil {
		return nil, err
	}
	c := &matcher{Match: m, role: newRoleWord(m.Role), app: Normal(m.App), site: Normal(origin(m.Site))}
	for _, part := range []struct {
		key, source string
		folded      *string
		pattern     **pattern
	}{
		{key: "label", source: m.Label, folded: &c.label},
		{key: "window_title", source: m.WindowTitle, folded: &c.title},
		{key: "label_regex", source: m.LabelRegex, pattern: &c.labels},
		{key: "text_regex", source: m.TextRegex, pattern: &c.texts},
		{key: "value_regex", source: m.ValueRegex, pattern: &c.values},
		{key: "window_title_regex", source: m.WindowTitleRegex, pattern: &c.titles},
	} {
		switch {
		case part.source == "":
		case part.folded != nil:
			if *part.folded = Normal(part.source); *part.folded == "" {
				return nil, wrong(key+"."+part.key, "holds nothing that can be seen")
			}
		default:
			var err error
			if *part.pattern, err = newPattern(part.source, p.patterns); err != nil {
				return nil, wrong(key+"."+part.key, "%v", err)
			}
			p.patterns++
		}
	}
	if m.Within == nil {
		return c, nil
	}
	within, err := p.compile(*m.Within, key+".within", depth+1)
	if err != nil {
		return nil, err
	}
	within.number = p.withins
	p.withins++
	c.within = within
	return c, nil
}

// check reads m's keys one by one.
func (m *Match) check(key string, depth int) *Error {
	switch {
	case *m == (Match{}):
		return wrong(key, "names nothing: give at least one key, or set default_level")
	case depth > mostNested:
		return wrong(key, "more than %d within one another", mostNested)
	case depth > 0 && (m.App != "" || m.Site != "" || m.PID != 0 || m.Start != 0 || m.WindowID != 0 || m.WindowTitle != "" || m.WindowTitleRegex != ""):
		return wrong(key, "describes an ancestor: put app, site, pid, start, window_id and window_title outside within")
	case m.Role != "" && strings.TrimSpace(m.Role) == "":
		return wrong(key+".role", "blank")
	case m.App != "" && strings.TrimSpace(m.App) == "":
		return wrong(key+".app", "blank")
	case m.Site != "" && !isOrigin(m.Site):
		return wrong(key+".site", "%.80q: write an origin such as https://acme.example", m.Site)
	case m.PID != 0 && !isProcess(m.PID):
		return wrong(key+".pid", "%d is no process", m.PID)
	case m.Start > mostInteger:
		return wrong(key+".start", "%d is beyond 2^53", m.Start)
	case m.WindowID != 0 && isPlaceholder(m.WindowID):
		return wrong(key+".window_id", "%d is no window", m.WindowID)
	case m.TextDigest != "" && !isDigest(m.TextDigest):
		return wrong(key+".text_digest", "not a fingerprint: let pc or the panel make it")
	}
	return nil
}

// isDigest keeps texts, which a person might write by mistake, out of the file.
func isDigest(s string) bool {
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return len(s) >= 16 && len(s) <= 128
}

// origin returns site in the one way it is compared in.
func origin(site string) string {
	site = strings.TrimSuffix(lower(site), "/")
	switch {
	case strings.HasPrefix(site, "https://"):
		return strings.TrimSuffix(site, ":443")
	case strings.HasPrefix(site, "http://"):
		return strings.TrimSuffix(site, ":80")
	}
	return site
}

// isOrigin reports whether site is a scheme and a host, as in
// https://acme.example:8443 or file://.
func isOrigin(site string) bool {
	scheme, host, ok := strings.Cut(origin(site), "://")
	return ok && isScheme(scheme) && !strings.ContainsAny(host, "/?#@\\ \t\r\n") && (host != "" && host[0] != ':' || host == "" && scheme == "file")
}

func isScheme(s string) bool {
	for i, r := range s {
		if (r < 'a' || r > 'z') && (i == 0 || (r < '0' || r > '9') && r != '+' && r != '-' && r != '.') {
			return false
		}
	}
	return s != ""
}

// roleWord is the role of a rule, which may be one of the closed set or a
// toolkit's word.
type roleWord struct {
	raw   string
	named driver.Role // where the word is of the closed set
	meant driver.Role // what the word means as a toolkit's
}

func newRoleWord(word string) roleWord {
	raw := strings.ToLower(strings.TrimSpace(word))
	w := roleWord{raw: raw, meant: driver.RoleOf(raw)}
	// "text" is the only word of both sets that means two things: static text
	// here, a text field in AT-SPI.
	if string(w.meant) == raw || raw == string(driver.RoleText) {
		w.named = driver.Role(raw)
	}
	return w
}

// loose reports whether e may have the role.
func (w roleWord) loose(e *driver.Element) truth {
	raw := rawRole(e)
	switch {
	case raw == w.raw:
		return yes
	case e.Role == driver.RoleUnknown, w.meant == driver.RoleUnknown && raw == "":
		return unknown
	}
	return known(e.Role == w.named || e.Role == w.meant)
}

// exact reports whether e has the role for certain.
func (w roleWord) exact(e *driver.Element) truth {
	switch {
	case e.Role == driver.RoleUnknown:
		return no
	case w.named != "":
		return known(e.Role == w.named)
	case w.meant != "":
		return known(e.Role == w.meant)
	}
	return known(rawRole(e) == w.raw)
}
