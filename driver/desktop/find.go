package desktop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/permission-canvas/permission-canvas/driver"
)

const (
	// commandVariable is Hermes's, and names a driver or us.
	commandVariable = "HERMES_CUA_DRIVER_CMD"
	// depthVariable is ours: it is set for every process that we start.
	depthVariable = "PERMISSION_CANVAS_DEPTH"
	// command is the driver's own name.
	command = "cua-driver"
)

var errOurselves = errors.New("it is permission-canvas itself")

// Find returns the absolute path of the desktop's driver, and how it was found
// in words for a person, who also learns there what was passed over. explicit
// is the path or command that a person gave, "" for none; env answers for the
// environment, nil is the process's own; dataDir is the data directory, "" for
// none. Every error wraps driver.ErrUnavailable.
func Find(explicit string, env func(string) string, dataDir string) (path, how string, err error) {
	if env == nil {
		env = os.Getenv
	}
	if env(depthVariable) != "" {
		return "", "", fmt.Errorf("%w: started by permission-canvas itself (%s is set)", driver.ErrUnavailable, depthVariable)
	}
	f := finder{env: env, self: self()}
	if explicit != "" {
		path, err := f.named(explicit)
		if err != nil {
			return "", "", fmt.Errorf("%w: driver %q: %w", driver.ErrUnavailable, explicit, err)
		}
		return path, "as given", nil
	}
	passed := ""
	if name := env(commandVariable); name != "" {
		path, err := f.named(name)
		if err == nil {
			return path, "named by " + commandVariable, nil
		}
		if !errors.Is(err, errOurselves) {
			return "", "", fmt.Errorf("%w: %s=%q: %w", driver.ErrUnavailable, commandVariable, name, err)
		}
		passed = " (" + commandVariable + " names permission-canvas itself and was passed over)"
	}
	if path := f.installed(dataDir); path != "" {
		return path, "installed in " + filepath.Dir(path) + passed, nil
	}
	if path, err := f.onPath(command); err == nil {
		return path, "found on PATH" + passed, nil
	}
	return "", "", fmt.Errorf("%w: no %s found%s", driver.ErrUnavailable, command, passed)
}

type finder struct {
	env  func(string) string
	self os.FileInfo // nil where unknown
}

func self() os.FileInfo {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// named finds what a person calls by a path, or by a command's name.
func (f finder) named(name string) (string, error) {
	if !strings.ContainsRune(name, filepath.Separator) && !strings.ContainsRune(name, '/') {
		return f.onPath(name)
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return path, f.check(path)
}

// onPath finds a command as a shell would, except that directories without an
// absolute path do not count and that ourselves are passed over.
func (f finder) onPath(name string) (string, error) {
	result := error(os.ErrNotExist)
	for _, dir := range filepath.SplitList(f.env("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, executable(name))
		switch err := f.check(path); {
		case err == nil:
			return path, nil
		case errors.Is(err, errOurselves):
			result = errOurselves
		}
	}
	return "", result
}

// installed finds the newest version below the data directory, each in a
// directory of its version's name.
func (f finder) installed(dataDir string) string {
	if dataDir == "" {
		return ""
	}
	root, err := filepath.Abs(filepath.Join(dataDir, "driver"))
	if err != nil {
		return ""
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return ""
	}
	var versions [][]int
	for _, e := range entries {
		if v := version(e.Name()); v != nil && f.check(filepath.Join(root, e.Name(), executable(command))) == nil {
			versions = append(versions, v)
		}
	}
	if len(versions) == 0 {
		return ""
	}
	newest := slices.MaxFunc(versions, slices.Compare)
	return filepath.Join(root, join(newest), executable(command))
}

// check reports why path cannot be a driver.
func (f finder) check(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return os.ErrNotExist
	case err != nil:
		return errors.New("it cannot be read")
	case f.self != nil && os.SameFile(info, f.self):
		return errOurselves
	case !info.Mode().IsRegular():
		return errors.New("it is not a file")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return errors.New("it cannot be executed")
	}
	return nil
}

// executable is a command's file name.
func executable(name string) string {
	if runtime.GOOS == "windows" && filepath.Ext(name) == "" {
		return name + ".exe"
	}
	return name
}

// version reads a directory's name, such as 0.37.0; nil for another one.
func version(name string) []int {
	var v []int
	for part := range strings.SplitSeq(name, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || strconv.Itoa(n) != part {
			return nil
		}
		v = append(v, n)
	}
	return v
}

func join(version []int) string {
	parts := make([]string, len(version))
	for i, n := range version {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ".")
}
