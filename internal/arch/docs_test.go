package arch_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/internal/arch"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// page is one Markdown file.
type page struct {
	name  string   // below the root, with slashes
	prose string   // without what stands in fences
	code  []string // the lines in fences, and what stands in backquotes
}

var (
	span    = regexp.MustCompile("`[^`\n]+`")
	link    = regexp.MustCompile(`\[[^\]\n]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

func pages(t *testing.T) (root string, all []page) {
	t.Helper()
	root, err := arch.Root()
	require.NoError(t, err)
	files, err := arch.Files(root)
	require.NoError(t, err)
	for _, f := range files {
		if !strings.HasSuffix(f, ".md") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f)))
		require.NoError(t, err)
		all = append(all, read(f, string(text)))
	}
	require.NotEmpty(t, all)
	return root, all
}

func read(name, text string) page {
	p := page{name: name}
	fenced := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case fenced || strings.HasPrefix(line, "    "):
			p.code = append(p.code, strings.TrimSpace(line))
		default:
			p.prose += line
		}
	}
	for _, s := range span.FindAllString(p.prose, -1) {
		p.code = append(p.code, strings.Trim(s, "`"))
	}
	return p
}

// anchors are the places in a page that a link can name, as GitHub makes them.
func (p page) anchors() []string {
	var all []string
	for _, h := range heading.FindAllStringSubmatch(p.prose, -1) {
		a := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r > 127:
				return r
			}
			return -1
		}, strings.ToLower(h[1]))
		all = append(all, a)
	}
	return all
}

// TestDocsLinks: every link to a file of ours leads somewhere.
func TestDocsLinks(t *testing.T) {
	root, all := pages(t)
	byName := map[string]page{}
	for _, p := range all {
		byName[p.name] = p
	}
	for _, p := range all {
		for _, m := range link.FindAllStringSubmatch(span.ReplaceAllString(p.prose, ""), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			name := p.name
			if to != "" {
				name = path.Join(path.Dir(p.name), to)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
				t.Errorf("%s: %s does not exist", p.name, m[1])
				continue
			}
			if anchor != "" && !slices.Contains(byName[name].anchors(), anchor) {
				t.Errorf("%s: %s has no heading for #%s", p.name, name, anchor)
			}
		}
	}
}

// program is what an executable says that it knows.
type program struct{ name, help string }

// knows reports whether words begin with one of the program's commands.
func (p program) knows(words []string) bool {
	for line := range strings.Lines(p.help) {
		line = strings.TrimPrefix(strings.TrimSpace(line), p.name+" ")
		var command []string
		for _, w := range strings.Fields(line) {
			if !regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(w) {
				break
			}
			command = append(command, w)
		}
		// Of permission-canvas a sentence stands on the line, of pc it does not.
		if p.name == "permission-canvas" && len(command) > 1 {
			command = command[:1]
		}
		if len(command) > 0 && len(command) <= len(words) && slices.Equal(command, words[:len(command)]) {
			return true
		}
	}
	return slices.Contains([]string{"help", "version"}, words[0])
}

// names reports whether the help names the flag.
func (p program) names(flag string) bool {
	return regexp.MustCompile(regexp.QuoteMeta(flag)+`($|[^a-z-])`).MatchString(p.help) || flag == "--help"
}

// TestDocsCommands: no page names a command or a flag that its program does not
// know.
func TestDocsCommands(t *testing.T) {
	root, all := pages(t)
	call := regexp.MustCompile(`(?:^|[\s$(;|&"])(pc|permission-canvas) ([a-z][^;|&#)→]*)`)
	flag := regexp.MustCompile(`(?:^|\s|\[)(--[a-z][a-z-]*)`)
	for _, name := range []string{"pc", "permission-canvas"} {
		cmd := exec.Command("go", "run", "./shim/"+name, "help")
		cmd.Dir = root
		var trouble strings.Builder
		cmd.Stderr = &trouble
		help, err := cmd.Output()
		require.NoError(t, err, trouble.String())
		p := program{name, string(help)}
		require.False(t, p.knows([]string{"frobnicate"}))
		for _, md := range all {
			for _, code := range md.code {
				for _, m := range call.FindAllStringSubmatch(code, -1) {
					if m[1] != name {
						continue
					}
					words := strings.Fields(strings.ReplaceAll(m[2], ",", " "))
					if !p.knows(words) {
						t.Errorf("%s: %s has no command %q", md.name, name, m[2])
					}
					for _, f := range flag.FindAllStringSubmatch(m[2], -1) {
						if !p.names(f[1]) {
							t.Errorf("%s: %s has no flag %s", md.name, name, f[1])
						}
					}
				}
			}
		}
	}
}

// keys are the names of all properties in a JSON Schema, but those of the
// schema itself.
func keys(schema any, into map[string]bool) {
	switch s := schema.(type) {
	case map[string]any:
		for name, sub := range s {
			if properties, ok := sub.(map[string]any); ok && name == "properties" {
				for key := range properties {
					into[key] = true
				}
			}
			keys(sub, into)
		}
	case []any:
		for _, sub := range s {
			keys(sub, into)
		}
	}
}

// TestDocsPolicy: the reference and the example hold every key there is, and
// the example is a policy.
func TestDocsPolicy(t *testing.T) {
	root, err := arch.Root()
	require.NoError(t, err)
	var schema any
	require.NoError(t, json.Unmarshal(policy.Schema(), &schema))
	all := map[string]bool{}
	keys(schema, all)
	require.Greater(t, len(all), 25)
	reference, err := os.ReadFile(filepath.Join(root, "docs", "policy.md"))
	require.NoError(t, err)
	example, err := os.ReadFile(filepath.Join(root, "examples", "policy.example.json"))
	require.NoError(t, err)
	for key := range all {
		require.Contains(t, string(reference), "`"+key+"`")
		require.Contains(t, string(example), fmt.Sprintf("%q:", key))
	}
	p, err := policy.Parse(example)
	require.NoError(t, err)
	levels := map[string]bool{}
	for _, r := range p.Rules() {
		levels[string(r.Level)] = true
	}
	require.Len(t, levels, 4, "each level is shown")
}
