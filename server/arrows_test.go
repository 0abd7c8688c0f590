// The packages of the repository and who may import whom: docs/develop.md draws the same map.
package server_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/stint-run/stint/"

// packages stand from left to right: one imports what stands to its right, never to its left nor
// beside it. A folder below a package belongs to it.
var packages = [][]string{
	{"cmd/stint"},
	{"server"},
	{"server/console"},
	{"server/doctor", "server/fsck", "server/ops"},
	{"server/explore", "server/records"},
	{"server/sources"},
	{"server/jobs"},
	{"server/repos"},
	{"server/runs"},
	{"server/web"},
	{"server/metrics"},
	{"server/control"},
	{"server/notify"},
	{"server/store"},
	{"schema"},
	{"gen/postgres", "gen/sqlite"},
	{"gen/model"},
	{"server/bounded", "server/datum", "server/fault", "server/id", "server/keyset", "server/ndjson"},
	{"schema/coltype", "schema/next", "client"},
}

// apart are the packages that only serve tests and generation: nothing else imports them, and they may import anything.
var apart = []string{"server/dbtest", "server/apitest", "server/plans", "server/kept", "server/e2e", "cmd/twin"}

// narrow are the packages, ours and others', that only some may import. A name with a slash at its
// end stands for everything below it; importers are packages, or "http.go" for files of that name.
var narrow = []struct {
	pkgs, importers []string
	tests           bool
	why             string
}{
	{
		pkgs:      []string{"github.com/labstack/echo/", "github.com/danielgtaylor/huma/"},
		importers: []string{"server", "server/web", "http.go"},
		why:       "a move to another router is one folder's work",
	},
	{ // holds for tests too: they reach a driver through dbtest, unless statements are what they test,
		// as the plans and costs of claims in server/jobs. scratch.go is of the benchmark, which makes its database.
		pkgs: []string{"database/sql", "database/sql/", "github.com/jackc/", "modernc.org/", "github.com/amacneil/dbmate/"},
		importers: []string{"schema", "schema/coltype", "server/store", "server/dbtest", "server/plans", "server/kept", "cmd/twin", "gen/postgres", "gen/sqlite",
			"scratch.go", "conn_test.go", "claim_cost_test.go", "claim_soak_test.go", "property_test.go"},
		tests: true,
		why:   "an operation that cannot name a driver cannot leave its transaction",
	},
	{
		pkgs:      []string{"github.com/prometheus/"},
		importers: []string{"server/metrics"},
		why:       "what is exported, and by which labels, is seen in one place",
	},
	{
		pkgs:      []string{module + "gen/postgres", module + "gen/sqlite"},
		importers: []string{"server/store"},
		why:       "everyone else sees model.Reader and model.Querier",
	},
	{
		pkgs:      []string{module + "gen/client", module + "client"},
		importers: []string{"cmd/stint", "client"},
		why:       "the server is not its own client",
	},
}

// imported is one import in one file.
type imported struct{ file, pkg string }

func TestImportsFollowTheArrows(t *testing.T) {
	for _, imp := range imports(t) {
		if problem := imp.problem(); problem != "" {
			t.Error(problem)
		}
	}
}

func TestTheArrowsSeeWhatTheyForbid(t *testing.T) {
	tests := map[string]struct {
		file, pkg string
		allowed   bool
	}{
		"to the right":                 {"server/jobs/claim.go", module + "server/runs", true},
		"to the left":                  {"server/runs/open.go", module + "server/jobs", false},
		"to a neighbour":               {"server/doctor/a.go", module + "server/ops", false},
		"within a package":             {"server/web/api.go", module + "server/web/docs", true},
		"to a part of a left package":  {"server/store/tx.go", module + "server/web/docs", false},
		"to a package without a place": {"server/jobs/claim.go", module + "server/stray", false},
		"from one":                     {"server/stray/a.go", module + "server/jobs", false},
		"huma in an operation":         {"server/jobs/claim.go", "github.com/danielgtaylor/huma/v2", false},
		"huma in a handler":            {"server/jobs/http.go", "github.com/danielgtaylor/huma/v2", true},
		"sql in an operation":          {"server/jobs/claim.go", "database/sql", false},
		"sql in a test":                {"server/jobs/claim_test.go", "database/sql", false},
		"to the left in a test":        {"server/runs/open_test.go", module + "server/jobs", true},
		"test code in an operation":    {"server/jobs/claim.go", module + "server/dbtest", false},
		"test code in a test":          {"server/jobs/claim_test.go", module + "server/dbtest", true},
		"pgx in the store":             {"server/store/open.go", "github.com/jackc/pgx/v5/pgxpool", true},
		"accessors in an operation":    {"server/jobs/claim.go", module + "gen/sqlite", false},
		"the client in the server":     {"server/server.go", module + "gen/client", false},
		"the client in the command":    {"cmd/stint/job.go", module + "gen/client", true},
		"someone else's package":       {"server/jobs/claim.go", "errors", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			problem := imported{tt.file, tt.pkg}.problem()
			if (problem == "") != tt.allowed {
				t.Errorf("allowed %v, but problem %q", tt.allowed, problem)
			}
		})
	}
}

func (imp imported) isTest() bool { return strings.HasSuffix(imp.file, "_test.go") }

// problem says in one line what is wrong with an import, or nothing.
func (imp imported) problem() string {
	own, at := packageOf(path.Dir(imp.file))
	for _, rule := range narrow {
		if imp.isTest() && !rule.tests {
			continue
		}
		if covers(rule.pkgs, imp.pkg) && !slices.Contains(rule.importers, own) && !slices.Contains(rule.importers, path.Base(imp.file)) {
			return imp.file + " imports " + imp.pkg + "; only " + strings.Join(rule.importers, ", ") + " may: " + rule.why
		}
	}
	ours, ok := strings.CutPrefix(imp.pkg, module)
	if !ok || ours == "gen/client" || imp.isTest() || slices.Contains(apart, own) {
		return ""
	}
	target, to := packageOf(ours)
	switch {
	case own == "":
		return imp.file + " is in no package that server/arrows_test.go knows: give it a place in packages there"
	case target == "":
		return imp.file + " imports " + ours + ", which server/arrows_test.go does not know: give it a place in packages there"
	case slices.Contains(apart, target):
		return imp.file + ": " + target + " only serves tests and generation"
	case own != target && at >= to:
		return imp.file + ": " + own + " may not import " + target + ": arrows go to the right"
	}
	return ""
}

// packageOf finds the package that a folder belongs to and how far right it stands. server and
// schema are one folder each: what lies below them has a place of its own.
func packageOf(dir string) (name string, at int) {
	for i, level := range append(packages, apart) {
		for _, name := range level {
			below := name != "server" && name != "schema" && strings.HasPrefix(dir, name+"/")
			if dir == name || below {
				return name, i
			}
		}
	}
	return "", -1
}

func covers(pkgs []string, pkg string) bool {
	return slices.ContainsFunc(pkgs, func(p string) bool {
		return p == pkg || strings.HasSuffix(p, "/") && strings.HasPrefix(pkg, p)
	})
}

// imports reads every import of the module's files.
func imports(t *testing.T) (all []imported) {
	t.Helper()
	eachFile(t, parser.ImportsOnly, func(name string, file *ast.File) {
		for _, spec := range file.Imports {
			pkg, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, imported{file: name, pkg: pkg})
		}
	})
	if len(all) == 0 {
		t.Fatal("no file imports anything")
	}
	return all
}

// eachFile calls fn with every Go file of the module. The whole tree is walked, so a new folder is
// seen; tools/ and docs/ are not of the product.
func eachFile(t *testing.T, mode parser.Mode, fn func(name string, file *ast.File)) {
	t.Helper()
	tree := os.DirFS("..")
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			outside := slices.Contains([]string{"tools", "docs", "gen/client"}, name)
			if outside || entry.Name() == "testdata" || entry.Name() == "node_modules" || name != "." && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, mode)
		if err == nil {
			fn(name, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
