//go:build soak

package house

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSoakExamplesOfDevelopWork follows docs/develop.md in a copy of the tree, in
// the order of the text: it does with each marked block what the mark says.
//
//	try: write FILE         the block is the whole file; FILE may be a pattern of one that is there
//	try: append FILE        the block goes to the end of the file
//	try: after FILE | TEXT  the block goes behind the first line that begins with TEXT
//	try: statement FILE     the block goes to its place by name
//	try: run                the block is run by a shell
func TestSoakExamplesOfDevelopWork(t *testing.T) {
	tree := copyTree(t)
	for _, e := range examples(t, filepath.Join(tree, "docs", "develop.md")) {
		t.Logf("%s %s", e.what, e.file)
		if e.what == "run" {
			runExample(t, tree, e.text)
			continue
		}
		if err := e.apply(tree); err != nil {
			t.Fatalf("docs/develop.md, %s %s: %v", e.what, e.file, err)
		}
	}
}

// example is a marked block of the text.
type example struct{ what, file, behind, text string }

var marked = regexp.MustCompile("(?ms)^( *)<!-- try: (\\w+)(?: ([^ |]+))?(?: \\| ([^\n]+?))? -->\n *```\\w+\n(.*?)^ *```$")

func examples(t *testing.T, file string) (all []example) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range marked.FindAllStringSubmatch(string(text), -1) {
		lines := strings.SplitAfter(m[5], "\n")
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], m[1])
		}
		all = append(all, example{m[2], m[3], m[4], strings.Join(lines, "")})
	}
	if n := strings.Count(string(text), "<!-- try: "); n != len(all) || n == 0 {
		t.Fatalf("%d of %d marks of docs/develop.md stand over a block", len(all), n)
	}
	return all
}

// apply writes the example into its file.
func (e example) apply(tree string) error {
	path := filepath.Join(tree, e.file)
	if found, err := filepath.Glob(path); err == nil && len(found) == 1 {
		path = found[0]
	} else if e.what != "write" || strings.Contains(e.file, "*") {
		return fmt.Errorf("%d files have that name", len(found))
	}
	old, err := os.ReadFile(path)
	if err != nil && e.what != "write" {
		return err
	}
	text, err := e.into(string(old))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// into is the text of the file with the example in it.
func (e example) into(old string) (string, error) {
	lines := strings.SplitAfter(old, "\n")
	at, behind := -1, 0
	switch e.what {
	case "write":
		return e.text, nil
	case "append":
		return old + "\n" + e.text, nil
	case "after":
		at = slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), e.behind) })
		behind = 1
	case "statement":
		e.text += "\n"
		at = slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "-- name: ") && line > e.text })
	}
	if at < 0 {
		return "", fmt.Errorf("its place is not found")
	}
	return strings.Join(slices.Insert(lines, at+behind, e.text), ""), nil
}

// copyTree is a repository with the files of this one as they are now.
func copyTree(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	command(t, tree, `cd "$FROM"
		git ls-files -co --exclude-standard -z | while IFS= read -r -d '' f; do [[ ! -e $f ]] || printf '%s\0' "$f"; done | tar -c --null -T - | tar -xC "$TO"
		cd "$TO"
		git init -q
		git add -A
		git -c user.name=example -c user.email=example@example.org commit -qm 'the tree'`)
	return tree
}

func runExample(t *testing.T, tree, text string) {
	t.Helper()
	out := command(t, tree, text)
	if t.Failed() {
		t.FailNow()
	}
	t.Logf("%s", out)
}

// command runs shell lines in the copy. What make has told this process about
// its own goals is not for the make that they run.
func command(t *testing.T, tree, lines string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", lines)
	cmd.Dir = tree
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS") })
	cmd.Env = append(cmd.Env, "FROM="+root, "TO="+tree, "GIT_PAGER=cat")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s\n%s%v", lines, out, err)
	}
	return string(out)
}
