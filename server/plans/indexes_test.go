package plans

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	made       = regexp.MustCompile(`(?m)((?:^--.*\n)*)^create (unique )?index (\w+) on `)
	names      = regexp.MustCompile(`\b(?:[A-Z][a-z]+){2,}\b`)
	noted      = regexp.MustCompile(`(?m)^-- name: (\w+) .*\n((?:--.*\n)*)`)
	indexNamed = regexp.MustCompile(`Index(?:es)? (\w+_\w+)(?:(?:,| and) (\w+_\w+))?`)
)

// readIndexes: the comment of an index in its migration names the statements that it is for, their comments in queries/ name the index, and
// they read it. So an index is told that was dropped, lost a column or has another predicate, also where a statement finds something else to
// read by. What a unique one refuses is tested where that is promised.
func readIndexes(t *testing.T, engine string, g gate, all []statement) {
	t.Helper()
	comments := comments(t, engine)
	for index, by := range indexes(t, engine) {
		for _, name := range by {
			if !slices.Contains(indexesOf(comments[name]), index) {
				t.Errorf("schema/%s says that %s is for %s; the comment of that in queries/ must say the same", engine, index, name)
			}
		}
	}
	for _, st := range all {
		read, err := g.reads(t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		for _, index := range indexesOf(comments[st.name]) {
			if !slices.Contains(read, index) && !strings.HasPrefix(st.bare(), "insert ") { // which meets it without a plan
				t.Errorf("%s reads %q, not %s as its comment says", st.name, read, index)
			}
		}
		if strings.Contains(comments[st.name], "holds all of it") && !g.covered(t, st) {
			t.Errorf("%s reads rows of the table: its index does not hold all that it asks for", st.name)
		}
	}
}

// indexesOf are those that the comment of a statement names.
func indexesOf(comment string) (out []string) {
	for _, m := range indexNamed.FindAllStringSubmatch(comment, -1) {
		out = append(out, m[1:]...)
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "" })
}

// indexes are those that the migrations make, with the statements that their comments name. A unique one needs none.
func indexes(t *testing.T, engine string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, text := range texts(t, "schema", engine) {
		up, _, _ := strings.Cut(text, "-- migrate:down")
		for _, m := range made.FindAllStringSubmatch(up, -1) {
			if m[2] != "" {
				continue
			}
			out[m[3]] = names.FindAllString(m[1], -1)
			if out[m[3]] == nil {
				t.Errorf("schema/%s: the comment above %s names no statement", engine, m[3])
			}
		}
	}
	return out
}

// comments are those of the statements, each in one line.
func comments(t *testing.T, engine string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, text := range slices.Concat(texts(t, "queries", "shared"), texts(t, "queries", engine)) {
		for _, m := range noted.FindAllStringSubmatch(text, -1) {
			out[m[1]] = strings.Join(strings.Fields(strings.ReplaceAll(m[2], "\n--", "")), " ")
		}
	}
	return out
}

func texts(t *testing.T, dir, engine string) (out []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", dir, engine, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s/%s: %d files, %v", dir, engine, len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}
