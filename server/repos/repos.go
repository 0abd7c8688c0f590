// Package repos keeps the tracked repositories of forges, one row per repository
// however its name is spelled, and the proposals made to them.
//
// A proposal asks to bring head into stream. At most one of a repository, stream
// and head is open (the unique index proposals_open_head holds that), so whoever
// proposes again gets the open one. It is merged or closed by somebody who has
// seen its present version, and may be reopened; every state it came into is
// kept, with who brought it there.
//
// A repository may be renamed. The names that it had stay its own: whoever uses
// one means it. So no repository has a name that another one has, or had.
package repos

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
)

// Forges are the forges a repository may live on (constraint repos_forge_check).
var Forges = []string{"github", "gitea", "forgejo", "gitlab"}

// Ref names a repository: forge, host, namespace (the forge's owner or group;
// on GitLab possibly a path of groups) and name.
type Ref struct {
	Forge     string
	Host      string
	Namespace string
	Name      string
}

var part = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// maxName bounds namespace and name, in bytes.
const maxName = 100

// legal reports whether a forge may have a name, or a part of a namespace, like
// that. One that ends in .git would be a second name of the same repository.
func legal(name string) bool {
	return part.MatchString(name) && name != "." && name != ".." && !strings.HasSuffix(strings.ToLower(name), ".git")
}

// illegal are the faults of namespace and name; an empty one is none unless it is
// required.
func (r Ref) illegal(required bool) (faults []fault.Item) {
	bad := func(name string) bool { return !legal(name) }
	if (required || r.Namespace != "") && (len(r.Namespace) > maxName || slices.ContainsFunc(strings.Split(r.Namespace, "/"), bad)) {
		faults = append(faults, fault.Item{Pointer: "/namespace", Detail: "takes 1 to 100 letters, digits, '.', '_' and '-' (groups separated by '/'), and does not end in .git"})
	}
	if (required || r.Name != "") && (len(r.Name) > maxName || bad(r.Name)) {
		faults = append(faults, fault.Item{Pointer: "/name", Detail: "takes 1 to 100 letters, digits, '.', '_' and '-', and does not end in .git"})
	}
	return faults
}

// Normal is the Ref with its host filled in by default and in the one spelling
// of normalHost, and the faults it has, in the order of its members; pointers
// begin at the Ref.
func (r Ref) Normal() (Ref, []fault.Item) {
	if r.Host == "" {
		r.Host = defaultHosts[r.Forge]
	}
	var faults []fault.Item
	wrong := func(member, detail string) {
		faults = append(faults, fault.Item{Pointer: "/" + member, Detail: detail})
	}
	host, legal := normalHost(r.Host)
	switch {
	case !slices.Contains(Forges, r.Forge):
		wrong("forge", "is none of "+strings.Join(Forges, ", "))
	case r.Host == "":
		wrong("host", "is required for "+r.Forge)
	case !legal:
		wrong("host", badHost)
	}
	r.Host = host
	return r, append(faults, r.illegal(true)...)
}

const badHost = "is not a host name or IPv4 address, optionally with a port from 1 to 65535 without leading zeros"

// IssueKey is the key of an issue's job: one spelling for every spelling of
// the repository.
func (r Ref) IssueKey(number int64) string {
	return r.issues() + strconv.FormatInt(number, 10)
}

// IssueKeys are two texts between which the keys of the repository's issues lie,
// and no others: no name has a #. Each key is the first text and the number.
func (r Ref) IssueKeys() (first, end string) {
	first = r.issues()
	return first, strings.TrimSuffix(first, "#") + "$" // the character behind #
}

func (r Ref) issues() string {
	return fmt.Sprintf("issue:%s:%s/%s/%s#", r.Forge, r.Host, strings.ToLower(r.Namespace), strings.ToLower(r.Name))
}

// NameOf is the name that a repository has.
func NameOf(r model.Repo) Ref {
	return Ref{Forge: r.Forge, Host: r.Host, Namespace: r.Namespace, Name: r.Name}
}

// same reports whether both name one repository: case does not count.
func (r Ref) same(other Ref) bool { return r.issues() == other.issues() }
