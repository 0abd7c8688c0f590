package repos

import (
	"cmp"
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// namesSince is the migration from which on a build knows the old names of
// repositories.
const namesSince = "0013"

// RenameIn is a repository and the members of its name that change; a nil one
// stays as it is.
type RenameIn struct {
	OwnerID, RepoID              string
	Forge, Host, Namespace, Name *string
}

// Renamed is a repository after its renaming, and how many live jobs have another
// key since. After, unless nil, is to be called once that is committed.
type Renamed struct {
	Repo    model.Repo
	Rekeyed int64
	After   func()
}

// Renamer renames a repository in the transaction of q: jobs.Renamer, which knows
// the keys that follow from a name.
type Renamer func(ctx context.Context, q model.Querier, now coltype.Time, in RenameIn) (Renamed, error)

// Change is a repository that has another name in the transaction that changed
// it. Nobody else renames it or makes keys from its name before that ends.
type Change struct {
	Repo     model.Repo // after it
	From, To Ref
}

// Moves reports whether the new name is another one, and not only another
// spelling.
func (c Change) Moves() bool { return !c.From.same(c.To) }

// Rename gives a repository another name, and keeps the one that it had. A name
// that another repository has, or had, is name_in_use. What follows from the name
// is changed behind this (see Renamer): whoever takes a name first waits for
// nobody who waits for what follows from it.
func Rename(ctx context.Context, q model.Querier, now coltype.Time, in RenameIn) (Change, error) {
	repo, err := q.RepoLock(ctx, model.RepoLockParams{ID: in.RepoID, OwnerID: in.OwnerID})
	if store.NotFound(err) {
		return Change{}, fault.NotFound()
	}
	if err != nil {
		return Change{}, fmt.Errorf("lock %s: %w", in.RepoID, err)
	}
	c := Change{Repo: repo, From: NameOf(repo)}
	var faults []fault.Item
	if c.To, faults = in.of(c.From).Normal(); faults != nil {
		return Change{}, fault.Invalid(faults...)
	}
	if c.From == c.To {
		return c, nil
	}
	if err := c.free(ctx, q); err != nil {
		return Change{}, err
	}
	err = c.apply(ctx, q, coltype.Later(now, repo.UpdatedAt))
	return c, err
}

// of is the name after the change.
func (in RenameIn) of(name Ref) Ref {
	return Ref{
		Forge:     *cmp.Or(in.Forge, &name.Forge),
		Host:      *cmp.Or(in.Host, &name.Host),
		Namespace: *cmp.Or(in.Namespace, &name.Namespace),
		Name:      *cmp.Or(in.Name, &name.Name),
	}
}

// free is a fault unless the repository may have its new name.
func (c Change) free(ctx context.Context, q model.Querier) error {
	if !c.Moves() {
		return nil
	}
	older, err := store.OlderReplica(ctx, q, namesSince)
	if err != nil {
		return err
	}
	if older {
		return fault.OlderReplica()
	}
	has, err := holder(ctx, q, c.Repo.OwnerID, c.To)
	if err != nil {
		return err
	}
	if has != "" && has != c.Repo.ID {
		return fault.NameInUse(has)
	}
	return nil
}

// holder is the id of the repository that has a name, or had it; "" is none.
func holder(ctx context.Context, q model.Reader, ownerID string, name Ref) (string, error) {
	params, err := named(ownerID, name)
	if err != nil {
		return "", err
	}
	repo, err := q.RepoFind(ctx, params)
	if err != nil && !store.NotFound(err) {
		return "", fmt.Errorf("look up %s/%s: %w", name.Namespace, name.Name, err)
	}
	return repo.ID, nil
}

// apply gives the repository its new name. One of its own that it has again is no
// old one any more.
func (c *Change) apply(ctx context.Context, q model.Querier, now coltype.Time) (err error) {
	to, id, owner := c.To, c.Repo.ID, c.Repo.OwnerID
	c.Repo, err = q.RepoRename(ctx, model.RepoRenameParams{
		ID: id, OwnerID: owner, Forge: to.Forge, Host: to.Host, Namespace: to.Namespace, Name: to.Name, UpdatedAt: now,
	})
	if err != nil {
		return fmt.Errorf("rename %s: %w", id, err)
	}
	if !c.Moves() {
		return nil
	}
	_, err = q.RepoNameDelete(ctx, model.RepoNameDeleteParams{
		OwnerID: owner, RepoID: id, Forge: to.Forge, Host: to.Host, Namespace: to.Namespace, Name: to.Name,
	})
	if err != nil {
		return fmt.Errorf("take an old name of %s away: %w", id, err)
	}
	has, err := holder(ctx, q, owner, to)
	if err == nil && has != id {
		// Another repository was tracked under the new name and renamed meanwhile.
		err = fmt.Errorf("%s/%s became an old name of %s: %w", to.Namespace, to.Name, has, store.ErrRerun)
	}
	if err != nil {
		return err
	}
	return c.keepOld(ctx, q, now)
}

// keepOld keeps the old name. One that an earlier release kept in a spelling of
// its own is kept in the one that counts, unless a repository has that.
func (c Change) keepOld(ctx context.Context, q model.Querier, now coltype.Time) error {
	owner := c.Repo.OwnerID
	old, faults := c.From.Normal()
	if faults != nil {
		return nil // nobody can ask for it
	}
	if !old.same(c.From) {
		has, err := holder(ctx, q, owner, old)
		if err != nil || has != "" {
			return err
		}
	}
	err := q.RepoNameInsert(ctx, model.RepoNameInsertParams{
		OwnerID: owner, Forge: old.Forge, Host: old.Host, Namespace: old.Namespace, Name: old.Name, RepoID: c.Repo.ID, ReplacedAt: now,
	})
	if err != nil {
		return fmt.Errorf("keep the old name of %s: %w", c.Repo.ID, err)
	}
	return nil
}
