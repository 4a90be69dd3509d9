// Package profile is a person's profile on disk: where it is, and what both
// the agent's side and the person's side read of it.
//
// [Dir] finds the data directory, [Open] checks it, and (*Profile).Policy
// reads the rules. A directory without any history becomes a new profile at
// its first use: the factory's rules, and paused, since a missing pause.json
// means that.
//
// # Guarantees
//
// Nothing here changes a policy.json that exists: it is created only where
// there is none, and only where nothing else says that there was one. A file
// that cannot be read as a whole refuses everything and [InvalidError] says
// where. Acceptances of unmatched rules can be read and taken back here, never
// given. Directories are 0700 and files 0600, and a directory that others may
// write is refused.
//
// # Limits
//
// The data directory is no wall against other programs of the same user. A
// profile that is put back from an old copy is not noticed here; the audit's
// chain is what notices. Names in driver/ go by process id, so two containers
// that share a data directory can get in each other's way there.
//
// # Concurrency
//
// A Profile may be used from several goroutines, and one directory by any
// number of processes.
package profile

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// Names in the data directory that this package reads and others write.
const (
	PolicyFile  = "policy.json"
	ReviewsFile = "reviews.json"
	// ReviewsLock is held, exclusively, round every change of ReviewsFile.
	ReviewsLock = "reviews.lock"
)

// Profile is an opened data directory.
type Profile struct {
	dir string

	mu       sync.Mutex // guards what follows
	sum      [sha256.Size]byte
	rules    *policy.Policy // of the policy.json whose hash is sum; nil before
	needsKey bool           // a rule of these is a fingerprint
	key      []byte         // nil before it was read
}

// InvalidError says that a file of the profile cannot be relied on, and where.
type InvalidError struct {
	Path string
	Err  error // says what, and the line where there is one
}

func (e *InvalidError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns what is wrong with the file.
func (e *InvalidError) Unwrap() error { return e.Err }

// Open checks the data directory dir and makes it where it is missing. It
// makes no policy.
func Open(dir string) (*Profile, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := statefile.EnsureDir(dir); err != nil {
		return nil, &InvalidError{dir, err}
	}
	return &Profile{dir: dir}, nil
}

// Dir is the data directory, absolute.
func (p *Profile) Dir() string { return p.dir }

// Command is what a person types to have pc do something in this profile:
// "pc approve 0123", with the directory where pc alone would look elsewhere.
func (p *Profile) Command(args string) string {
	// Whoever types it may have another environment than the host that asks.
	plain := func(name string) string {
		if name == canvasHome || name == hermesHome {
			return ""
		}
		return os.Getenv(name)
	}
	if dir, err := Dir("", "", plain); err == nil && sameDir(dir, p.dir) {
		return "pc " + args
	}
	return "pc " + args + " --data-dir " + shellQuote(p.dir)
}

func (p *Profile) path(elem ...string) string {
	return filepath.Join(append([]string{p.dir}, elem...)...)
}

// subdir makes a directory of the profile and returns its path.
func (p *Profile) subdir(name string) (string, error) {
	dir := p.path(name)
	if err := statefile.EnsureDir(dir); err != nil {
		return "", &InvalidError{dir, err}
	}
	return dir, nil
}
