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
	console := drivertest.Fixture{Window: "Admin Console", Other: "Staff Login", Button: "Save", Field: "Name"}
	page := drivertest.Fixture{Window: "Orders - Acme", Other: "Admin Console", Button: "Pay now", Field: "Search orders"}
	for _, c := range []struct {
		name     string
		fixture  drivertest.Fixture
		delivery driver.Delivery
		scale    float64
	}{
		{"background", console, driver.Background, 0},
		{"foreground", console, driver.Foreground, 0},
		{"scaled", console, "", 1.5},
		{"page", page, driver.Background, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			drivertest.Test(t, func(*testing.T) drivertest.Fixture {
				d := sim.New(&sim.Options{Scale: c.scale})
				f, ref := c.fixture, d.Window(c.fixture.Window)
				f.Driver, f.Delivery = d, c.delivery
				f.Presses = func() int { return d.Pressed(f.Button) }
				f.Text = func() string { return d.Value(ref, f.Field) }
				f.CloseWindow = func() { d.CloseWindow(ref) }
				return f
			})
		})
	}
}
