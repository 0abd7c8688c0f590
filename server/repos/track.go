package repos

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/id"
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

// Track returns the repository of a Ref, and tracks it first if it is unknown. A
// default stream replaces the one that a known repository has; its names stay in
// the spelling that came first.
func Track(ctx context.Context, q model.Querier, now coltype.Time, in TrackIn) (Tracked, error) {
	r := in.Ref
	n, err := q.RepoInsert(ctx, model.RepoInsertParams{
		ID: id.New("repo"), OwnerID: in.OwnerID, Forge: r.Forge, Host: r.Host, Namespace: r.Namespace, Name: r.Name,
		DefaultStream: in.DefaultStream, CreatedAt: now,
	})
	if err != nil {
		return Tracked{}, fmt.Errorf("track %s/%s: %w", r.Namespace, r.Name, err)
	}
	repo, err := q.RepoGetByName(ctx, model.RepoGetByNameParams{
		OwnerID: in.OwnerID, Forge: r.Forge, Host: r.Host, Namespace: r.Namespace, Name: r.Name,
	})
	if err != nil {
		return Tracked{}, fmt.Errorf("look up %s/%s: %w", r.Namespace, r.Name, err)
	}
	if repo, err = setDefaultStream(ctx, q, now, repo, in.DefaultStream); err != nil {
		return Tracked{}, err
	}
	return Tracked{Repo: repo, Deduplicated: n == 0}, nil
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
