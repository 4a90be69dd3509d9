package main

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// wide is how many columns s takes on a terminal.
func wide(s string) int { return ansi.StringWidth(s) }

// fold breaks a line that holds nothing but what can be seen into pieces of
// at most width columns, after a space where one is near. All of it stays;
// pieces after the first are indented.
func fold(line string, width, indent int) []string {
	width = max(width, 8)
	indent = min(indent, width/2)
	var all []string
	for start := 0; ; start = indent {
		cut := fit(line, width-start)
		piece := strings.Repeat(" ", start) + line[:cut]
		if line = line[cut:]; line == "" {
			return append(all, piece)
		}
		all = append(all, piece)
	}
}

// fit is how many bytes of line fit into width columns and make a good piece.
func fit(line string, width int) int {
	used, space := 0, 0
	for i, r := range line {
		w := wide(string(r))
		if used+w > width && i > 0 {
			if space > i*2/3 {
				return space
			}
			return i
		}
		used += w
		if r == ' ' {
			space = i + 1
		}
	}
	return len(line)
}

// clip cuts a line to width columns and shows that it did.
func clip(line string, width int) string {
	if wide(line) <= width {
		return line
	}
	var b strings.Builder
	used := 0
	for _, r := range line {
		w := wide(string(r))
		if used+w > width-1 {
			break
		}
		b.WriteRune(r)
		used += w
	}
	return b.String() + "…"
}

// apart puts left and right at the two ends of a line, or right under left.
func apart(left, right string, width int) []string {
	if gap := width - wide(left) - wide(right); gap >= 2 {
		return []string{left + strings.Repeat(" ", gap) + right}
	}
	return []string{clip(left, width), clip(" "+right, width)}
}

// bold makes a line stand out; what it says does not depend on that.
func bold(s string) string { return "\x1b[1m" + s + "\x1b[22m" }
