package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Goal is the least share of a package's statements that tests must run.
type Goal struct {
	Package string // below the module
	Percent float64
}

// ParseGoals reads "a/b=100 c=95".
func ParseGoals(text string) ([]Goal, error) {
	var goals []Goal
	for _, word := range strings.Fields(text) {
		name, number, _ := strings.Cut(word, "=")
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || name == "" || percent <= 0 || percent > 100 {
			return nil, fmt.Errorf("goal %q is not PACKAGE=PERCENT", word)
		}
		goals = append(goals, Goal{name, percent})
	}
	if len(goals) == 0 {
		return nil, fmt.Errorf("no goals")
	}
	return goals, nil
}

// A Profile is the union of coverage profiles: a statement ran if it ran in
// one of them.
type Profile struct {
	module, root string
	blocks       map[string]block // by "file:from,to"
	generated    map[string]bool
}

type block struct {
	file       string // below the module
	where      string
	statements int
	ran        bool
}

// NewProfile makes an empty one for the module whose files lie below root.
func NewProfile(module, root string) *Profile {
	return &Profile{module: module, root: root, blocks: map[string]block{}, generated: map[string]bool{}}
}

var profileLine = regexp.MustCompile(`^(.+\.go):(\d+\.\d+,\d+\.\d+) (\d+) (\d+)$`)

// Read adds a profile as go test writes it.
func (p *Profile) Read(r io.Reader) error {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "mode: ") {
			continue
		}
		m := profileLine.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("not a line of a coverage profile: %q", line)
		}
		file := strings.TrimPrefix(m[1], p.module+"/")
		if strings.Contains(file, "testdata/") || p.isGenerated(file) {
			continue
		}
		statements, err := strconv.Atoi(m[3])
		if err != nil {
			return err
		}
		key := file + ":" + m[2]
		b := p.blocks[key]
		p.blocks[key] = block{file: file, where: m[2], statements: statements, ran: b.ran || m[4] != "0"}
	}
	return nil
}

var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func (p *Profile) isGenerated(file string) bool {
	is, known := p.generated[file]
	if !known {
		text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(file)))
		is = err == nil && generatedMark.Match(text)
		p.generated[file] = is
	}
	return is
}

// maxMissed is how many places are named that did not run: one who has more to
// do uses go tool cover.
const maxMissed = 30

// Judge prints each goal's package with its share, and what did not run where
// that is too little. It tells whether every goal is met.
func (p *Profile) Judge(w io.Writer, goals []Goal) bool {
	good := true
	for _, g := range goals {
		all, ran := 0, 0
		var missed []string
		for _, b := range p.blocks {
			if path.Dir(b.file) != g.Package {
				continue
			}
			all += b.statements
			if b.ran {
				ran += b.statements
			} else if b.statements > 0 {
				missed = append(missed, b.file+":"+b.where)
			}
		}
		switch share := 100 * float64(ran) / float64(max(all, 1)); {
		case all == 0:
			good = false
			fmt.Fprintf(w, "%-28s no statement of it is in the profile; %g %% are asked for\n", g.Package, g.Percent)
		case share < g.Percent:
			good = false
			fmt.Fprintf(w, "%-28s %6.2f %%, less than %g %%; not run:\n", g.Package, share, g.Percent)
			slices.Sort(missed)
			for _, m := range missed[:min(len(missed), maxMissed)] {
				fmt.Fprintf(w, "    %s\n", m)
			}
			if more := len(missed) - maxMissed; more > 0 {
				fmt.Fprintf(w, "    and %d more places\n", more)
			}
		default:
			fmt.Fprintf(w, "%-28s %6.2f %% of %d statements\n", g.Package, share, all)
		}
	}
	return good
}
