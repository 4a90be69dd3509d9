package canvastest_test

import (
	"context"
	"fmt"
	"testing"

	canvas "github.com/permission-canvas/permission-canvas/permissioncanvas"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/canvastest"
)

// press is the code under test: a host that presses a button of the window it
// was given.
func press(ctx context.Context, desk canvas.Backend, label string) error {
	windows, err := desk.ListWindows(ctx)
	if err != nil {
		return err
	}
	seen, err := desk.Capture(ctx, windows[0].Ref, nil)
	if err != nil {
		return err
	}
	for e := range seen.Elements() {
		if e.Role == "button" && e.Label == label {
			_, err := desk.Act(ctx, canvas.Click{Target: e.Token})
			return err
		}
	}
	return fmt.Errorf("no button %q", label)
}

// A host's test: the host works in a goroutine of its own, the test is the
// person who answers.
func Example() {
	example(func(t testing.TB) {
		desk, person := canvastest.New(t, `{"version": 1, "rules": [
			{"id": "save", "level": "yellow", "match": {"role": "button", "label": "Save"}}]}`)
		done := make(chan error, 1)
		go func() { done <- press(t.Context(), desk, "Save") }()

		asked := person.Approve()
		fmt.Println("asked:", asked.Verb, asked.Target)
		fmt.Println("host:", <-done)
		fmt.Println("pressed:", desk.Screen().Pressed("Save"))
	})
	// Output:
	// asked: CLICK button Save
	// host: <nil>
	// pressed: 1
}

// example runs f once with a test of its own, which an example has not.
func example(f func(testing.TB)) {
	testing.Benchmark(func(b *testing.B) {
		if b.N == 1 {
			f(b)
		}
	})
}
