package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/permission-canvas/permission-canvas/internal/visible"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/control"
)

// cardLines shows all of an ask, as every surface does: our words first, the
// page's and the agent's quoted, and texts that would be typed with their
// length.
func cardLines(card control.Card) []string {
	var all []string
	for _, l := range card.Lines() {
		line := fmt.Sprintf("%-10s %s", l.Name, l.Text)
		if strings.HasPrefix(l.Name, "with ") {
			line += counted(l.Text)
		}
		all = append(all, line)
	}
	return all
}

// counted is how long a quoted text is.
func counted(quoted string) string {
	text, err := visible.Unquote(quoted)
	if err != nil {
		return ""
	}
	n := utf8.RuneCountInString(text)
	if n == 1 {
		return " (1 character)"
	}
	return fmt.Sprintf(" (%d characters)", n)
}
