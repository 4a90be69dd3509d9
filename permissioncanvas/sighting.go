package permissioncanvas

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"image"
	"slices"
	"strconv"
	"time"

	"github.com/permission-canvas/permission-canvas/driver"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/guard"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/sight"
	"github.com/permission-canvas/permission-canvas/redact"
)

// A sighting is what one Capture showed: the newest of its window.
type sighting struct {
	look   *sight.Look
	label  string // of the conversation that saw it; two share no tokens
	nonce  uint32
	rows   []int       // by row of the Observation: the index in the snapshot
	shown  []Element   // by row: all that may be said of an element in words
	title  string      // as the agent may know it
	size   image.Point // of the picture the agent got
	ground *ground
	levels []driver.Level
	rules  string // hash of the policy it was made under
	taken  time.Time

	// unchecked: text went in and nobody could say that it arrived. No more
	// does before a capture (PC21).
	unchecked bool
}

// expires is when the sighting may no longer be acted on. The wall clock
// counts too, so that a suspended machine does not stretch it.
func (s *sighting) expires() time.Time { return s.taken.Add(lifetime) }

func (s *sighting) expired(now time.Time) bool {
	wall, then := now.Round(0), s.taken.Round(0)
	return now.After(s.expires()) || wall.After(then.Add(lifetime)) || wall.Before(then.Add(-time.Second))
}

// id names the sighting in digests and replies.
func (s *sighting) id() string { return fmt.Sprintf("s%08x", s.nonce) }

// element is element i of the snapshot as the agent sees it.
func (s *sighting) element(i int) Element {
	if row := slices.Index(s.rows, i); row >= 0 {
		return s.shown[row]
	}
	return Element{Role: "control"}
}

// onScreen turns a way on the agent's picture into one on the screen.
func (s *sighting) onScreen(d Drag) (Drag, error) {
	if s.size.X <= 0 || s.size.Y <= 0 || !d.From.In(image.Rectangle{Max: s.size}) || !d.To.In(image.Rectangle{Max: s.size}) {
		return d, refuse(BadRequest, nil, "The path leaves the window's picture.")
	}
	f := s.look.Snapshot.Frame
	scale := func(p image.Point) image.Point {
		return f.Min.Add(image.Pt(p.X*f.Dx()/s.size.X, p.Y*f.Dy()/s.size.Y))
	}
	d.From, d.To = scale(d.From), scale(d.To)
	return d, nil
}

// token is that of a row.
func (s *sighting) token(row int) Token { return Token(s.id() + ":" + strconv.Itoa(row)) }

// show makes of the look what the agent gets, and keeps what it saw.
func (s *sighting) show(o *CaptureOptions, cfg guard.Config) (*Observation, error) {
	s.ground = newGround(s.look)
	s.levels = levels(s.ground, cfg)
	s.look.Plan.Levels = s.levels
	obs, rows, err := redact.Redact(s.look.Snapshot, s.look.Plan, redact.Options{
		Nonce: s.nonce, MaxElements: o.MaxElements, Query: o.Query, MaxSide: o.MaxSide, NoImage: o.NoImage,
		Expires: s.expires(),
	})
	if err != nil {
		return nil, refuse(Withheld, err)
	}
	s.rows, s.shown, s.size, s.title = rows, slices.Collect(obs.Elements()), obs.Size(), obs.Window().Title
	s.look.Snapshot.Image = nil // nobody needs it any more, and it is not masked
	return obs, nil
}

func newNonce() uint32 {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint32(b[:])
}
