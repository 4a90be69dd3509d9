package sight_test

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/driver/sim"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
	"github.com/permission-canvas/permission-canvas/redact"
)

// windowOf returns the simulated window as the driver lists it.
func windowOf(t testing.TB, d *sim.Desktop, title string) driver.Window {
	all, err := d.Windows(t.Context())
	require.NoError(t, err)
	for _, w := range all {
		if w.Ref == d.Window(title) {
			return w
		}
	}
	require.Fail(t, "no such window")
	return driver.Window{}
}

func TestLooksAtTheSimulator(t *testing.T) {
	for _, c := range []struct {
		name  string
		title string
		rules []policy.Rule
		gone  []string
		kept  []string
	}{
		{"a key by its shape", "Admin Console", []policy.Rule{{ID: "r1", Level: driver.LevelHide, Match: policy.Match{TextRegex: "sk-[a-z0-9-]{8,}"}}},
			[]string{"sk-test"}, []string{"API key", "Save", "Name", "Reveal key"}},
		{"a box", "Admin Console", []policy.Rule{{ID: "r1", Level: driver.LevelHide, Match: policy.Match{App: "sim-console", Label: "Credentials"}}},
			[]string{"sk-test", "API key", "Reveal"}, []string{"Save", "Name"}},
		{"a password without a rule", "Staff Login", nil, []string{"correct-horse"}, []string{"Password", "Account", "ada@acme.example"}},
		{"a column", "Orders - Acme", []policy.Rule{{ID: "r1", Level: driver.LevelHide, Match: policy.Match{TextRegex: "4000 [0-9 ]+"}}},
			[]string{"4000"}, []string{"Ada Lovelace", "Cancel order 1001", "Pay now"}},
	} {
		for _, scale := range []float64{1, 1.5} {
			t.Run(c.name, func(t *testing.T) {
				d := sim.New(&sim.Options{Scale: scale})
				defer d.Close()
				w := windowOf(t, d, c.title)
				doc := policy.New()
				doc.Windows, doc.Rules = []policy.Window{policy.WindowOf(w)}, c.rules
				p, err := policy.Compile(doc)
				require.NoError(t, err)
				look, err := sight.Take(t.Context(), d, p, w.Ref, sight.Options{})
				require.NoError(t, err)
				o, rows, err := redact.Redact(look.Snapshot, look.Plan, redact.Options{})
				require.NoError(t, err)
				for _, words := range c.gone {
					require.NotContains(t, o.Text(), words)
				}
				for _, words := range c.kept {
					require.Contains(t, o.Text(), words)
				}
				require.NotEmpty(t, rows)
				m := pixels(t, o)
				for i, v := range look.Plan.Verdicts {
					if v != redact.Hide && v != redact.Veil {
						continue
					}
					r := look.Snapshot.Elements[i].Bounds.Sub(w.Bounds.Min)
					at := func(n int) int { return int(float64(n) * scale) }
					r = image.Rect(at(r.Min.X), at(r.Min.Y), at(r.Max.X), at(r.Max.Y)).Intersect(m.Rect)
					for y := r.Min.Y; y < r.Max.Y; y++ {
						for x := r.Min.X; x < r.Max.X; x++ {
							if m.NRGBAAt(x, y) != redact.MaskColor() {
								require.Failf(t, "leak", "%d,%d", x, y)
							}
						}
					}
				}
			})
		}
	}
}
