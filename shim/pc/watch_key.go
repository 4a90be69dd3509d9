package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// key takes one key.
func (s *screen) key(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return tea.Quit
	}
	if s.busy {
		return nil
	}
	s.touched = s.clock()
	switch s.view {
	case viewCard:
		return s.cardKey(k)
	case viewWords:
		return s.wordsKey(k)
	case viewText:
		s.textKey(k)
		return nil
	case viewResume:
		return s.resumeKey(k)
	}
	return s.listKey(k)
}

func (s *screen) listKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "q":
		return tea.Quit
	case "up", "k", "shift+tab":
		s.move(-1)
	case "down", "j", "tab":
		s.move(1)
	case "home":
		s.move(-len(s.rows))
	case "end":
		s.move(len(s.rows))
	case "enter":
		s.toCard()
	case "d":
		s.toWords()
	case "p":
		return s.pauseKey()
	case "l":
		return s.later(func() tea.Msg { return textMsg{heading: "Log of the last 24 hours", lines: s.hand.log()} })
	case "m":
		if lines := s.missed(); len(lines) > 0 {
			return s.later(func() tea.Msg { return textMsg{heading: "Missed while you were away", lines: lines} })
		}
	}
	return nil
}

// later does something that may take a while; keys do nothing meanwhile.
func (s *screen) later(do tea.Cmd) tea.Cmd {
	s.busy, s.message = true, ""
	return do
}

// scrollKey moves the open text and reports whether k is for that.
func (s *screen) scrollKey(k string) bool {
	page := max(s.room()-1, 1)
	steps := map[string]int{"up": -1, "down": 1, "pgup": -page, "pgdown": page, "space": page, "home": -1 << 30, "end": 1 << 30}
	n, ok := steps[k]
	if ok {
		s.scroll(n)
	}
	return ok
}

func (s *screen) cardKey(k tea.KeyPressMsg) tea.Cmd {
	if s.scrollKey(k.String()) {
		return nil
	}
	switch k.String() {
	case "esc":
		s.toList("")
		return nil
	case "q":
		return tea.Quit
	case "d":
		s.toWords()
		return nil
	case "p":
		return s.pauseKey()
	}
	r, ok := s.focused()
	if !ok || r.ended != "" || s.dead() {
		s.typed = ""
		return nil
	}
	if s.read != r.key() {
		s.message = "Scroll to the end first: approve what you have seen."
		return nil
	}
	if !s.letter(k, r.code(), r.key()) {
		return nil
	}
	// These ids were on the screen at both keys, and nothing else is approved.
	ids, card, h := r.ids(), r.cards[0], s.hand
	said := "Approved once: " + r.says()
	s.toList("")
	return s.later(func() tea.Msg { return doneMsg{said: said, err: h.approve(ids), card: &card, answer: true} })
}

// letter takes one letter of a code and reports whether the code is complete.
// A letter counts for what was shown when it was typed.
func (s *screen) letter(k tea.KeyPressMsg, code, of string) bool {
	r, size := utf8.DecodeRuneInString(k.Text)
	if len(code) != 2 || size != len(k.Text) || !unicode.IsLetter(r) || k.IsRepeat {
		s.typed = ""
		return false
	}
	letter := strings.ToLower(k.Text)
	if s.typed != "" && s.typedOf == of && s.typed+letter == code {
		s.typed = ""
		return true
	}
	s.typed, s.typedOf = "", of
	if letter == code[:1] {
		s.typed = letter
	}
	return false
}

// toWords begins a no.
func (s *screen) toWords() {
	r, ok := s.focused()
	if !ok || r.ended != "" || s.dead() {
		return
	}
	s.denying, s.words, s.view, s.message = r.ids(), "", viewWords, ""
	s.heading = r.says()
	s.change()
}

// wordsMost is how many characters a no may carry.
const wordsMost = 200

func (s *screen) wordsKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		s.toList("")
		return nil
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(s.words)
		s.words = s.words[:len(s.words)-size]
		return nil
	case "enter":
		if s.dead() {
			return nil
		}
		ids, words, h := s.denying, strings.TrimSpace(s.words), s.hand
		said := "Denied: " + s.heading
		s.toList("")
		return s.later(func() tea.Msg { return doneMsg{said: said, err: h.deny(ids, words), answer: true} })
	}
	for _, r := range k.Text {
		if unicode.IsPrint(r) && utf8.RuneCountInString(s.words) < wordsMost {
			s.words += string(r)
		}
	}
	return nil
}

func (s *screen) textKey(k tea.KeyPressMsg) {
	if s.scrollKey(k.String()) {
		return
	}
	switch k.String() {
	case "esc", "q", "l", "m", "enter":
		s.toList("")
	}
}

// pauseKey pauses at once; to resume takes a look at what that means.
func (s *screen) pauseKey() tea.Cmd {
	h := s.hand
	if s.view == viewCard {
		s.toList("")
	}
	if !s.seen.Pause.Paused {
		cmd := s.later(func() tea.Msg { return doneMsg{said: "Agents are paused until you resume.", err: h.pause()} })
		s.message = "Pausing…"
		return cmd
	}
	cmd := s.later(func() tea.Msg { return textMsg{heading: "If you resume", lines: h.forecast(), code: letters()} })
	s.message = "Looking at what agents would meet…"
	return cmd
}

func (s *screen) resumeKey(k tea.KeyPressMsg) tea.Cmd {
	if s.scrollKey(k.String()) {
		return nil
	}
	if k.String() == "esc" || k.String() == "q" {
		s.toList("Agents stay paused.")
		return nil
	}
	if s.dead() || !s.letter(k, s.code, "resume") {
		return nil
	}
	h := s.hand
	s.toList("")
	return s.later(func() tea.Msg { return doneMsg{said: "Resumed.", err: h.resume()} })
}
