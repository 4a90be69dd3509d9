package profile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/permission-canvas/permission-canvas/internal/statefile"
	"github.com/permission-canvas/permission-canvas/permissioncanvas/policy"
)

// limit is how large a file of the profile may be.
const limit = 8 << 20

// Policy returns the rules as they are on the disk now. It reads the file each
// time and compiles only what changed. A new profile is made by it; a policy
// that is missing where there was one is an error. So is a key that is missing
// while a rule needs it, so that Digest answers for as long as these rules do.
//
// Call it, or Init, before anything of this profile is put on record: a record
// without rules says that rules were lost.
//
// Every error is an [InvalidError].
func (p *Profile) Policy() (*policy.Policy, error) {
	path := p.path(PolicyFile)
	data, err := statefile.Read(path, limit)
	if missing(err) {
		if err := p.Init(); err != nil {
			return nil, err
		}
		data, err = statefile.Read(path, limit)
	}
	if err != nil {
		return nil, &InvalidError{path, err}
	}
	if st, err := os.Lstat(path); err == nil && foreign(st) {
		return nil, &InvalidError{path, errors.New("other users may write this file: run chmod 600 on it after checking what it says")}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if sum := sha256.Sum256(data); p.rules == nil || sum != p.sum {
		rules, err := policy.Parse(data)
		if err != nil {
			return nil, &InvalidError{path, err}
		}
		p.rules, p.sum, p.needsKey = rules, sum, fingerprints(rules)
	}
	if err := p.secret(); err != nil {
		return nil, err
	}
	return p.rules, nil
}

// Init makes a new profile: the factory's rules. Where a policy is there it
// does nothing; where something else says that there was one it refuses. Of
// several at once one makes it, and all of them return nil.
func (p *Profile) Init() error {
	path := p.path(PolicyFile)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	name, err := history(p.dir)
	if err != nil {
		return &InvalidError{path, err}
	}
	// What was found may be of another process at its first use: then it has
	// made the policy by now, which comes before all else.
	if _, err := os.Lstat(path); name != "" && err == nil {
		return nil
	}
	if name != "" {
		return &InvalidError{path, fmt.Errorf("missing, though %s says that this profile was in use: "+
			"put the file back, or move the directory away to start afresh", name)}
	}
	factory, err := policy.Compile(policy.New())
	if err == nil {
		err = statefile.Create(path, factory.Encode())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return &InvalidError{path, err}
	}
	return nil
}

// history returns the first name in the data directory that says that the
// profile was in use. What a first start leaves behind before it has a policy
// says nothing: the driver, the panel's looks, running sessions, locks, the
// mark that a surface was open, and directories that hold nothing else.
func history(dir string) (name string, err error) {
	return firstFile(dir, func(name string) bool {
		switch name {
		case driverDir, sessionDir, "ui.json", "surface.answered":
			return true
		}
		return strings.HasPrefix(name, "."+PolicyFile) // a creation that was cut short
	})
}

func firstFile(dir string, ignored func(name string) bool) (name string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		name := e.Name()
		if ignored(name) || strings.HasSuffix(name, ".lock") {
			continue
		}
		if !e.IsDir() {
			return name, nil
		}
		inner, err := firstFile(filepath.Join(dir, name), func(string) bool { return false })
		if err != nil || inner != "" {
			return name + "/" + inner, err
		}
	}
	return "", nil
}

// fingerprints reports whether a rule needs the profile's key.
func fingerprints(rules *policy.Policy) bool {
	for _, r := range rules.Rules() {
		for m := &r.Match; m != nil; m = m.Within {
			if m.TextDigest != "" {
				return true
			}
		}
	}
	return false
}

// missing reports whether err says that there is no such file.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
