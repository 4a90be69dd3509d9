package redact_test

import (
	"fmt"
	"image"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/redact"
)

func ExampleRedact() {
	s := &driver.Snapshot{
		Window: driver.Window{App: "console", Title: "Admin Console", Bounds: image.Rect(0, 0, 640, 480)},
		Elements: []driver.Element{
			{Parent: -1, Role: driver.RoleText, Label: "sk-test-9f2a77c1b0", Bounds: image.Rect(120, 40, 300, 60)},
			{Parent: -1, Role: driver.RoleTextbox, Label: "Name", Value: "Ada", Bounds: image.Rect(120, 80, 300, 110)},
			{Parent: -1, Role: driver.RoleButton, Label: "Save", Bounds: image.Rect(120, 120, 180, 150)},
		},
	}
	o, _, err := redact.Redact(s, redact.Plan{
		Verdicts: []redact.Verdict{redact.Hide, redact.Show, redact.Show},
		Levels:   []driver.Level{driver.LevelHide, driver.LevelAllow, driver.LevelAsk},
		Default:  driver.LevelAsk,
	}, redact.Options{Nonce: 0x5eed, NoImage: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(o.Text())
	name, _ := o.Element(0)
	fmt.Println(name.Token)
	// Output:
	// window "Admin Console" of "console". Where no other is named: ask. 1 place is covered by the person; don't guess it.
	// [0] textbox "Name" = "Ada" (allow)
	// [1] button "Save"
	// s00005eed:0
}
