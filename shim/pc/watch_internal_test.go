package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// A post is a person at pc watch whose clock and desk are the test's.
type post struct {
	t    *testing.T
	now  time.Time
	s    *screen
	seen control.Seen

	isOpen             bool
	approved, denied   []string
	words              string
	paused, resumed    int
	approveErr, opened error
	rang               int
}

func newPost(t *testing.T, cards ...control.Card) *post {
	p := &post{t: t, now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	p.seen = control.Seen{Windows: 1, Agents: []string{"claude"}, Ended: map[string]string{}}
	p.s = newScreen(p.hand(), func() time.Time { return p.now })
	p.send(tea.WindowSizeMsg{Width: 80, Height: 20})
	p.shows(cards...)
	p.after(time.Second)
	return p
}

func (p *post) hand() hand {
	return hand{
		dir:     "/home/ada/.config/permission-canvas",
		look:    func([]string) control.Seen { return p.seen },
		stamp:   func() string { return "" },
		open:    func() error { p.isOpen = p.opened == nil; return p.opened },
		fold:    func() { p.isOpen = false },
		approve: func(ids []string) error { p.approved = append(p.approved, ids...); return p.approveErr },
		deny: func(ids []string, words string) error {
			p.denied, p.words = append(p.denied, ids...), words
			return nil
		},
		pause:    func() error { p.paused++; return nil },
		forecast: func() []string { return []string{"12 allowed · 2 ask"} },
		resume:   func() error { p.resumed++; return nil },
		log:      func() []string { return []string{"09:00 clicked"} },
	}
}

// card is an ask that came at the post's time.
func (p *post) card(id, code string) control.Card {
	return control.Card{ID: id, Code: code, Session: "s", Agent: "claude", Verb: "CLICK", Target: "button " + id, Window: "editor",
		Place: "Form", Arguments: `{"count":1}`, First: time.Unix(int64(len(id)*1000)+int64(id[0]), 0), Expires: p.now.Add(2 * time.Minute)}
}

// send gives the screen a message and does what comes of it, but for looking on.
func (p *post) send(msg tea.Msg) {
	p.t.Helper()
	_, cmd := p.s.Update(msg)
	if _, looks := msg.(lookMsg); looks {
		if rings := p.s.rung; len(rings) > p.rang {
			p.rang = len(rings)
		}
		return
	}
	if cmd != nil {
		if next := cmd(); next != nil {
			p.send(next)
		}
	}
}

// shows is a look at these asks.
func (p *post) shows(cards ...control.Card) {
	p.t.Helper()
	p.seen.Cards = cards
	seen := p.seen
	p.send(lookMsg{at: p.now, seen: &seen})
}

// after lets time go by while nothing is new.
func (p *post) after(d time.Duration) {
	p.t.Helper()
	for ; d > 0; d -= 100 * time.Millisecond {
		p.now = p.now.Add(100 * time.Millisecond)
		p.send(lookMsg{at: p.now})
	}
}

// types presses keys one after the other.
func (p *post) types(keys ...string) {
	p.t.Helper()
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "up": tea.KeyUp, "end": tea.KeyEnd,
		"pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "tab": tea.KeyTab}
	for _, k := range keys {
		if code, ok := special[k]; ok {
			p.send(tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range k {
			p.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// screen is what the person sees.
func (p *post) screen() string { return ansi.Strip(p.s.View().Content) }

func TestPC40WatchApprovesWhatIsShown(t *testing.T) {
	open := func(t *testing.T) *post {
		p := newPost(t)
		p.shows(p.card("a1", "ke"), p.card("b2", "wx"))
		p.after(time.Second)
		p.types("enter")
		p.after(time.Second)
		require.Contains(t, p.screen(), "type  ke  to approve once")
		return p
	}
	t.Run("by its two letters", func(t *testing.T) {
		p := open(t)
		require.True(t, p.isOpen, "PC20: an open card holds input")
		p.types("ke")
		require.Equal(t, []string{"a1"}, p.approved)
		require.False(t, p.isOpen)
		require.Contains(t, p.screen(), `Approved once: CLICK "button a1"`)
	})
	for _, keys := range [][]string{{"y"}, {"y", "enter"}, {"enter"}, {"wx"}, {"k", "k"}, {"ek"}, {"k", "down", "q"}, {"yes", "enter"}} {
		t.Run(fmt.Sprint("not by ", keys), func(t *testing.T) {
			p := open(t)
			p.types(keys...)
			require.Empty(t, p.approved)
		})
	}
	t.Run("not in the list", func(t *testing.T) {
		p := newPost(t)
		p.shows(p.card("a1", "ke"))
		p.after(time.Second)
		require.NotContains(t, p.screen(), "ke  to")
		p.types("ke")
		require.Empty(t, p.approved)
	})
	t.Run("not by what is pasted", func(t *testing.T) {
		p := open(t)
		p.send(tea.PasteMsg{Content: "ke"})
		p.send(tea.KeyPressMsg{Text: "ke"})
		require.Empty(t, p.approved)
	})
	t.Run("not in the half second after it opened", func(t *testing.T) {
		p := open(t)
		p.types("esc")
		p.after(time.Second)
		p.types("enter")
		p.after(400 * time.Millisecond)
		p.types("ke")
		require.Empty(t, p.approved)
		p.after(200 * time.Millisecond)
		p.types("e")
		require.Empty(t, p.approved, "and a letter from before does not count")
		p.types("ke")
		require.Equal(t, []string{"a1"}, p.approved)
	})
	t.Run("not across a change", func(t *testing.T) {
		p := open(t)
		p.types("k")
		p.shows(append(p.seen.Cards, p.card("c3", "fg"))...)
		p.types("e")
		p.after(time.Second)
		p.types("e")
		require.Empty(t, p.approved)
		p.types("ke")
		require.Equal(t, []string{"a1"}, p.approved)
	})
	t.Run("not what came in its place", func(t *testing.T) {
		p := open(t)
		again := p.card("a9", "mm")
		again.First, again.Again, again.Target = p.seen.Cards[0].First, 1, p.seen.Cards[0].Target
		p.types("k")
		p.shows(again, p.seen.Cards[1])
		p.after(time.Second)
		require.Contains(t, p.screen(), "asked again")
		p.types("ke")
		require.Empty(t, p.approved)
		p.types("mm")
		require.Equal(t, []string{"a9"}, p.approved)
	})
	t.Run("not after it ended", func(t *testing.T) {
		p := open(t)
		p.seen.Ended["a1"] = "expired"
		p.shows(p.seen.Cards[1])
		p.types("ke")
		p.after(time.Second)
		require.Contains(t, p.screen(), "This is over: expired")
		p.types("kewx")
		require.Empty(t, p.approved)
	})
	t.Run("not after we were stopped", func(t *testing.T) {
		p := open(t)
		p.now = p.now.Add(10 * time.Second)
		p.types("ke")
		require.Empty(t, p.approved, "what is on the screen is old")
	})
	t.Run("it says why not", func(t *testing.T) {
		p := open(t)
		p.approveErr = errors.New("is expired\x1b[2J")
		p.types("ke")
		require.Contains(t, p.screen(), `Not done. is expired\u{001B}[2J`)
	})
}

func TestPC40WatchKeepsItsOrder(t *testing.T) {
	p := newPost(t)
	p.shows(p.card("a1", "ke"), p.card("b2", "wx"), p.card("c3", "fg"))
	p.after(time.Second)
	p.types("down")
	require.Contains(t, p.screen(), " > b2")
	p.seen.Ended["a1"] = "denied by ada@panel"
	p.shows(p.seen.Cards[1:]...)
	require.Regexp(t, `(?s)  a1  over: denied by ada@panel.*> b2.*  c3`, p.screen(), "what ended keeps its place")
	p.types("d")
	require.NotContains(t, p.screen(), "No to:", "dead after a change")
	p.after(endedFor + time.Second)
	p.shows(p.seen.Cards...)
	require.NotContains(t, p.screen(), "a1  ")
	require.Contains(t, p.screen(), " > b2", "the focus stays on its ask")
}

func TestWatchGoesOnAfterAnAnswer(t *testing.T) {
	p := newPost(t)
	p.shows(p.card("a1", "ke"), p.card("b2", "wx"), p.card("c3", "fg"))
	p.after(time.Second)
	p.types("down", "d")
	p.after(time.Second)
	p.types("d")
	p.after(time.Second)
	p.types("enter")
	require.Equal(t, []string{"b2"}, p.denied)
	p.seen.Ended["b2"] = "denied by ada@terminal"
	p.shows(p.seen.Cards[0], p.seen.Cards[2])
	require.Regexp(t, `(?s)  b2  over.* > c3`, p.screen())
	p.types("d")
	require.NotContains(t, p.screen(), "No to:", "dead after the focus went on")
}

func TestWatchReadsToTheEndFirst(t *testing.T) {
	p := newPost(t)
	long := p.card("a1", "ke")
	long.Arguments = fmt.Sprintf(`{"text":%q}`, strings.Repeat("all of it ", 200)+"the end")
	p.shows(long)
	p.after(time.Second)
	p.types("enter")
	p.after(time.Second)
	require.Contains(t, p.screen(), "scroll to the end to approve")
	require.NotContains(t, p.screen(), "ke  to")
	p.types("ke")
	require.Empty(t, p.approved)
	require.Contains(t, p.screen(), "Scroll to the end first")
	all := ""
	for range 20 {
		all += p.screen()
		p.types("pgdown")
	}
	require.Contains(t, p.screen(), `the end" (2007 characters)`)
	require.Contains(t, p.screen(), "type  ke  to approve once")
	p.types("ke")
	require.Equal(t, []string{"a1"}, p.approved)
}

func TestWatchListsAreAnsweredAsOne(t *testing.T) {
	p := newPost(t)
	var steps []control.Card
	for i, code := range []string{"aa", "bb", "cc"} {
		c := p.card(fmt.Sprintf("s%d", i+1), code)
		c.Group, c.Step, c.Of = "g", i+1, 4
		steps = append(steps, c)
	}
	p.shows(steps[0], steps[1])
	p.after(time.Second)
	require.Contains(t, p.screen(), "WAITING 1")
	require.Contains(t, p.screen(), "2 of 4 steps, as one list")
	p.types("enter")
	p.after(time.Second)
	p.types("end", "b")
	p.shows(steps...)
	p.types("b")
	p.after(time.Second)
	p.types("bb")
	require.Empty(t, p.approved, "a step came")
	require.Contains(t, p.screen(), "-- step 1 --")
	p.types("end", "cc")
	require.Equal(t, []string{"s1", "s2", "s3"}, p.approved)
}

func TestWatchDenies(t *testing.T) {
	p := newPost(t)
	p.shows(p.card("a1", "ke"))
	p.after(time.Second)
	p.types("d", "enter")
	require.Empty(t, p.denied, "dead at first")
	p.after(time.Second)
	p.types("the wrrong", "backspace", " one", "enter")
	require.Equal(t, []string{"a1"}, p.denied)
	require.Equal(t, "the wrron one", p.words)
	p = newPost(t)
	p.shows(p.card("a1", "ke"))
	p.after(time.Second)
	p.types("d", "esc")
	require.Empty(t, p.denied)
	p.after(time.Second)
	p.types("d", strings.Repeat("ä", 300))
	p.after(time.Second)
	p.types("enter")
	require.Equal(t, strings.Repeat("ä", wordsMost), p.words)
}

func TestWatchPausesAndResumes(t *testing.T) {
	p := newPost(t)
	p.types("p")
	require.Equal(t, 1, p.paused)
	p.seen.Pause.Paused = true
	p.shows()
	require.Contains(t, p.screen(), "Agents are paused")
	p.types("p")
	p.after(time.Second)
	require.Contains(t, p.screen(), "12 allowed · 2 ask")
	code := regexp.MustCompile(`type  (..)  to resume`).FindStringSubmatch(p.screen())[1]
	p.types("y", "enter")
	require.Zero(t, p.resumed)
	p.types(code)
	require.Equal(t, 1, p.resumed)
	p.types("p")
	p.after(time.Second)
	p.types("esc")
	require.Contains(t, p.screen(), "Agents stay paused.")
}

func TestWatchRings(t *testing.T) {
	p := newPost(t)
	require.Zero(t, p.rang)
	p.shows(p.card("a1", "ke"))
	require.Equal(t, 1, p.rang)
	p.after(80 * time.Second)
	require.Equal(t, 1, p.rang)
	p.after(15 * time.Second)
	require.Equal(t, 2, p.rang, "30 s before it is over")
}

func TestWatchCardFolds(t *testing.T) {
	p := newPost(t)
	p.shows(p.card("a1", "ke"))
	p.after(time.Second)
	p.types("enter")
	p.after(29 * time.Second)
	require.True(t, p.isOpen)
	p.after(2 * time.Second)
	require.False(t, p.isOpen)
	require.Contains(t, p.screen(), "still waiting")

	p.opened = errors.New("no lock")
	p.after(time.Second)
	p.types("enter")
	require.Contains(t, p.screen(), "cannot be opened")
}

func TestEX15WatchSaysWhatDiffers(t *testing.T) {
	p := newPost(t)
	first, second := p.card("a1", "ke"), p.card("b2", "wx")
	first.Target = second.Target
	second.Place = "another form"
	p.shows(first, second)
	p.after(time.Second)
	require.NotContains(t, p.screen(), "Same as")
	p.types("enter")
	p.after(time.Second)
	p.types("ke")
	require.Contains(t, p.screen(), "Same as the last that you approved, except: the place.")
}

func TestEX15WatchSlowsAHurry(t *testing.T) {
	p := newPost(t)
	for range 5 {
		p.send(doneMsg{said: "Approved", answer: true})
		p.after(time.Second)
	}
	p.shows(p.card("a1", "ke"))
	p.after(2 * time.Second)
	p.types("enter")
	p.after(time.Second)
	p.types("ke")
	require.Empty(t, p.approved)
	p.after(time.Second)
	p.types("ke")
	require.Equal(t, []string{"a1"}, p.approved)
}

func TestPC26WatchEscapes(t *testing.T) {
	for _, width := range []int{80, 40, 20} {
		p := newPost(t)
		c := p.card("a1", "ke")
		c.Target, c.Window, c.Place, c.Agent, c.Verb = "\x1b[2J\u202ea", "\x1b]0;x\a", "\u200bb", "\u009b1m", "CLICK\nAPPROVED"
		c.Arguments = `{"text":"\u001b[31m\u202eevil"}`
		p.send(tea.WindowSizeMsg{Width: width, Height: 30})
		p.shows(c)
		p.seen.Missed = []control.Card{{Agent: "\x1b[1m", Verb: "\x1b[2m"}}
		p.shows(c)
		views := p.screen()
		p.after(time.Second)
		p.types("m")
		views += "\n" + p.screen()
		p.after(time.Second)
		p.types("esc")
		p.after(time.Second)
		p.types("enter")
		views += "\n" + p.screen()
		for _, bad := range []string{"\x1b", "\u202e", "\u200b", "\u009b", "\a"} {
			require.NotContains(t, views, bad, width)
		}
		for _, line := range strings.Split(views, "\n") {
			require.LessOrEqual(t, wide(line), width, line)
		}
	}
}

func TestWatchSaysWhoWorks(t *testing.T) {
	p := newPost(t)
	require.Contains(t, p.screen(), `Nobody asks. "claude" works in 1 window.`)
	p.seen.Windows, p.seen.Agents = 0, nil
	p.shows()
	require.Contains(t, p.screen(), "No window is selected")
	p.seen.Problem = "ledger.jsonl, line 1: broken"
	p.shows()
	require.Contains(t, p.screen(), "What waits cannot be told: ledger.jsonl, line 1")
	p.types("l")
	require.Contains(t, p.screen(), "09:00 clicked")
}

func TestFoldLosesNothing(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("word ", 40), strings.Repeat("x", 100), strings.Repeat("漢", 33), "a    " + strings.Repeat(" ", 60) + "b"} {
		for _, width := range []int{1, 8, 9, 40} {
			all := ""
			for i, piece := range fold(text, width, 4) {
				require.LessOrEqual(t, wide(piece), max(width, 8))
				if i > 0 {
					piece = strings.TrimPrefix(piece, "    ")
				}
				all += piece
			}
			require.Equal(t, text, all)
		}
	}
}
