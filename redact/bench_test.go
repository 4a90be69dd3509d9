package redact_test

import (
	"fmt"
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/redact"
)

// table returns a page of n cells, every step-th one hidden.
func table(t testing.TB, n, step int) (*driver.Snapshot, redact.Plan) {
	s := snapshot(t, element(-1, "page", 0, 0, 400, 300))
	for i := 1; i < n; i++ {
		s.Elements = append(s.Elements, element(0, fmt.Sprintf("Cell number %d of the table", i), i%40*10, i/40*10, 9, 9))
		s.Elements[i].Value = fmt.Sprintf("value %d", i*31)
	}
	p := plan(s)
	for i := 1; i < n; i += step {
		p.Verdicts[i] = redact.Hide
	}
	return s, p
}

func BenchmarkRedactTree(b *testing.B) {
	for _, n := range []int{2000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, p := table(b, n, 10)
			for b.Loop() {
				_, _, err := redact.Redact(s, p, redact.Options{NoImage: true})
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkRedactPicture(b *testing.B) {
	s, p := table(b, 60, 6)
	m := image.NewNRGBA(image.Rect(0, 0, 1280, 960))
	for i := range m.Pix {
		m.Pix[i] = uint8(i * i >> 9)
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	setPicture(b, s, m)
	for b.Loop() {
		_, _, err := redact.Redact(s, p, redact.Options{})
		require.NoError(b, err)
	}
}
