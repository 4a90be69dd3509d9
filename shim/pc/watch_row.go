package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// A row is one ask, or a list of steps that is answered as one.
type row struct {
	cards []control.Card
	// ended says how it ended, "" while it waits. It keeps its place for a
	// moment, so that nothing moves under a finger.
	ended   string
	endedAt time.Time
}

// rowsOf puts cards in rows, in their order.
func rowsOf(cards []control.Card) []row {
	var all []row
	for _, c := range cards {
		i := -1
		if c.Group != "" {
			i = slices.IndexFunc(all, func(r row) bool {
				return r.cards[0].Group == c.Group && r.cards[0].Session == c.Session
			})
		}
		if i < 0 {
			all = append(all, row{cards: []control.Card{c}})
			continue
		}
		all[i].cards = append(all[i].cards, c)
		slices.SortStableFunc(all[i].cards, func(a, b control.Card) int { return a.Step - b.Step })
	}
	return all
}

// place is equal for a row and the one that takes its place when the same is
// asked again.
func (r row) place() string {
	c := r.cards[0]
	if c.Group != "" {
		return c.Session + " list " + c.Group
	}
	return fmt.Sprint(c.Session, " ask ", c.First.UnixNano(), " ", c.Verb, " ", c.Target)
}

func (r row) ids() []string {
	var all []string
	for _, c := range r.cards {
		all = append(all, c.ID)
	}
	return all
}

// key is equal only for rows that ask exactly the same.
func (r row) key() string { return strings.Join(r.ids(), " ") }

// code is what is typed to approve it. A list has its last step's, which
// changes when a step comes.
func (r row) code() string { return r.cards[len(r.cards)-1].Code }

func (r row) expires() time.Time {
	first := r.cards[0].Expires
	for _, c := range r.cards {
		if c.Expires.Before(first) {
			first = c.Expires
		}
	}
	return first
}

// says is the act in one line.
func (r row) says() string {
	c := r.cards[0]
	if c.Group != "" {
		return fmt.Sprintf("%d of %d steps, as one list", len(r.cards), c.Of)
	}
	return act(c)
}

// act is what would be done, quoted as the card quotes it.
func act(c control.Card) string {
	for _, l := range c.Lines() {
		if l.Name == "wants to" {
			return l.Text
		}
	}
	return plain(c.Verb)
}

// lines is all of the row, for a terminal of this width. What all steps of a
// list have in common stands once, before them.
func (r row) lines(width int, last *control.Card) []string {
	var all []string
	add := func(line string, indent int) { all = append(all, fold(line, width, indent)...) }
	if r.cards[0].Group == "" {
		if d := differs(r.cards[0], last); d != "" {
			add(d, 2)
		}
		for _, line := range cardLines(r.cards[0]) {
			add(line, 4)
		}
		return all
	}
	steps := make([][]string, len(r.cards))
	for i, c := range r.cards {
		of := c.Of
		c.Group = "" // each has its number in front
		steps[i] = cardLines(c)
		if i == 0 {
			add(fmt.Sprintf("%d of a list of %d steps, to be done in this order. %s", len(r.cards), of, others(of-len(r.cards))), 2)
		}
	}
	inAll := func(line string) bool {
		return !slices.ContainsFunc(steps, func(step []string) bool { return !slices.Contains(step, line) })
	}
	for _, line := range steps[0] {
		if inAll(line) && len(steps) > 1 {
			add(line, 4)
		}
	}
	for i, step := range steps {
		add(fmt.Sprintf("-- step %d --", r.cards[i].Step), 2)
		for _, line := range step {
			if !inAll(line) || len(steps) == 1 {
				add(line, 4)
			}
		}
	}
	return all
}

// others says what is with the steps of a list that are not shown.
func others(n int) string {
	switch n {
	case 0:
		return "All values are shown."
	case 1:
		return "1 more needs no answer, or is not asked yet."
	}
	return fmt.Sprintf("%d more need no answer, or are not asked yet.", n)
}

// differs says what is not as in the last ask that was approved, "" where
// there was none of the same session.
func differs(c control.Card, last *control.Card) string {
	if last == nil || last.Session != c.Session {
		return ""
	}
	var what []string
	for _, d := range []struct {
		word    string
		differs bool
	}{
		{"what it does", c.Verb != last.Verb}, {"the control", c.Target != last.Target}, {"the window", c.Window != last.Window},
		{"the place", c.Place != last.Place}, {"the text or numbers", c.Arguments != last.Arguments},
		{"the way", c.Delivery != last.Delivery},
	} {
		if d.differs {
			what = append(what, d.word)
		}
	}
	if len(what) == 0 {
		return "The same as the last that you approved."
	}
	return "Same as the last that you approved, except: " + strings.Join(what, ", ") + "."
}

// merge puts what waits now in the places of what is shown. What ended keeps
// its place until it was seen to.
func merge(shown []row, seen control.Seen, now time.Time) []row {
	waits := rowsOf(seen.Cards)
	var all []row
	for _, r := range shown {
		i := slices.IndexFunc(waits, func(w row) bool { return w.place() == r.place() })
		switch {
		case i >= 0:
			all = append(all, waits[i])
			waits = slices.Delete(waits, i, i+1)
		case r.ended == "":
			r.ended, r.endedAt = seen.Ended[r.cards[0].ID], now
			if r.ended == "" {
				r.ended = "over"
			}
			all = append(all, r)
		case now.Sub(r.endedAt) < endedFor:
			all = append(all, r)
		}
	}
	return append(all, waits...)
}

// endedFor is how long a row that ended keeps its place.
const endedFor = 4 * time.Second
