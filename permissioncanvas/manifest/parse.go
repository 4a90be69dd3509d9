package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// toolName is the form of every tool name that the drivers we know have.
var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// duration is the driver's form of one.
var duration = regexp.MustCompile(`^([0-9]{1,9})([smh])$`)

// day is the longest a manifest may last, in seconds.
const day = 24 * 60 * 60

// Parse reads a capability manifest. Every error is a [*FormError] or wraps
// what Options.Resolve returned.
func Parse(data []byte, opts *Options) (*Manifest, error) {
	p := parser{resolve: func(path string) (string, error) { return path, nil }}
	if opts != nil && opts.Resolve != nil {
		p.resolve = opts.Resolve
	}
	root, err := document(data)
	if err != nil {
		return nil, err
	}
	p.m = &Manifest{
		bytes: slices.Clone(data), tools: map[string]bool{}, windows: map[Window]bool{},
		exes: map[string]bool{}, bundles: map[string]bool{},
	}
	if err := p.file(root); err != nil {
		return nil, err
	}
	return p.m, nil
}

type parser struct {
	m       *Manifest
	resolve func(string) (string, error)

	mode    *string
	deny    map[string]bool // both of deny and of the old ask, which is a denial
	asks    bool
	expires string
	idle    string
	dirs    bool // a directory is granted whole
	apps    bool
	kinds   bool // kinds of browser profiles
	history bool
	origins bool
}

// file reads the document and then what its parts say together.
func (p *parser) file(root *yaml.Node) error {
	if root.Kind != yaml.MappingNode {
		return fault(root, "", "a manifest is one mapping, as in version: 3")
	}
	p.deny = map[string]bool{}
	var version int64
	err := fields(root, "", map[string]func(*yaml.Node, string) error{
		"version": number(&version),
		"mode": func(n *yaml.Node, where string) error {
			p.mode = new(string)
			return text(p.mode)(n, where)
		},
		"expires_after": text(&p.expires),
		"idle_timeout":  text(&p.idle),
		"allow":         p.toolSet(p.m.tools),
		"deny":          p.toolSet(p.deny),
		"ask": func(n *yaml.Node, where string) error {
			p.asks = true
			return p.toolSet(p.deny)(n, where)
		},
		"resources": p.resources,
	})
	if err != nil {
		return err
	}
	p.m.version = int(version)
	if err := p.together(); err != nil {
		return &FormError{Reason: err.Error()}
	}
	return nil
}

// together checks what single keys cannot show, by the driver's own rules.
func (p *parser) together() error {
	v, m := p.m.version, p.m
	switch {
	case v < 1 || v > 3:
		return fmt.Errorf("version %d is not known; 1, 2 and 3 are", v)
	case v < 3 && (p.mode == nil || *p.mode != "bounded" && *p.mode != "autonomous"):
		return fmt.Errorf("version %d needs mode: bounded", v)
	case v == 3 && p.mode != nil:
		return fmt.Errorf("version 3 has no mode; the launcher says it")
	case v < 3 && (p.expires == "" || p.idle == ""):
		return fmt.Errorf("version %d needs expires_after and idle_timeout", v)
	case v == 3 && p.asks:
		return fmt.Errorf("version 3 has no ask; asking is the person's policy")
	case v == 1 && (p.apps || p.dirs || p.kinds):
		return fmt.Errorf("version 1 has no apps, no browser profiles and no directories")
	case v < 3 && p.history:
		return fmt.Errorf("version %d has no computer_history", v)
	case len(m.tools) == 0:
		return fmt.Errorf("allow.tools names no tool")
	}
	for tool := range m.tools {
		if p.deny[tool] {
			return fmt.Errorf("%s is both allowed and not", tool)
		}
		if p.origins && passesOrigins(tool) {
			return fmt.Errorf("with browser.origins, %s cannot be allowed: it would reach past them", tool)
		}
	}
	return p.lifetimes()
}

func (p *parser) lifetimes() (err error) {
	if p.m.expires, err = seconds("expires_after", p.expires); err != nil {
		return err
	}
	if p.m.idle, err = seconds("idle_timeout", p.idle); err != nil {
		return err
	}
	if p.m.expires > 0 && p.m.idle > p.m.expires {
		return fmt.Errorf("idle_timeout is longer than expires_after")
	}
	return nil
}

// seconds reads a duration; "" is none.
func seconds(key, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	parts := duration.FindStringSubmatch(s)
	if parts == nil {
		return 0, fmt.Errorf("%s: a duration such as 90s, 30m or 8h belongs here", key)
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	switch parts[2] {
	case "m":
		n *= 60
	case "h":
		n *= 60 * 60
	}
	if n < 1 || n > day {
		return 0, fmt.Errorf("%s: more than nothing and at most 24h", key)
	}
	return n, nil
}

// toolSet reads {tools: [...]}. A name that stands twice in one set is an
// error, as with the driver.
func (p *parser) toolSet(to map[string]bool) func(*yaml.Node, string) error {
	return func(n *yaml.Node, where string) error {
		return fields(n, where, map[string]func(*yaml.Node, string) error{
			"tools": func(n *yaml.Node, where string) error {
				return items(n, where, func(n *yaml.Node, where string) error {
					var name string
					if err := text(&name)(n, where); err != nil {
						return err
					}
					name = canonical(name)
					switch {
					case !toolName.MatchString(name):
						return fault(n, where, fmt.Sprintf("%.40q cannot be a tool's name", name))
					case to[name]:
						return fault(n, where, name+" stands twice")
					}
					to[name] = true
					return nil
				})
			},
		})
	}
}

// passesOrigins names the tools that would reach a page past its origin.
func passesOrigins(tool string) bool {
	switch tool {
	case "page", "click", "double_click", "right_click", "drag", "scroll", "type_text", "press_key", "hotkey",
		"set_value", "mouse_button_down", "mouse_button_up", "mouse_drag", "parallel_mouse_drag",
		"get_accessibility_tree", "get_window_state", "verify_state", "get_desktop_state", "run_steps", "run_script":
		return true
	}
	return false
}

// absolute reports whether a path is one on any of our systems, and climbs
// nowhere.
func absolute(path string) bool {
	rooted := strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\\`) ||
		len(path) > 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	steps := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	return rooted && len(steps) > 0 && !slices.Contains(steps, "..") && !slices.Contains(steps, ".")
}
