// Command twin runs after `sqlc generate`. It proves that the accessors of
// both engines are twins, moves what they share to gen/model, and refuses the
// mistakes that sqlc makes without a word. It changes nothing unless all is well.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

// run returns the exit code: 0, 1 for problems found, 2 for wrong flags.
func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("twin", flag.ContinueOnError)
	flags.SetOutput(stderr)
	gen := flags.String("gen", "gen", "folder of the generated code")
	queries := flags.String("queries", "queries", "folder of the hand-written SQL")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	found, err := twin(*gen, *queries)
	if err != nil {
		fmt.Fprintln(stderr, "twin:", err)
		return 1
	}
	for _, line := range found.lines() {
		fmt.Fprintln(stderr, "twin:", line)
	}
	if len(found) > 0 {
		return 1
	}
	return 0
}

// twin checks everything before it writes the first file.
func twin(gen, queries string) (problems, error) {
	var found problems
	src, err := readSources(queries, &found)
	if err != nil {
		return nil, err
	}
	pg, err := parsePackage(postgres, filepath.Join(gen, "postgres"), &found)
	if err != nil {
		return nil, err
	}
	lite, err := parsePackage(sqlite, filepath.Join(gen, "sqlite"), &found)
	if err != nil {
		return nil, err
	}
	src.refuse(&found)
	for _, acc := range []*accessors{pg, lite} {
		src.compareNames(acc, &found)
		acc.refuse(&found)
		acc.align(src.statements(acc.engine), &found)
	}
	compare(pg, lite, &found)
	if len(found) > 0 {
		return found, nil
	}
	return nil, write(gen, pg, lite)
}

// problems are the findings of a run; each names engine, query and field as
// far as they are known.
type problems []string

func (p *problems) add(format string, args ...any) {
	*p = append(*p, fmt.Sprintf(format, args...))
}

// lines are the problems in a fixed order, each once.
func (p problems) lines() []string {
	lines := slices.Sorted(slices.Values(p))
	return slices.Compact(lines)
}
