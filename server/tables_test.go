// Which package owns each table, and may call its statements.
package server_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// owners has for each noun, with which the names of a table's statements begin, the package that
// calls them. Another package calls an operation of that one, so that what a table means is said
// in one place.
//
// A package that is not named here calls no statement. server/store hands them out; schema and
// server/store/inspect have SQL of their own, about catalogs; server/doctor checks what inspect
// measured; cmd/stint calls operations. The packages of apart try statements as such: theirs are free.
var owners = map[string]string{
	"Job":  "server/jobs",
	"Kind": "server/jobs",
	"Run":  "server/runs",

	"Repo":       "server/repos",
	"Proposal":   "server/repos",
	"Transition": "server/repos",

	"Connector":  "server/sources",
	"Stream":     "server/sources",
	"Connection": "server/sources",
	"Tombstone":  "server/sources",
	"Removal":    "server/sources",
	"Head":       "server/sources",
	"Device":     "server/sources",

	"OwnerSeq":   "server/records",
	"Partition":  "server/records",
	"Record":     "server/records",
	"Version":    "server/records",
	"DayCount":   "server/records",
	"Checkpoint": "server/records",
	"Rejection":  "server/records",
	"Batch":      "server/records",

	"IdempotencyKey": "server/control",
	"Lease":          "server/control",
	"LoginLink":      "server/control",
	"Meta":           "server/control",
	"Owner":          "server/control",
	"Token":          "server/control",
	"Worker":         "server/control",
}

// guests are the packages that call single statements of a table that is not theirs.
var guests = []struct{ statement, pkg, why string }{
	{"PartitionList", "server/sources", "a connection is shown with what it has of its streams"},
	{"KindInsert", "server/control", "an owner has its built-in kinds from the start, and control knows nothing of jobs"},
	{"PartitionBeginRefresh", "server/sources", refreshes},
	{"PartitionBeginRemoval", "server/sources", refreshes},
	{"PartitionCancelRefresh", "server/sources", refreshes},
}

const refreshes = "the transaction that begins or ends a run says what that means for a full refresh, and sources knows nothing of records"

// called is one statement in one file that is no test.
type called struct{ file, statement string }

func TestEachTableIsUsedByItsOwner(t *testing.T) {
	known := statements(t)
	for _, statement := range known {
		if ownerOf(statement) == "" {
			t.Error("gen/model has " + unowned(statement))
		}
	}
	used := map[string]bool{}
	for _, c := range calls(t, known) {
		used[c.statement+" "+c.pkg()] = true
		if problem := c.problem(); problem != "" {
			t.Error(problem)
		}
	}
	for _, g := range guests {
		if !used[g.statement+" "+g.pkg] {
			t.Errorf("%s no longer calls %s: take it out of guests in server/tables_test.go", g.pkg, g.statement)
		}
	}
}

func TestTheTablesSeeWhatTheyForbid(t *testing.T) {
	tests := map[string]struct {
		file, statement string
		allowed         bool
	}{
		"of the owner":                   {"server/jobs/claim.go", "JobClaim", true},
		"of the owner's other table":     {"server/repos/create.go", "TransitionInsert", true},
		"of a package to the right":      {"server/jobs/claim.go", "RunInsertMany", false},
		"of a package to the left":       {"server/runs/open.go", "JobGet", false},
		"a guest's":                      {"server/control/owners.go", "KindInsert", true},
		"a guest's other statement":      {"server/control/owners.go", "KindSet", false},
		"the routes'":                    {"server/ops/http.go", "TokenRevoke", false},
		"the edge's":                     {"server/web/auth.go", "TokenGetByHash", false},
		"the command's":                  {"cmd/stint/token_db.go", "TokenGet", false},
		"the store's":                    {"server/store/tx.go", "MetaGet", false},
		"of an unknown package":          {"server/stray/a.go", "JobGet", false},
		"of a table without an owner":    {"server/jobs/claim.go", "StrayGet", false},
		"of a table with a similar name": {"server/jobs/claim.go", "JobberGet", false},
		"of a noun that begins as one":   {"server/records/apply.go", "OwnerSeqTake", true},
		"test code's":                    {"server/dbtest/dbtest.go", "OwnerInsert", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			problem := called{tt.file, tt.statement}.problem()
			if (problem == "") != tt.allowed {
				t.Errorf("allowed %v, but problem %q", tt.allowed, problem)
			}
		})
	}
}

// TestCallsAreSeenHoweverTheyAreWritten: also where a statement is passed on, as in a list.
func TestCallsAreSeenHoweverTheyAreWritten(t *testing.T) {
	const text = `package p
func f(s *store.Store, q model.Querier) {
	s.JobGet(ctx, model.JobGetParams{})
	s.Reader.JobPage(ctx, model.JobPageParams{})
	use(q.JobClaim)
	use(model.Reader.JobWalk)
	go func() { (q).JobLock(ctx, arg) }()
	JobRenew()
}`
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := selected(file, []string{"JobClaim", "JobGet", "JobLock", "JobPage", "JobRenew", "JobWalk"})
	if want := []string{"JobGet", "JobPage", "JobClaim", "JobWalk", "JobLock"}; !slices.Equal(got, want) {
		t.Errorf("saw %v, want %v", got, want)
	}
}

func (c called) pkg() string {
	pkg, _ := packageOf(path.Dir(c.file))
	return pkg
}

func unowned(statement string) string {
	return statement + ", of a table that nobody owns: add the noun it begins with, and the package that may call it, to owners in server/tables_test.go"
}

// problem says in one line what is wrong with a call, or nothing.
func (c called) problem() string {
	pkg, owner := c.pkg(), ownerOf(c.statement)
	if owner == "" {
		return c.file + " calls " + unowned(c.statement)
	}
	if pkg == owner || slices.Contains(apart, pkg) {
		return ""
	}
	for _, g := range guests {
		if g.statement == c.statement && g.pkg == pkg {
			return ""
		}
	}
	return c.file + " calls " + c.statement + " of a table that " + owner + " owns: call an operation of that package, or write it there (owners in server/tables_test.go)"
}

// ownerOf is the package whose table a statement is of, "" if none is known. The noun ends where
// a word begins; of two the longer one is meant.
func ownerOf(statement string) (found string) {
	for i, c := range statement {
		if owner := owners[statement[:i]]; owner != "" && unicode.IsUpper(c) {
			found = owner
		}
	}
	return found
}

// statements are the names of every statement, from the interfaces in gen/model.
func statements(t *testing.T) (all []string) {
	t.Helper()
	eachFile(t, 0, func(name string, file *ast.File) {
		if path.Dir(name) != "gen/model" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if of, ok := n.(*ast.InterfaceType); ok {
				for _, method := range of.Methods.List {
					for _, name := range method.Names {
						all = append(all, name.Name)
					}
				}
			}
			return true
		})
	})
	if len(all) == 0 {
		t.Fatal("gen/model has no interface with statements")
	}
	slices.Sort(all)
	return all
}

// calls are all uses of those statements outside of gen and tests. The names are used for nothing
// else, so that a file is read without its types.
func calls(t *testing.T, known []string) (all []called) {
	t.Helper()
	eachFile(t, 0, func(name string, file *ast.File) {
		if strings.HasPrefix(name, "gen/") || strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, statement := range selected(file, known) {
			all = append(all, called{name, statement})
		}
	})
	return all
}

// selected are the names of those that a file selects from a value or a type, called or not.
func selected(file *ast.File, names []string) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if _, known := slices.BinarySearch(names, sel.Sel.Name); known {
				found = append(found, sel.Sel.Name)
			}
		}
		return true
	})
	return found
}
