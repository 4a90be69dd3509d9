package main

import (
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

const (
	deadFor     = 500 * time.Millisecond  // no answer counts so soon after a change
	hurriedFor  = 1500 * time.Millisecond // nor so soon after a run of answers
	hurriedRun  = 5                       // answers
	hurriedTime = 20 * time.Second        // in which they make a run
	foldAfter   = 30 * time.Second        // a card that nobody touches holds input no longer
	lookEvery   = 200 * time.Millisecond  // for something new
	readEvery   = 2 * time.Second         // whether there seems to be something new or not
	stalled     = time.Second             // without a look: what is shown may be old
	ringAt      = 30 * time.Second        // before an ask is over
)

// A view is what the screen shows.
type view int

const (
	viewList   view = iota
	viewCard        // one ask or list of steps, whole
	viewWords       // words that go with a no
	viewText        // the log, or what was missed
	viewResume      // what agents will meet
)

// A screen is the state of pc watch.
type screen struct {
	hand          hand
	clock         func() time.Time
	width, height int

	view  view
	rows  []row
	focus string // place of the row in focus
	seen  control.Seen

	stamp   string
	looked  time.Time
	changed time.Time // what could be answered last changed
	deadFor time.Duration

	// The open card.
	top     int    // first line shown
	read    string // key of the row that was read to its end
	typed   string // first letter of the code
	typedOf string // key of the row when it was typed
	touched time.Time

	// What is typed and what for.
	words    string
	denying  []string // ids
	code     string   // to resume
	text     []string // lines of a long text
	heading  string
	busy     bool
	message  string
	last     *control.Card // approved last
	answered []time.Time
	goOn     bool // from the row that was just answered
	rung     map[string]bool
}

func newScreen(h hand, clock func() time.Time) *screen {
	now := clock()
	return &screen{hand: h, clock: clock, width: 80, height: 24, changed: now, looked: now, deadFor: deadFor, rung: map[string]bool{}}
}

// What comes back from outside of the screen.
type (
	lookMsg struct {
		at    time.Time
		stamp string
		seen  *control.Seen // nil where nothing seems to be new
	}
	doneMsg struct {
		said   string
		err    error
		card   *control.Card // that was approved
		answer bool
	}
	textMsg struct {
		heading, code string
		lines         []string
	}
)

// Init begins to look.
func (s *screen) Init() tea.Cmd { return s.next(0) }

// next looks after a while.
func (s *screen) next(after time.Duration) tea.Cmd {
	h, stamp, looked, clock := s.hand, s.stamp, s.looked, s.clock
	var known []string
	due := after == 0
	for _, r := range s.rows {
		if r.ended != "" {
			continue
		}
		known = append(known, r.ids()...)
		due = due || !r.expires().After(clock())
	}
	return func() tea.Msg {
		time.Sleep(after)
		now := h.stamp()
		if !due && now == stamp && clock().Sub(looked) < readEvery {
			return lookMsg{at: clock(), stamp: now}
		}
		seen := h.look(known)
		return lookMsg{clock(), now, &seen}
	}
}

// Update takes one message.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
		s.change()
		s.scroll(0)
	case tea.KeyPressMsg:
		return s, s.key(msg)
	case lookMsg:
		ring := s.see(msg)
		return s, tea.Batch(ring, s.next(lookEvery))
	case doneMsg:
		s.done(msg)
	case textMsg:
		s.busy, s.message = false, ""
		s.view, s.heading, s.text, s.code, s.typed = viewText, msg.heading, msg.lines, msg.code, ""
		s.top = 0
		if msg.code != "" {
			s.view = viewResume
		} else {
			s.scroll(1 << 30) // the newest
		}
		s.change()
	}
	return s, nil
}

// change makes every key dead that answers, for a moment.
func (s *screen) change() {
	s.changed, s.typed, s.typedOf = s.clock(), "", ""
}

// dead reports whether what is on the screen is too new, or perhaps too old,
// to be answered.
func (s *screen) dead() bool {
	now := s.clock()
	return now.Sub(s.changed) < s.deadFor || now.Sub(s.looked) > stalled+lookEvery
}

// see takes a look and returns what rings.
func (s *screen) see(l lookMsg) tea.Cmd {
	now := s.clock()
	if now.Sub(s.looked) > stalled+lookEvery { // we were stopped
		s.change()
	}
	s.stamp = l.stamp
	if l.seen == nil {
		s.looked = now
	} else {
		s.looked = now
		s.take(*l.seen, now)
	}
	if s.view == viewCard && now.Sub(s.touched) > foldAfter {
		s.toList("Folded, since nobody touched it. It is still waiting.")
	}
	return s.ring(now)
}

// take puts what was seen on the screen.
func (s *screen) take(seen control.Seen, now time.Time) {
	was := shape(s.rows)
	old, had := s.focused()
	s.rows = merge(s.rows, seen, now)
	if shape(s.rows) != was || seen.Pause != s.seen.Pause {
		s.change()
	}
	s.seen = seen
	s.refocus()
	r, ok := s.focused()
	if s.view == viewCard && (!ok || had && r.place() != old.place()) {
		s.toList("That question is over.")
	}
	if s.view == viewCard && r.key() != old.key() {
		s.read, s.top = "", 0
		s.scroll(0)
	}
}

// refocus gives the focus to a row that is there, and after an answer to the
// next one that waits.
func (s *screen) refocus() {
	i := slices.IndexFunc(s.rows, func(r row) bool { return r.place() == s.focus })
	if i < 0 && len(s.rows) > 0 {
		s.focus = s.rows[0].place()
	}
	if i < 0 || !s.goOn || s.rows[i].ended == "" {
		return
	}
	s.goOn = false
	for _, r := range slices.Concat(s.rows[i:], s.rows[:i]) {
		if r.ended == "" {
			s.focus = r.place()
			s.change()
			return
		}
	}
}

// shape is equal for rows that look and are answered alike.
func shape(rows []row) string {
	all := ""
	for _, r := range rows {
		all += r.place() + " " + r.key() + " " + r.ended + "\n"
	}
	return all
}

// ring rings for what has come and for what is nearly over, once each.
func (s *screen) ring(now time.Time) tea.Cmd {
	rings := false
	once := func(what string) {
		rings = rings || !s.rung[what]
		s.rung[what] = true
	}
	for _, r := range s.rows {
		if r.ended != "" {
			continue
		}
		once("new " + r.key())
		if left := r.expires().Sub(now); left <= ringAt {
			once("late " + r.key())
		}
	}
	if !rings {
		return nil
	}
	return tea.Raw("\a")
}

// focused is the row in focus.
func (s *screen) focused() (row, bool) {
	i := slices.IndexFunc(s.rows, func(r row) bool { return r.place() == s.focus })
	if i < 0 {
		return row{}, false
	}
	return s.rows[i], true
}

// move moves the focus by n rows.
func (s *screen) move(n int) {
	i := slices.IndexFunc(s.rows, func(r row) bool { return r.place() == s.focus })
	if len(s.rows) == 0 {
		return
	}
	to := s.rows[min(max(i+n, 0), len(s.rows)-1)].place()
	if to != s.focus {
		s.focus = to
		s.change()
	}
}

// toList folds the card.
func (s *screen) toList(said string) {
	s.hand.fold()
	s.view, s.message, s.top, s.read, s.words, s.denying, s.code = viewList, said, 0, "", "", nil, ""
	s.change()
}

// toCard opens the row in focus.
func (s *screen) toCard() {
	r, ok := s.focused()
	if !ok || r.ended != "" || s.dead() {
		return
	}
	if err := s.hand.open(); err != nil {
		s.message = "It cannot be opened: agents' input cannot be held back. " + plain(err.Error())
		return
	}
	s.view, s.message, s.top, s.read, s.touched = viewCard, "", 0, "", s.clock()
	s.change()
	s.scroll(0)
}

// scroll moves the open text by n lines and notes when its end was seen.
func (s *screen) scroll(n int) {
	lines := s.folded()
	r, ok := s.focused()
	if s.view == viewCard && ok {
		lines = r.lines(s.inner(), s.last)
	}
	room := s.room()
	s.top = min(max(s.top+n, 0), max(len(lines)-room, 0))
	if s.view == viewCard && ok && room > 0 && s.top+room >= len(lines) {
		s.read = r.key()
	}
}

// done takes what came of an answer.
func (s *screen) done(d doneMsg) {
	s.busy = false
	s.message = d.said
	if d.err != nil {
		s.message = "Not done. " + plain(d.err.Error())
	}
	if d.card != nil && d.err == nil {
		s.last = d.card
	}
	if d.err == nil && d.answer {
		s.goOn = true
		s.hurry()
	}
	s.change()
}

// hurry makes the next card wait longer after a run of answers.
func (s *screen) hurry() {
	now := s.clock()
	s.answered = append(slices.DeleteFunc(s.answered, func(t time.Time) bool { return now.Sub(t) > hurriedTime }), now)
	s.deadFor = deadFor
	if len(s.answered) >= hurriedRun {
		s.deadFor = hurriedFor
	}
}

// letters are two letters to type, neither y nor n among them.
func letters() string {
	const some = "abcefghjkmrstuvwxz"
	var raw [2]byte
	rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	return string([]byte{some[int(raw[0])%len(some)], some[int(raw[1])%len(some)]})
}

// nobody says what happens while nobody asks.
func (s *screen) nobody() string {
	switch {
	case s.seen.Problem != "":
		return ""
	case s.seen.Windows == 0:
		return "No window is selected, so agents see nothing. Choose one with pc setup."
	case s.seen.Pause.Paused:
		return "Nobody asks. " + pausedLine(s.seen.Pause)
	}
	windows := "1 window"
	if s.seen.Windows != 1 {
		windows = fmt.Sprintf("%d windows", s.seen.Windows)
	}
	return "Nobody asks. " + s.who() + " in " + windows + "."
}

// who says who works.
func (s *screen) who() string {
	switch len(s.seen.Agents) {
	case 0:
		return "Agents may work"
	case 1:
		return quote(s.seen.Agents[0]) + " works"
	}
	return fmt.Sprintf("%d agents work", len(s.seen.Agents))
}
