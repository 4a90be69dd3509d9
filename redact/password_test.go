package redact_test

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/redact"
)

func password(label, value string) driver.Element {
	e := element(-1, label, 100, 100, 80, 20)
	e.Role, e.Value, e.Web = driver.RolePassword, value, true
	return e
}

func TestPC29PasswordsAreVeiledWithoutARule(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*driver.Snapshot)
		label  string
	}{
		{"named", func(*driver.Snapshot) {}, "PIN"},
		{"label is the value", func(s *driver.Snapshot) { s.Elements[0].Label = "hunter2" }, ""},
		{"label holds the value", func(s *driver.Snapshot) { s.Elements[0].Label = "PIN hunter2" }, ""},
		{"label is dots", func(s *driver.Snapshot) { s.Elements[0].Label, s.Elements[0].Value = "●●●●●●●", "" }, ""},
		{"value is dots", func(s *driver.Snapshot) { s.Elements[0].Value = "•••••••" }, "PIN"},
		{"no value known, no page", func(s *driver.Snapshot) {
			s.Elements[0].Label, s.Elements[0].Value, s.Elements[0].Web, s.AllText = "hunter2", "", false, false
		}, ""},
		{"no value known, all text known", func(s *driver.Snapshot) { s.Elements[0].Value, s.Elements[0].Web = "", false }, "PIN"},
		{"text inside", func(s *driver.Snapshot) {
			s.Elements = append(s.Elements, driver.Element{Parent: 0, Label: "hunter2", Web: true, Role: driver.RoleText})
		}, "PIN"},
		{"text elsewhere", func(s *driver.Snapshot) { s.Elements = append(s.Elements, element(-1, "was: hunter2", 0, 0, 20, 20)) }, "PIN"},
		{"short value in an ancestor", func(s *driver.Snapshot) {
			s.Elements = []driver.Element{element(-1, "PIN h2", 0, 0, 200, 200), password("PIN", "h2")}
			s.Elements[1].Parent = 0
		}, "PIN"},
		{"word in an ancestor", func(s *driver.Snapshot) {
			s.Elements = []driver.Element{element(-1, "PINhunter", 0, 0, 200, 200), password("PIN", "hunter")}
			s.Elements[1].Parent = 0
		}, "PIN"},
		{"dots elsewhere", func(s *driver.Snapshot) {
			s.Elements = append(s.Elements, element(-1, "•••••••", 0, 0, 20, 20))
		}, "PIN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshot(t, password("PIN", "hunter2"))
			c.change(s)
			o, _, err := redact.Redact(s, plan(s), redact.Options{})
			require.NoError(t, err)
			for _, secret := range []string{"hunter", "h2", "••", "●●"} {
				require.NotContains(t, all(o), secret)
			}
			for e := range o.Elements() {
				if e.Role == "password" {
					require.Equal(t, c.label, e.Label)
					require.Empty(t, e.Value)
					require.Equal(t, driver.LevelAsk, e.Level)
				}
			}
			flat(t, pixels(t, o), image.Rect(95, 95, 185, 125))
			require.Zero(t, o.Covered())
		})
	}
}

func TestPC29PasswordsAreMaskedWhateverThePlanSays(t *testing.T) {
	for _, v := range []redact.Verdict{redact.Hide, redact.Omit, redact.Bare, redact.Veil, redact.Show} {
		s := snapshot(t, password("PIN", "hunter2"))
		p := plan(s)
		p.Verdicts[0] = v
		o, rows, err := redact.Redact(s, p, redact.Options{})
		require.NoError(t, err)
		require.NotContains(t, all(o), "hunter2")
		require.Equal(t, v >= redact.Bare, len(rows) == 1)
		flat(t, pixels(t, o), image.Rect(95, 95, 185, 125))

		s.Elements[0].Bounds = image.Rectangle{}
		_, _, err = redact.Redact(s, p, redact.Options{})
		require.ErrorIs(t, err, redact.ErrWithheld)
		_, _, err = redact.Redact(s, p, redact.Options{NoImage: true})
		require.Equal(t, v == redact.Hide, err != nil, "without a picture a password needs no place, a hidden control does")
	}
}

func TestVeilMasksWithoutHiding(t *testing.T) {
	s := snapshot(t, element(-1, "Balance", 100, 100, 80, 20))
	s.Elements[0].Value = "12,345.00"
	p := plan(s)
	p.Verdicts[0] = redact.Veil
	o, _, err := redact.Redact(s, p, redact.Options{})
	require.NoError(t, err)
	require.NotContains(t, all(o), "12,345")
	e, _ := o.Element(0)
	require.Equal(t, "Balance", e.Label)
	require.Equal(t, image.Rect(100, 100, 180, 120), e.Bounds)
	flat(t, pixels(t, o), image.Rect(95, 95, 185, 125))
}
