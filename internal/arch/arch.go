// Package arch keeps what the design says about the shape of this repository:
// who may import whom, which package is the home of a module from elsewhere,
// what a package must not reach however many steps away, and the few rules of
// style that a machine can read.
//
// The tables are in its test. A new arrow is a new line there, with its reason
// in the commit that adds it; so is a module's home.
//
// # Limits
//
// An import graph says what code can be reached, not what a running process
// does. That no network is used is shown by watching the process.
package arch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Package is what go list tells of one.
type Package struct {
	ImportPath   string
	Name         string
	Imports      []string
	Deps         []string
	TestImports  []string
	XTestImports []string
	Error        *struct{ Err string }
}

// Rules are the tables. Packages of ours are named by their path below the
// module.
type Rules struct {
	Module string

	// May lists, for each package there is or will be, what of ours it may
	// import itself. A package that is missing here is a fault.
	May map[string][]string

	// Home lists, for each module from elsewhere, the packages that may import
	// it themselves. A module that is missing here may be imported by none.
	Home map[string][]string

	// ForTests lists modules that only test code imports.
	ForTests []string

	// TestCode lists packages that are test code as a whole: only tests may
	// import them, which May says, and they may import what tests may.
	TestCode []string

	// NotDirectly lists what a package must not import itself. It looks no
	// further, because fmt alone reaches os.
	NotDirectly map[string][]string

	// Never lists what a package must not reach, and why.
	Never map[string]map[string]string
}

// List asks the go command for every package below root, as built for goos
// without cgo.
func List(root, module, goos string) ([]Package, error) {
	cmd := exec.Command("go", "list", "-e",
		"-json=ImportPath,Name,Imports,Deps,TestImports,XTestImports,Error", module+"/...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", goos, err)
	}
	var ps []Package
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p Package
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return ps, nil
		} else if err != nil {
			return nil, fmt.Errorf("what go list says for %s: %w", goos, err)
		}
		ps = append(ps, p)
	}
}

// Root returns the folder above the working directory that holds go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// Check returns what is wrong with a package's imports, a sentence each.
func (r *Rules) Check(p Package) []string {
	if p.Error != nil {
		if strings.Contains(p.Error.Err, "build constraints exclude all Go files") {
			return nil // not a package on this system
		}
		return []string{p.ImportPath + ": " + p.Error.Err}
	}
	name := r.name(p.ImportPath)
	var faults []string
	if _, ok := r.May[name]; !ok {
		faults = append(faults, name+": not in the table of packages")
	}
	for _, imp := range p.Imports {
		faults = append(faults, r.checkImport(name, imp)...)
	}
	for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
		if r.foreign(imp) && r.homes(imp) == nil && !r.forTests(imp) {
			faults = append(faults, fmt.Sprintf("%s: its test imports %s, which has no home", name, imp))
		}
	}
	for bad, why := range r.Never[name] {
		for _, dep := range p.Deps {
			if under(r.name(dep), bad) {
				faults = append(faults, fmt.Sprintf("%s reaches %s: %s", name, r.name(dep), why))
			}
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults)
}

func (r *Rules) checkImport(name, imp string) []string {
	var faults []string
	if slices.Contains(r.NotDirectly[name], imp) {
		faults = append(faults, fmt.Sprintf("%s imports %s itself", name, imp))
	}
	isTest := slices.Contains(r.TestCode, name)
	switch {
	case imp == "testing" || strings.HasPrefix(imp, "testing/"):
		if !isTest {
			faults = append(faults, fmt.Sprintf("%s imports %s: no test code in production", name, imp))
		}
	case under(imp, r.Module):
		if !slices.Contains(r.May[name], r.name(imp)) {
			faults = append(faults, fmt.Sprintf("%s -> %s: no such arrow", name, r.name(imp)))
		}
	case !r.foreign(imp):
	case r.forTests(imp):
		if !isTest {
			faults = append(faults, fmt.Sprintf("%s imports %s; only tests may", name, imp))
		}
	case !slices.Contains(r.homes(imp), name):
		faults = append(faults, fmt.Sprintf("%s imports %s; its homes are %v", name, imp, r.homes(imp)))
	}
	return faults
}

// CheckTables returns what is wrong with the tables themselves: a line about a
// package that nobody plans is a line that protects nothing.
func (r *Rules) CheckTables() []string {
	var faults []string
	known := func(where, name string) {
		if _, ok := r.May[name]; !ok {
			faults = append(faults, fmt.Sprintf("%s names %s, which is not in the table of packages", where, name))
		}
	}
	for name, arrows := range r.May {
		for _, to := range arrows {
			known("the line of "+name, to)
		}
	}
	for mod, homes := range r.Home {
		for _, name := range homes {
			known("the home of "+mod, name)
		}
	}
	for _, name := range r.TestCode {
		known("the list of test code", name)
	}
	for name := range r.NotDirectly {
		known("the list of what is not imported directly", name)
	}
	for name, bads := range r.Never {
		known("the list of what is never reached", name)
		for bad := range bads {
			_, ours := r.May[bad]
			_, module := r.Home[bad]
			if !ours && !module && r.foreign(bad) {
				faults = append(faults, fmt.Sprintf("%s must never reach %s, which does not exist", name, bad))
			}
			if !ours && !module && !r.foreign(bad) && !standard[bad] {
				faults = append(faults, fmt.Sprintf("%s must never reach %s, which does not exist", name, bad))
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// standard holds the packages of Go itself that a Never line may name.
var standard = map[string]bool{"os/exec": true, "net": true, "net/http": true, "testing": true, "unsafe": true}

func (r *Rules) name(path string) string { return strings.TrimPrefix(path, r.Module+"/") }

// foreign tells whether an import is from a module that is neither ours nor
// Go's own: those have no dot in their first element.
func (r *Rules) foreign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && !under(path, r.Module)
}

func (r *Rules) homes(path string) []string {
	for mod, homes := range r.Home {
		if under(path, mod) {
			return homes
		}
	}
	return nil
}

func (r *Rules) forTests(path string) bool {
	return slices.ContainsFunc(r.ForTests, func(mod string) bool { return under(path, mod) })
}

func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }
