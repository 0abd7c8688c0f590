package jobs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// registered returns the kinds of those names, and registers the unknown ones
// with defaults.
func registered(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, names []string) (map[string]model.JobKind, error) {
	kinds, err := kindsByName(ctx, q, ownerID, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, known := kinds[name]; known {
			continue
		}
		if _, err := q.KindInsert(ctx, control.DefaultKind(ownerID, name, now)); err != nil {
			return nil, fmt.Errorf("register kind %s: %w", name, err)
		}
		if kinds[name], err = q.KindGet(ctx, model.KindGetParams{OwnerID: ownerID, Name: name}); err != nil {
			return nil, fmt.Errorf("look up kind %s: %w", name, err)
		}
	}
	return kinds, nil
}

// kindsByName returns those of the names that are registered.
func kindsByName(ctx context.Context, q model.Reader, ownerID string, names []string) (map[string]model.JobKind, error) {
	text, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	rows, err := q.KindListByNames(ctx, model.KindListByNamesParams{OwnerID: ownerID, Names: string(text)})
	if err != nil {
		return nil, fmt.Errorf("look up kinds: %w", err)
	}
	kinds := make(map[string]model.JobKind, len(rows))
	for _, kind := range rows {
		kinds[kind.Name] = kind
	}
	return kinds, nil
}

// kindOfJob is the kind that the waits of a job come from.
func kindOfJob(ctx context.Context, q model.Reader, job model.Job) (model.JobKind, error) {
	kind, err := q.KindGet(ctx, model.KindGetParams{OwnerID: job.OwnerID, Name: job.Kind})
	if err != nil {
		return model.JobKind{}, fmt.Errorf("look up kind %s: %w", job.Kind, err)
	}
	return kind, nil
}

// KindIn is what a person sets of a kind: lease and backoff in seconds.
type KindIn struct {
	OwnerID            string
	Name               string
	LeaseSeconds       int64  // 10 to 86,400
	MaxAttempts        int64  // 1 to 100
	BackoffBaseSeconds int64  // 1 to the cap
	BackoffCapSeconds  int64  // to 2,592,000
	Timeout            *int64 // 1 to 604,800; nil is none
	KeepTimeout        bool   // the present one stays, whatever Timeout says
}

// GetKind is one kind of an owner.
func GetKind(ctx context.Context, q model.Reader, ownerID, name string) (model.JobKind, error) {
	kind, err := q.KindGet(ctx, model.KindGetParams{OwnerID: ownerID, Name: name})
	if store.NotFound(err) {
		return model.JobKind{}, fault.NotFound()
	}
	if err != nil {
		return model.JobKind{}, fmt.Errorf("look up kind %s: %w", name, err)
	}
	return kind, nil
}

// PutKind sets a kind, or registers an unknown one (created). match is called
// with the version of the kind, 0 for an unknown one, and refuses one that the
// caller has not read.
func PutKind(ctx context.Context, q model.Querier, now coltype.Time, in KindIn, match func(version int64) error) (kind model.JobKind, created bool, err error) {
	_, err = q.KindGet(ctx, model.KindGetParams{OwnerID: in.OwnerID, Name: in.Name})
	switch {
	case store.NotFound(err):
		created, err = register(ctx, q, now, in, match)
	case err != nil:
		err = fmt.Errorf("look up kind %s: %w", in.Name, err)
	}
	if err == nil && !created {
		err = changeKind(ctx, q, now, in, match)
	}
	if err != nil {
		return model.JobKind{}, false, err
	}
	kind, err = GetKind(ctx, q, in.OwnerID, in.Name)
	return kind, created, err
}

// register registers a kind that was unknown a moment ago; false if it has been
// registered meanwhile.
func register(ctx context.Context, q model.Querier, now coltype.Time, in KindIn, match func(int64) error) (bool, error) {
	if err := match(0); err != nil {
		return false, err
	}
	n, err := q.KindInsert(ctx, model.KindInsertParams{
		OwnerID: in.OwnerID, Name: in.Name, LeaseSeconds: in.LeaseSeconds, MaxAttempts: in.MaxAttempts,
		BackoffBaseSeconds: in.BackoffBaseSeconds, BackoffCapSeconds: in.BackoffCapSeconds,
		TimeoutSeconds: in.Timeout, CreatedAt: now,
	})
	if err != nil {
		return false, fmt.Errorf("register kind %s: %w", in.Name, err)
	}
	return n == 1, nil
}

// changeKind writes a kind at the version it reads, if match takes that
// version. A write that another one overtook is precondition_failed.
func changeKind(ctx context.Context, q model.Querier, now coltype.Time, in KindIn, match func(int64) error) error {
	kind, err := GetKind(ctx, q, in.OwnerID, in.Name)
	if err != nil {
		return err
	}
	if err := match(kind.Version); err != nil {
		return err
	}
	if in.KeepTimeout {
		in.Timeout = kind.TimeoutSeconds
	}
	n, err := q.KindSet(ctx, model.KindSetParams{
		OwnerID: in.OwnerID, Name: in.Name, Version: kind.Version, UpdatedAt: now,
		LeaseSeconds: in.LeaseSeconds, MaxAttempts: in.MaxAttempts,
		BackoffBaseSeconds: in.BackoffBaseSeconds, BackoffCapSeconds: in.BackoffCapSeconds,
		TimeoutSeconds: in.Timeout,
	})
	if err != nil {
		return fmt.Errorf("change kind %s: %w", in.Name, err)
	}
	if n == 0 {
		return fault.PreconditionFailed()
	}
	return nil
}

// Pause holds a kind back from claims; running jobs go on. Pausing twice
// changes nothing.
func Pause(ctx context.Context, q model.Querier, now coltype.Time, ownerID, name, actor string) (model.JobKind, error) {
	_, err := q.KindPause(ctx, model.KindPauseParams{OwnerID: ownerID, Name: name, Actor: &actor, Now: now})
	if err != nil {
		return model.JobKind{}, fmt.Errorf("pause kind %s: %w", name, err)
	}
	return GetKind(ctx, q, ownerID, name)
}

// Resume lets a paused kind be claimed again. Resuming twice changes nothing.
func Resume(ctx context.Context, q model.Querier, now coltype.Time, ownerID, name string) (model.JobKind, error) {
	_, err := q.KindResume(ctx, model.KindResumeParams{OwnerID: ownerID, Name: name, Now: now})
	if err != nil {
		return model.JobKind{}, fmt.Errorf("resume kind %s: %w", name, err)
	}
	return GetKind(ctx, q, ownerID, name)
}
