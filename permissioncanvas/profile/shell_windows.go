package profile

import "strings"

// shellQuote quotes a path for a command line.
func shellQuote(path string) string {
	if strings.ContainsAny(path, " &()[]{}^=;!'+,`~%") {
		return `"` + path + `"` // a path holds no quotation mark
	}
	return path
}
