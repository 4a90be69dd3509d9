package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of style: a file's lines, those of one with a reason, a function's
// lines, an interface's methods.
const (
	MaxFile     = 500
	MaxLongFile = 700
	MaxFunc     = 60
	MaxMethods  = 4
)

// Style says what may differ from the rules, and why.
type Style struct {
	// Long gives the reason of a file of more than MaxFile lines, of a function
	// ("file.go:Name") of more than MaxFunc or of an interface (the same) of
	// more than MaxMethods.
	Long map[string]string

	// Writers gives the reason why a package other than the one door to disk
	// changes files itself. A path that ends in /... means all below.
	Writers map[string]string

	// Machine lists places of the machines this is written and checked on,
	// which nobody else has.
	Machine []string
}

// Files returns the paths of all files below root that are, or may become,
// part of a commit, with slashes.
func Files(root string) ([]string, error) {
	var files []string
	skip := []string{".git", ".cache", "quickstart-out"} // as in .gitignore
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (slices.Contains(skip, e.Name()) || strings.HasSuffix(filepath.ToSlash(p), "testdata/rapid")):
			return filepath.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(root, p)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	return files, err
}

// CheckTree returns what is wrong with the style of all files below root.
func (s *Style) CheckTree(root string) ([]string, error) {
	files, err := Files(root)
	if err != nil {
		return nil, err
	}
	var faults []string
	docs := map[string][]string{} // folder → the Go files' package comments
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f)))
		if err != nil {
			return nil, err
		}
		faults = append(faults, s.CheckPaths(f, text)...)
		if !strings.HasSuffix(f, ".go") || strings.Contains(f, "testdata/") {
			continue
		}
		faults = append(faults, s.CheckSource(f, text)...)
		if doc, ok := packageComment(f, text); ok {
			docs[path.Dir(f)] = append(docs[path.Dir(f)], doc)
		}
	}
	for dir, found := range docs {
		faults = append(faults, checkDocs(dir, found)...)
	}
	slices.Sort(faults)
	return faults, nil
}

// CheckPaths finds places of a certain machine in a file of any kind.
func (s *Style) CheckPaths(file string, text []byte) []string {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil // not text
	}
	var faults []string
	for i, line := range bytes.Split(text, []byte("\n")) {
		for _, place := range s.Machine {
			if bytes.Contains(line, []byte(place)) {
				faults = append(faults, fmt.Sprintf("%s:%d: %s is a place on one machine only", file, i+1, place))
			}
		}
	}
	return faults
}

// CheckSource returns what is wrong with the style of one Go file.
func (s *Style) CheckSource(file string, text []byte) []string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	if ast.IsGenerated(f) || ignored(f) {
		return nil
	}
	faults := s.checkFile(file, text)
	add := func(at token.Pos, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s:%d: ", file, fset.Position(at).Line)+fmt.Sprintf(format, args...))
	}
	isTest := strings.HasSuffix(file, "_test.go")
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			s.checkFunc(fset, file, n, isTest, add)
		case *ast.TypeSpec:
			if m := methods(n.Type); m > MaxMethods && !isTest && s.Long[file+":"+n.Name.Name] == "" {
				add(n.Pos(), "interface %s has %d methods; at most %d", n.Name.Name, m, MaxMethods)
			}
		case *ast.SelectorExpr:
			s.checkUse(file, n, isTest, add)
		}
		return true
	})
	return faults
}

type adder func(at token.Pos, format string, args ...any)

// vague are names that say what kind of thing is declared, not what it is
// about.
var vague = []string{"utils", "util", "helpers", "helper", "types", "interfaces", "common", "misc", "consts", "constants"}

func (s *Style) checkFile(file string, text []byte) []string {
	var faults []string
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".go"), "_test")
	if slices.Contains(vague, base) {
		faults = append(faults, fmt.Sprintf("%s: a file is named for the thing it holds", file))
	}
	lines, limit := bytes.Count(text, []byte("\n")), MaxFile
	if s.Long[file] != "" {
		limit = MaxLongFile
	}
	if lines > limit {
		faults = append(faults, fmt.Sprintf("%s: %d lines; at most %d", file, lines, limit))
	}
	return faults
}

func (s *Style) checkFunc(fset *token.FileSet, file string, n *ast.FuncDecl, isTest bool, add adder) {
	name := n.Name.Name
	if n.Recv == nil && name == "init" {
		add(n.Pos(), "func init: nothing happens at import")
	}
	if rest, ok := strings.CutPrefix(name, "With"); ok && !isTest && n.Recv == nil && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
		add(n.Pos(), "func %s: options are a struct", name)
	}
	lines := fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1
	if lines > MaxFunc && !isTest && s.Long[file+":"+name] == "" {
		add(n.Pos(), "func %s has %d lines; at most %d", name, lines, MaxFunc)
	}
}

// changes are the functions of os that change what is on disk.
var changes = []string{"WriteFile", "Create", "CreateTemp", "OpenFile", "Rename", "Remove", "RemoveAll", "Mkdir",
	"MkdirAll", "MkdirTemp", "Symlink", "Link", "Chmod", "Chown", "Truncate", "CopyFS"}

func (s *Style) checkUse(file string, n *ast.SelectorExpr, isTest bool, add adder) {
	pkg, ok := n.X.(*ast.Ident)
	if !ok || isTest {
		return
	}
	if pkg.Name == "slog" && n.Sel.Name == "Default" {
		add(n.Pos(), "slog.Default: a logger is an option, and nil is silent")
	}
	if pkg.Name == "os" && slices.Contains(changes, n.Sel.Name) && !s.writes(path.Dir(file)) {
		add(n.Pos(), "os.%s: there is one door to disk, internal/statefile", n.Sel.Name)
	}
}

func (s *Style) writes(dir string) bool {
	for allowed := range s.Writers {
		if tree, ok := strings.CutSuffix(allowed, "/..."); dir == allowed || ok && under(dir, tree) {
			return true
		}
	}
	return false
}

// ignored tells whether a file is left out of every build: a program that is
// run by hand to make another file.
func ignored(f *ast.File) bool {
	for _, c := range f.Comments {
		if c.Pos() < f.Package && strings.HasPrefix(c.List[0].Text, "//go:build ignore") {
			return true
		}
	}
	return false
}

// methods counts those of an interface; any other type has none.
func methods(t ast.Expr) int {
	n, ok := t.(*ast.InterfaceType)
	if !ok {
		return 0
	}
	count := 0
	for _, m := range n.Methods.List {
		count += len(m.Names)
	}
	return count
}

// packageComment returns a file's package clause and the comment above it. Of
// a test package outside the package nothing is asked.
func packageComment(file string, text []byte) (doc string, counts bool) {
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil || strings.HasSuffix(f.Name.Name, "_test") || ignored(f) {
		return "", false
	}
	if f.Doc == nil {
		return f.Name.Name + "\x00", true
	}
	return f.Name.Name + "\x00" + f.Doc.Text(), true
}

// checkDocs wants one package comment in a folder, which begins as go doc
// expects.
func checkDocs(dir string, found []string) []string {
	var docs []string
	name := ""
	for _, d := range found {
		n, doc, _ := strings.Cut(d, "\x00")
		name = n
		if strings.TrimSpace(doc) != "" {
			docs = append(docs, doc)
		}
	}
	switch {
	case len(docs) == 0:
		return []string{dir + ": no package comment"}
	case len(docs) > 1:
		return []string{dir + ": more than one package comment"}
	case name != "main" && !strings.HasPrefix(docs[0], "Package "+name+" "):
		return []string{fmt.Sprintf("%s: the package comment does not begin with \"Package %s\"", dir, name)}
	}
	return nil
}
