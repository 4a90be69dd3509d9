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
	dir, err := p.subdir(driverDir)
	if err != nil {
		return "", err
	}
	if err := forgetDriverPolicies(dir); err != nil {
		return "", err
	}
	path = filepath.Join(dir, driverPolicyName(os.Getpid()))
	return path, statefile.Replace(path, []byte(text+"\n"), &statefile.ReplaceOptions{NoSync: true})
}

func forgetDriverPolicies(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		pid, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".yaml"), "policy-")
		n, err := strconv.Atoi(pid)
		if !ok || err != nil || n <= 0 || e.Name() != driverPolicyName(n) || alive(n) {
			continue
		}
		// Another process may have been quicker.
		if err := statefile.Remove(filepath.Join(dir, e.Name())); err != nil && !missing(err) {
			return fmt.Errorf("remove the policy of a driver that is gone: %w", err)
		}
	}
	return nil
}

func driverPolicyName(pid int) string { return fmt.Sprintf("policy-%d.yaml", pid) }
