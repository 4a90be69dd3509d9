package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Names in the environment that lead to a profile.
const (
	canvasHome = "PERMISSION_CANVAS_HOME" // the data directory itself
	hermesHome = "HERMES_HOME"            // a profile home
)

// folder is the data directory's name under a profile home.
const folder = "permission-canvas"

// ConflictError says that two data directories could be meant. A person would
// set rules in one while an agent obeys the other, so neither is taken.
type ConflictError struct {
	First, Second string // directories
	Why           string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: %s and %s; name one with --data-dir or %s", e.Why, e.First, e.Second, canvasHome)
}

// MigrationError says that the place where a profile belongs now has none and
// an older place has one. Its rules would be lost by starting afresh.
type MigrationError struct {
	Old, New string // directories
}

func (e *MigrationError) Error() string {
	return fmt.Sprintf("the profile belongs in %s now, and there is one in %s: move it there, or name one with --data-dir or %s",
		e.New, e.Old, canvasHome)
}

// Dir finds the data directory. In this order it is
//
//   - explicitDataDir
//   - permission-canvas under explicitHome, unless that is the home that would
//     be found anyway
//   - $PERMISSION_CANVAS_HOME
//   - permission-canvas under $HERMES_HOME
//   - permission-canvas under the one usual home that has a profile already
//   - permission-canvas under Hermes's usual home, where that exists
//   - permission-canvas under the user's configuration directory
//
// Two that could be meant are a [ConflictError]; a profile that would be left
// behind is a [MigrationError]. It makes nothing.
func Dir(explicitDataDir, explicitHome string, env func(string) string) (string, error) {
	set, err := fromEnv(env, canvasHome)
	if err != nil {
		return "", err
	}
	home, homeErr := usualHome(env)
	explicit := explicitDataDir
	if explicit == "" && explicitHome != "" && (homeErr != nil || !sameDir(explicitHome, home)) {
		explicit = filepath.Join(explicitHome, folder)
	}
	switch {
	case explicit != "":
		explicit, err = filepath.Abs(explicit)
		if err != nil {
			return "", err
		}
		if set != "" && !sameDir(explicit, set) {
			return "", &ConflictError{explicit, set, "an argument and " + canvasHome + " name different profiles"}
		}
		return explicit, nil
	case set != "":
		return set, nil
	case homeErr != nil:
		return "", homeErr
	}
	return filepath.Join(home, folder), nil
}

// DefaultHome is the profile home where the executables look when nothing
// names another one. It is never counted as a choice against the environment.
func DefaultHome() (string, error) { return usualHome(os.Getenv) }

// usualHome finds the profile home that the environment and the disk lead to.
func usualHome(env func(string) string) (string, error) {
	chosen, err := fromEnv(env, hermesHome)
	if err != nil {
		return "", err
	}
	hermes, config, err := usualPlaces(env)
	if err != nil {
		if chosen != "" {
			return chosen, nil // there is no other place to look at
		}
		return "", fmt.Errorf("%w; name the directory with --data-dir or %s", err, canvasHome)
	}
	places := []string{hermes, config}
	if chosen != "" {
		places = append([]string{chosen}, places...)
	}
	var found []string
	for _, home := range places {
		if holdsPolicy(filepath.Join(home, folder)) && (len(found) == 0 || !sameDir(found[0], home)) {
			found = append(found, home)
		}
	}
	switch {
	case len(found) > 1:
		return "", &ConflictError{filepath.Join(found[0], folder), filepath.Join(found[1], folder), "there are two profiles"}
	case len(found) == 1 && chosen != "" && !sameDir(found[0], chosen):
		return "", &MigrationError{Old: filepath.Join(found[0], folder), New: filepath.Join(chosen, folder)}
	case len(found) == 1:
		return found[0], nil
	case chosen != "":
		return chosen, nil
	case isDir(hermes):
		return hermes, nil
	}
	return config, nil
}

// fromEnv reads a directory from the environment. A relative one would be
// another directory for each program.
func fromEnv(env func(string) string, name string) (string, error) {
	dir := env(name)
	if dir == "" {
		return "", nil
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%s is %q: it must be an absolute path", name, dir)
	}
	return filepath.Clean(dir), nil
}

// variable reads one that a usual place depends on.
func variable(env func(string) string, name string) (string, error) {
	dir, err := fromEnv(env, name)
	if err == nil && dir == "" {
		err = errors.New(name + " is not set")
	}
	return dir, err
}

// holdsPolicy reports whether anything has the policy's name in dir. What
// cannot be looked at counts: it is never taken for a place to start afresh.
func holdsPolicy(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, PolicyFile))
	return err == nil || !missing(err) && !errors.Is(err, syscall.ENOTDIR)
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// sameDir reports whether two paths are one directory, by name or on the disk.
func sameDir(a, b string) bool {
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	if errA != nil || errB != nil {
		return false
	}
	if absA == absB {
		return true
	}
	stA, errA := os.Stat(absA)
	stB, errB := os.Stat(absB)
	return errA == nil && errB == nil && os.SameFile(stA, stB)
}
