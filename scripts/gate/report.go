package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An event is a line of go test -json.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
}

// A Report is what a run of tests came to.
type Report struct {
	Lines   []string // those that go test closes each package with
	Passed  int      // tests, sub-tests among them
	Failed  []string // "package Test", or a package that failed as a whole
	Skipped []string // "package Test: reason"

	output map[string][]string // what a test or a package's build said
}

// ReadTests reads a stream of go test -json. A line that is not of it counts
// as a failure, because it is what a broken run prints.
func ReadTests(r io.Reader) (*Report, error) {
	report := &Report{output: map[string][]string{}}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				report.Failed = append(report.Failed, "go test said: "+strings.TrimSpace(string(line)))
			} else {
				report.take(e)
			}
		}
		if err == io.EOF {
			return report, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *Report) take(e event) {
	key := strings.TrimSpace(e.Package + " " + e.Test)
	switch e.Action {
	case "output":
		r.output[key] = append(r.output[key], e.Output)
		if e.Test == "" && closing(e.Output) {
			line, _, _ := strings.Cut(strings.TrimSuffix(e.Output, "\n"), "\tcoverage:")
			r.Lines = append(r.Lines, line+"\n")
		}
	case "build-output":
		r.output["build"] = append(r.output["build"], e.Output)
	case "build-fail":
		r.Failed = append(r.Failed, "build of "+e.ImportPath)
	case "pass":
		if e.Test != "" {
			r.Passed++
		}
	case "fail":
		r.Failed = append(r.Failed, key)
	case "skip":
		if e.Test != "" {
			r.Skipped = append(r.Skipped, key+": "+reason(r.output[key]))
		}
	}
}

// closing tells the line by which go test ends a package.
func closing(line string) bool {
	return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "FAIL\t") || strings.HasPrefix(line, "?   \t")
}

// reason finds what a skipped test said.
func reason(output []string) string {
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "no reason given"
}

// tell prints what a failure said. A package that failed only because one of its
// tests did has nothing to say.
func (r *Report) tell(w io.Writer, name string) {
	said := slices.DeleteFunc(slices.Clone(r.output[name]), func(line string) bool {
		return strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "coverage:") || strings.HasPrefix(line, "exit status")
	})
	inner := slices.ContainsFunc(r.Failed, func(other string) bool { return strings.HasPrefix(other, name+" ") })
	if len(said) == 0 && inner {
		return
	}
	fmt.Fprintf(w, "--- FAILED: %s\n", name)
	for _, line := range said {
		fmt.Fprint(w, "    ", line)
	}
}

// Judge prints what is wrong and tells whether nothing is. Only the tests named
// in allowed, as "TestName" or "TestName/sub", may be skipped.
func (r *Report) Judge(w io.Writer, allowed []string) bool {
	good := true
	if out := r.output["build"]; len(out) > 0 {
		fmt.Fprint(w, strings.Join(out, ""))
	}
	for _, name := range r.Failed {
		good = false
		r.tell(w, name)
	}
	for _, skip := range r.Skipped {
		name, _, _ := strings.Cut(skip, ": ")
		if _, test, _ := strings.Cut(name, " "); !slices.Contains(allowed, test) {
			good = false
			fmt.Fprintf(w, "--- SKIPPED, which is not allowed: %s\n", skip)
		}
	}
	if r.Passed == 0 {
		good = false
		fmt.Fprintln(w, "--- no test passed")
	}
	fmt.Fprintf(w, "%d tests passed, %d failures, %d skipped\n", r.Passed, len(r.Failed), len(r.Skipped))
	return good
}
