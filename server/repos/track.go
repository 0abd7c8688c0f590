package repos

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/store"
)

// TrackIn is a repository to track; Ref is normal.
type TrackIn struct {
	OwnerID       string
	Ref           Ref
	DefaultStream *string // nil: none, or the one it has
}

// Tracked is a repository, and whether it was tracked before.
type Tracked struct {
	Repo         model.Repo
	Deduplicated bool
}

// Track returns the repository that has the name of a Ref, or had it, and tracks
// it first if it is unknown. A default stream replaces the one that a known
// repository has; its names stay in the spelling that came first.
func Track(ctx context.Context, q model.Querier, now coltype.Time, in TrackIn) (Tracked, error) {
	got, err := ensure(ctx, q, now, in, q.RepoFind)
	if err != nil {
		return Tracked{}, err
	}
	got.Repo, err = setDefaultStream(ctx, q, now, got.Repo, in.DefaultStream)
	return got, err
}

// TrackHeld is Track for whoever derives something from the name that the
// repository has: nobody renames it before the transaction ends.
func TrackHeld(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, ref Ref) (model.Repo, error) {
	got, err := ensure(ctx, q, now, TrackIn{OwnerID: ownerID, Ref: ref}, q.RepoHoldByName)
	return got.Repo, err
}

// Hold is the name of a repository, which nobody changes before the transaction
// ends.
func Hold(ctx context.Context, q model.Querier, ownerID, repoID string) (Ref, error) {
	repo, err := q.RepoHold(ctx, model.RepoHoldParams{ID: repoID, OwnerID: ownerID})
	if store.NotFound(err) {
		return Ref{}, fault.NotFound()
	}
	if err != nil {
		return Ref{}, fmt.Errorf("hold %s: %w", repoID, err)
	}
	return NameOf(repo), nil
}

// find reads the repository of a name.
type find func(context.Context, model.RepoFindParams) (model.Repo, error)

// ensure looks, and if it finds nothing inserts and looks again: another
// transaction may have inserted meanwhile.
func ensure(ctx context.Context, q model.Querier, now coltype.Time, in TrackIn, find find) (Tracked, error) {
	params, err := named(in.OwnerID, in.Ref)
	if err != nil {
		return Tracked{}, err
	}
	repo, err := find(ctx, params)
	if !store.NotFound(err) {
		return Tracked{Repo: repo, Deduplicated: true}, looked(in.Ref, err)
	}
	newID, n, err := insert(ctx, q, now, in)
	if err != nil {
		return Tracked{}, err
	}
	if repo, err = find(ctx, params); store.NotFound(err) || err == nil && n > 0 && repo.ID != newID {
		// It was tracked and renamed, or the name that was inserted is an old name
		// now. Both show only here: the insert waits for a rename from its name.
		err = store.ErrRerun
	}
	return Tracked{Repo: repo, Deduplicated: n == 0}, looked(in.Ref, err)
}

func looked(r Ref, err error) error {
	if err != nil {
		return fmt.Errorf("look up %s/%s: %w", r.Namespace, r.Name, err)
	}
	return nil
}

// insert tracks a repository under a new id; 0 rows if it is tracked.
func insert(ctx context.Context, q model.Querier, now coltype.Time, in TrackIn) (newID string, n int64, err error) {
	r := in.Ref
	newID = id.New("repo")
	n, err = q.RepoInsert(ctx, model.RepoInsertParams{
		ID: newID, OwnerID: in.OwnerID, Forge: r.Forge, Host: r.Host, Namespace: r.Namespace, Name: r.Name,
		DefaultStream: in.DefaultStream, CreatedAt: now,
	})
	if err != nil {
		return "", 0, fmt.Errorf("track %s/%s: %w", r.Namespace, r.Name, err)
	}
	return newID, n, nil
}

// named are the arguments that look a Ref up.
func named(ownerID string, r Ref) (model.RepoFindParams, error) {
	hosts, err := json.Marshal(spellings(r.Host))
	return model.RepoFindParams{
		OwnerID: ownerID, Forge: r.Forge, Host: r.Host, Namespace: r.Namespace, Name: r.Name, Hosts: string(hosts),
	}, err
}

// setDefaultStream gives a repository that default stream, unless it has it.
func setDefaultStream(ctx context.Context, q model.Querier, now coltype.Time, repo model.Repo, stream *string) (model.Repo, error) {
	if stream == nil || repo.DefaultStream != nil && *repo.DefaultStream == *stream {
		return repo, nil
	}
	changed, err := q.RepoSetDefaultStream(ctx, model.RepoSetDefaultStreamParams{
		ID: repo.ID, OwnerID: repo.OwnerID, DefaultStream: stream, UpdatedAt: coltype.Later(now, repo.UpdatedAt),
	})
	if err != nil {
		return model.Repo{}, fmt.Errorf("set the default stream of %s: %w", repo.ID, err)
	}
	return changed, nil
}
