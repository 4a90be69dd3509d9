package policy_test

import (
	"fmt"
	"image"
	"testing"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// manyRules is the mix that the speed goal names: of n rules, patterns are
// regular expressions.
func manyRules(n, patterns int) policy.Document {
	d := policy.New()
	for i := range n {
		r := policy.Rule{ID: fmt.Sprintf("r%d", i), Level: driver.LevelHide, Match: policy.Match{App: "chromium", Role: "button", Label: fmt.Sprintf("Control %d", i*7)}}
		switch {
		case i < patterns && i%2 == 0:
			r.Match = policy.Match{TextRegex: fmt.Sprintf("sk-%d-[a-z0-9-]{10,}", i)}
		case i < patterns:
			r.Match = policy.Match{LabelRegex: fmt.Sprintf("(secret|token|password) %d", i)}
		case i%3 == 0:
			r.Level = driver.LevelAsk
		}
		d.Rules = append(d.Rules, r)
	}
	return d
}

func manyNodes(n int) *driver.Snapshot {
	s := &driver.Snapshot{Window: console(), AllText: true}
	roles := []driver.Role{driver.RoleGroup, driver.RoleText, driver.RoleButton, driver.RoleTextbox, driver.RoleText}
	for i := range n {
		e := el(max(-1, i-1-i%5), roles[i%5], fmt.Sprintf("Control %d of this page", i))
		e.Value = fmt.Sprintf("value %d", i%50)
		e.Text = []string{"A longer description, as pages have them"}
		e.Bounds = image.Rect(0, i*20, 200, i*20+18)
		s.Elements = append(s.Elements, e)
	}
	return s
}

func BenchmarkJudge(b *testing.B) {
	for _, c := range []struct{ rules, patterns, nodes int }{{1000, 10, 2000}, {1000, 100, 2000}, {1000, 10, 10000}, {20, 2, 200}} {
		b.Run(fmt.Sprintf("rules=%d/patterns=%d/nodes=%d", c.rules, c.patterns, c.nodes), func(b *testing.B) {
			p, err := policy.Compile(manyRules(c.rules, c.patterns))
			if err != nil {
				b.Fatal(err)
			}
			s := manyNodes(c.nodes)
			b.ReportAllocs()
			for b.Loop() {
				p.Judge(s, keyed)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	p, err := policy.Compile(manyRules(1000, 10))
	if err != nil {
		b.Fatal(err)
	}
	data := p.Encode()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := policy.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIdentify(b *testing.B) {
	s := manyNodes(2000)
	for b.Loop() {
		policy.Identify(s, 1002)
	}
}
