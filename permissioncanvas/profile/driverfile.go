package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
)

const driverDir = "driver"

// toolName is what a tool may be called in the driver's policy. Every name
// that the drivers we know have is of this form, and none of it means anything
// to YAML.
var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// sessionName is what a session may be called in a file's name.
var sessionName = regexp.MustCompile(`^[0-9a-f]{8,64}$`)

// WriteDriverPolicy writes the policy file that the driver, a child of this
// process, reads once at its start (CUA_DRIVER_POLICY_FILE) and returns its
// path. The driver admits the named tools and no others, and none at all for
// an empty list: a second lock beneath ours, which holds inside its batches and
// replays too. Files of processes that are gone are removed.
func (p *Profile) WriteDriverPolicy(tools []string) (path string, err error) {
	text := "allow:\n  tools:"
	for _, name := range slices.Compact(slices.Sorted(slices.Values(tools))) {
		if !toolName.MatchString(name) {
			return "", fmt.Errorf("%.70q cannot be a tool's name", name)
		}
		// Quoted, since YAML takes some bare words for something else.
		text += "\n    - \"" + name + "\""
	}
	if len(tools) == 0 {
		text += " []"
	}
	return p.writeDriverFile("policy", []byte(text+"\n"))
}

// WriteCapabilities writes the copy of a capability manifest that the driver
// of the session named reads once at its start, and returns its path. Two
// sessions of one process may hold themselves to different ones.
func (p *Profile) WriteCapabilities(session string, data []byte) (path string, err error) {
	if !sessionName.MatchString(session) {
		return "", fmt.Errorf("%.70q cannot be a session's name", session)
	}
	return p.writeDriverFile("capabilities-"+session, data)
}

// writeDriverFile writes one of this process's files for its driver.
func (p *Profile) writeDriverFile(kind string, data []byte) (path string, err error) {
	dir, err := p.subdir(driverDir)
	if err != nil {
		return "", err
	}
	if err := forgetDriverFiles(dir); err != nil {
		return "", err
	}
	path = filepath.Join(dir, driverFileName(kind, os.Getpid()))
	return path, statefile.Replace(path, data, &statefile.ReplaceOptions{NoSync: true})
}

// forgetDriverFiles removes what processes wrote that are gone.
func forgetDriverFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		kind, n := driverFile(e.Name())
		if kind == "" || alive(n) {
			continue
		}
		// Another process may have been quicker.
		if err := statefile.Remove(filepath.Join(dir, e.Name())); err != nil && !missing(err) {
			return fmt.Errorf("remove the file of a driver that is gone: %w", err)
		}
	}
	return nil
}

func driverFileName(kind string, pid int) string { return fmt.Sprintf("%s-%d.yaml", kind, pid) }

// driverFile takes the name of such a file apart; kind is "" for any other.
func driverFile(name string) (kind string, pid int) {
	stem := strings.TrimSuffix(name, ".yaml")
	i := strings.LastIndexByte(stem, '-')
	if i < 0 {
		return "", 0
	}
	kind, number := stem[:i], stem[i+1:]
	session, capabilities := strings.CutPrefix(kind, "capabilities-")
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 || driverFileName(kind, n) != name ||
		kind != "policy" && !(capabilities && sessionName.MatchString(session)) {
		return "", 0
	}
	return kind, n
}
