package repos_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// members are the members at fault, in the order told.
func members(faults []fault.Item) (names []string) {
	for _, f := range faults {
		names = append(names, strings.TrimPrefix(f.Pointer, "/"))
	}
	return names
}

func TestNormalRefHasALowerCaseHostAndItsForgesDefault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in     repos.Ref
		host   string
		faults []string
	}{
		{repos.Ref{Forge: "github", Namespace: "Acme", Name: "Site"}, "github.com", nil},
		{repos.Ref{Forge: "gitlab", Namespace: "a/b/c", Name: "x"}, "gitlab.com", nil},
		{repos.Ref{Forge: "gitea", Namespace: "a", Name: "x"}, "", []string{"host"}},
		{repos.Ref{Forge: "forgejo", Namespace: "a", Name: "x"}, "", []string{"host"}},
		{repos.Ref{Forge: "gitea", Host: "Git.Example.ORG:3000", Namespace: "a", Name: "x"}, "git.example.org:3000", nil},
		{repos.Ref{Forge: "github", Host: "git hub.com", Namespace: "a", Name: "x"}, "git hub.com", []string{"host"}},
		{repos.Ref{Forge: "github", Host: "-x-", Namespace: "a", Name: "x"}, "-x-", []string{"host"}},
		{repos.Ref{Forge: "github", Host: strings.Repeat("h", 256), Namespace: "a", Name: "x"}, strings.Repeat("h", 256), []string{"host"}},
		{repos.Ref{Forge: "github", Namespace: strings.Repeat("n", 100), Name: strings.Repeat("x", 100)}, "github.com", nil},
		{repos.Ref{Forge: "github", Namespace: strings.Repeat("n", 101), Name: strings.Repeat("x", 101)}, "github.com", []string{"namespace", "name"}},
		{repos.Ref{Forge: "github"}, "github.com", []string{"namespace", "name"}},
		{repos.Ref{Forge: "gitea"}, "", []string{"host", "namespace", "name"}},
		{repos.Ref{Forge: "hub", Namespace: "a", Name: "x"}, "", []string{"forge"}},
	} {
		got, faults := tt.in.Normal()
		if got.Host != tt.host || !cmp.Equal(members(faults), tt.faults) || got.Namespace != tt.in.Namespace || got.Name != tt.in.Name {
			t.Errorf("%+v: host %q, faults %v", tt.in, got.Host, faults)
		}
	}
}

// NAM-03: no twins by white space, invisible characters or paths.
func TestNamesThatNoForgeAllowsAreFaults(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"acme ", " acme", "\tacme", "acme\n", "a\u00a0b", "a\u200bb", "a\u202eb", ".", "..", ".git", "widget.git", "widget.GIT", "a%2fb", "a\\b", "é", "a#1", "a?b", ""} {
		if _, faults := (repos.Ref{Forge: "github", Namespace: "acme", Name: bad}).Normal(); !slices.Contains(members(faults), "name") {
			t.Errorf("the name %q was taken", bad)
		}
		if _, faults := (repos.Ref{Forge: "github", Namespace: bad, Name: "x"}).Normal(); !slices.Contains(members(faults), "namespace") {
			t.Errorf("the namespace %q was taken", bad)
		}
	}
	for _, bad := range []string{"a/", "/a", "a//b", "a/../b", "a/b"} {
		if _, faults := (repos.Ref{Forge: "github", Namespace: "acme", Name: bad}).Normal(); !slices.Contains(members(faults), "name") {
			t.Errorf("the name %q was taken", bad)
		}
	}
	for _, bad := range []string{"a/", "/a", "a//b", "a/../b"} {
		if _, faults := (repos.Ref{Forge: "gitlab", Namespace: bad, Name: "x"}).Normal(); !slices.Contains(members(faults), "namespace") {
			t.Errorf("the namespace %q was taken", bad)
		}
	}
}

func TestNamesMayBeginWithADotOrADash(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".github", "-x", "_x", "...", ".gitignore", "a.github.io", "x.git2"} {
		if _, faults := (repos.Ref{Forge: "github", Namespace: "acme", Name: name}).Normal(); faults != nil {
			t.Errorf("the name %q was refused: %v", name, faults)
		}
	}
}

func TestIssueKeyIsOneForEverySpelling(t *testing.T) {
	t.Parallel()
	for _, ref := range []repos.Ref{{Forge: "gitea", Host: "git.example.org", Namespace: "Acme", Name: "Repo"}, {Forge: "gitea", Host: "GIT.example.org", Namespace: "aCME", Name: "rEPO"}} {
		normal, _ := ref.Normal()
		if key := normal.IssueKey(7); key != "issue:gitea:git.example.org/acme/repo#7" {
			t.Errorf("%+v: %s", ref, key)
		}
	}
}

// NAM-01: one row per repository, in the spelling that came first.
func TestTrackingTwiceInAnySpellingIsOneRow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		ada, bob := dbtest.Owner(t, s, "ada").ID, dbtest.Owner(t, s, "bob").ID
		track := func(owner, forge, namespace, name string) (repo model.Repo) {
			t.Helper()
			err := s.Tx(t.Context(), func(q model.Querier) error {
				ref := repos.Ref{Forge: forge, Host: "example.org", Namespace: namespace, Name: name}
				got, err := repos.Track(t.Context(), q, dbtest.T0, repos.TrackIn{OwnerID: owner, Ref: ref})
				repo = got.Repo
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return repo
		}
		first := track(ada, "gitea", "Acme", "Repo")
		want := model.Repo{
			ID: first.ID, OwnerID: ada, Forge: "gitea", Host: "example.org", Namespace: "Acme", Name: "Repo",
			CreatedAt: dbtest.T0, UpdatedAt: dbtest.T0,
		}
		if diff := cmp.Diff(want, first); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		for _, spelling := range [][2]string{{"Acme", "Repo"}, {"acme", "repo"}, {"ACME", "REPO"}} {
			if diff := cmp.Diff(first, track(ada, "gitea", spelling[0], spelling[1])); diff != "" {
				t.Errorf("%v (-first +again)\n%s", spelling, diff)
			}
		}
		for _, other := range []model.Repo{track(bob, "gitea", "acme", "repo"), track(ada, "forgejo", "acme", "repo"), track(ada, "gitea", "acme", "repo2")} {
			if other.ID == first.ID {
				t.Errorf("%+v is the same row", other)
			}
		}
		// At once, too.
		var wg sync.WaitGroup
		ids := make([]string, 8)
		for i := range ids {
			wg.Go(func() { ids[i] = track(ada, "gitlab", []string{"A", "a"}[i%2], "x").ID })
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Errorf("two rows: %s and %s", id, ids[0])
			}
		}
	})
}
