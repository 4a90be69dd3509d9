package guard_test

import (
	"fmt"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
)

func ExampleConfig_Decide() {
	c := guard.Config{Person: map[guard.Category]guard.Tier{guard.Window: guard.Ask}}
	for _, tool := range []string{"click", "bring_to_front", "kill_app", "get_desktop_state"} {
		d := c.Decide(tool)
		fmt.Printf("%s: %s %q\n", tool, d.Tier, d.Code)
	}
	// Output:
	// click: auto ""
	// bring_to_front: ask ""
	// kill_app: deny "tool_denied"
	// get_desktop_state: deny "tool_uncovered"
}
