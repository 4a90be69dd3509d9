package policy_test

import (
	"fmt"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

func ExampleParse() {
	_, err := policy.Parse([]byte(`{
  "version": 1,
  "rules": [{"id": "r1", "level": "hide", "match": {"label": "API key"}}]
}`))
	fmt.Println(err)
	// Output: line 3, column 35: rule r1: rules[0].level: level "hide": write "black" (Hide)
}

func ExamplePolicy_Judge() {
	p, err := policy.Parse([]byte(`{"version": 1, "rules": [
  {"id": "r1", "level": "black", "match": {"text_regex": "sk-[a-z0-9-]{10,}"}},
  {"id": "r2", "level": "blue", "match": {"role": "button", "label": "Delete"}}]}`))
	if err != nil {
		panic(err)
	}
	s := &driver.Snapshot{AllText: true, Elements: []driver.Element{
		{Parent: -1, Role: driver.RoleText, Label: "Key: sk-test-9f2a77c1b0"},
		{Parent: -1, Role: driver.RoleButton, Label: "DELETE"},
		{Parent: -1, Role: driver.RoleButton, Label: "Save"},
	}}
	for i, v := range p.Judge(s, nil).Verdicts {
		fmt.Println(s.Elements[i].Role, v.Level.Word(), v.Rules)
	}
	// Output:
	// text Hide [r1]
	// button Read only [r2]
	// button Ask first []
}

func ExampleDocument_AddRule() {
	d, err := policy.New().AddRule(policy.Rule{Level: driver.LevelHide, Match: policy.Match{App: "chromium", Label: "API key"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(d.Rules[0].ID, d.Rules[0].Expects())
	// Output: r1 here
}

func ExampleShape() {
	fmt.Println(policy.Shape("sk-test-9f2a77c1b0"))
	// Output: sk-test-[0-9a-z-]{7,}
}
