package sim_test

import (
	"testing"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/drivertest"
	"github.com/permission-canvas/permission-canvas/driver/sim"
)

// TestSuite runs what every driver passes, on each way a click can go and at
// another scale.
func TestSuite(t *testing.T) {
	for _, c := range []struct {
		name     string
		delivery driver.Delivery
		scale    float64
	}{
		{"background", driver.Background, 0},
		{"foreground", driver.Foreground, 0},
		{"scaled", "", 1.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			drivertest.Test(t, func(*testing.T) drivertest.Fixture {
				d := sim.New(&sim.Options{Scale: c.scale})
				ref := d.Window("Admin Console")
				return drivertest.Fixture{
					Driver: d, Window: "Admin Console", Other: "Staff Login", Button: "Save", Field: "Name",
					Delivery:    c.delivery,
					Presses:     func() int { return d.Pressed("Save") },
					Text:        func() string { return d.Value(ref, "Name") },
					CloseWindow: func() { d.CloseWindow(ref) },
				}
			})
		})
	}
}
