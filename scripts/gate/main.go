// Gate reads what go test wrote and decides whether it is good enough.
//
//	go test -json … | go run ./scripts/gate tests -log FILE -lines FILE
//	go run ./scripts/gate cover -need "PACKAGE=PERCENT …" PROFILE…
//
// tests keeps the whole stream in -log, prints what failed and nothing else,
// and writes the lines that go test closes each package with to -lines. It
// fails where a test failed, where one was skipped that is not allowed to be,
// and where no test ran.
//
// cover merges coverage profiles and fails where a package of the list has
// fewer of its statements run than it must. A package that no profile knows
// has none.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	ok, err := false, error(nil)
	switch os.Args[1] {
	case "tests":
		ok, err = runTests(os.Args[2:])
	case "cover":
		ok, err = runCover(os.Args[2:])
	default:
		usage()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: gate tests -log FILE -lines FILE [-allow-skip NAME,…] | gate cover -need LIST PROFILE…")
	os.Exit(2)
}

func runTests(args []string) (ok bool, err error) {
	flags := flag.NewFlagSet("tests", flag.ExitOnError)
	logName := flags.String("log", "", "where everything is kept")
	linesName := flags.String("lines", "", "where the closing lines go")
	allow := flags.String("allow-skip", "", "tests that may be skipped, with commas between")
	_ = flags.Parse(args)
	log, err := os.Create(*logName)
	if err != nil {
		return false, err
	}
	defer log.Close()
	report, err := ReadTests(io.TeeReader(os.Stdin, log))
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(*linesName, []byte(strings.Join(report.Lines, "")), 0o644); err != nil {
		return false, err
	}
	return report.Judge(os.Stdout, strings.FieldsFunc(*allow, func(r rune) bool { return r == ',' })), nil
}

func runCover(args []string) (ok bool, err error) {
	flags := flag.NewFlagSet("cover", flag.ExitOnError)
	need := flags.String("need", "", "what is asked of each package, as in \"a/b=100 c=95\"")
	root := flags.String("root", ".", "the folder of go.mod, to tell generated files")
	module := flags.String("module", "", "the module's path")
	_ = flags.Parse(args)
	goals, err := ParseGoals(*need)
	if err != nil {
		return false, err
	}
	profile := NewProfile(*module, *root)
	for _, name := range flags.Args() {
		f, err := os.Open(name)
		if err != nil {
			return false, err
		}
		err = profile.Read(f)
		f.Close()
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
	}
	return profile.Judge(os.Stdout, goals), nil
}
