package house

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// modfile is what `go mod edit -json` says of a go.mod.
type modfile struct {
	Require []struct{ Path, Version string }
	Replace []struct{ Old struct{ Path string } }
	Tool    []struct{ Path string }
}

func TestTheProductsModuleIsPlain(t *testing.T) {
	mod := readModfile(t, "../../go.mod")
	if len(mod.Replace) > 0 {
		t.Errorf("go.mod replaces %v: what is built must be what the module proxy serves", mod.Replace)
	}
	if len(mod.Tool) > 0 {
		t.Errorf("go.mod names tools %v: each has a modfile of its own under tools/", mod.Tool)
	}
}

// A release, not a commit: @latest of a pseudo-version is nothing a reader can look up.
var release = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

func TestToolsArePinnedToReleases(t *testing.T) {
	files, err := filepath.Glob("../*/go.mod")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no tools: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			mod := readModfile(t, name)
			if len(mod.Replace) > 0 || len(mod.Tool) != 1 {
				t.Errorf("want one tool and no replace, got %v and %v", mod.Tool, mod.Replace)
			}
			for _, tool := range mod.Tool {
				if version := mod.versionOf(tool.Path); !release.MatchString(version) {
					t.Errorf("%s is at %q, want a release", tool.Path, version)
				}
			}
		})
	}
}

// versionOf is the version of the module with the longest path that holds the package.
func (m modfile) versionOf(pkg string) string {
	best := -1
	for i, req := range m.Require {
		holds := pkg == req.Path || strings.HasPrefix(pkg, req.Path+"/")
		if holds && (best < 0 || len(req.Path) > len(m.Require[best].Path)) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return m.Require[best].Version
}

func readModfile(t *testing.T, name string) modfile {
	t.Helper()
	out, err := exec.Command("go", "mod", "edit", "-json", name).Output()
	if err != nil {
		t.Fatalf("go mod edit -json %s: %v", name, err)
	}
	var mod modfile
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	return mod
}

// What must never be linked: drivers that need cgo or stand beside ours, and what only tests use.
var unwanted = []string{
	"C",
	"github.com/lib/pq",
	"github.com/mattn/go-sqlite3",
	"github.com/go-sql-driver/mysql",
	"github.com/amacneil/dbmate/v2/pkg/driver/postgres",
	"github.com/amacneil/dbmate/v2/pkg/driver/sqlite",
	"pgregory.net/rapid",
	"github.com/google/go-cmp/cmp",
	"github.com/stint-run/stint/server/dbtest",
	"testing",
}

func TestTheBinaryLinksNeitherCgoNorTestCode(t *testing.T) {
	cmd := exec.Command("go", "list", "-e", "-deps", "../../cmd/stint")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -deps cmd/stint: %v", err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		if slices.Contains(unwanted, pkg) {
			t.Errorf("cmd/stint links %s", pkg)
		}
	}
}
