package control

import (
	"context"
	"fmt"
	"regexp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/store"
)

var ownerName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// CreateOwner makes an owner together with its rows for the built-in kinds;
// false and the owner as it is if the name is taken. A name that is not
// [a-z0-9][a-z0-9_-]{0,62} is a 422.
func CreateOwner(ctx context.Context, q model.Querier, now coltype.Time, name string) (model.Owner, bool, error) {
	if !ownerName.MatchString(name) {
		return model.Owner{}, false, fault.Invalid(fault.Item{
			Pointer: "/owner", Detail: "must be 1 to 63 of a-z, 0-9, _ and -, beginning with a letter or a digit",
		})
	}
	made, err := q.OwnerInsert(ctx, model.OwnerInsertParams{ID: id.New("own"), Name: name, CreatedAt: now})
	if err != nil {
		return model.Owner{}, false, fmt.Errorf("make owner %s: %w", name, err)
	}
	owner, err := q.OwnerGetByName(ctx, model.OwnerGetByNameParams{Name: name})
	if err != nil {
		return model.Owner{}, false, fmt.Errorf("look up owner %s: %w", name, err)
	}
	// For an owner that was there too: a later build may know more kinds.
	for _, kind := range BuiltinKinds {
		if _, err := q.KindInsert(ctx, DefaultKind(owner.ID, kind, now)); err != nil {
			return model.Owner{}, false, fmt.Errorf("register kind %s: %w", kind, err)
		}
	}
	return owner, made == 1, nil
}

// FindOwner is the owner of that name; false if there is none.
func FindOwner(ctx context.Context, q model.Reader, name string) (model.Owner, bool, error) {
	owner, err := q.OwnerGetByName(ctx, model.OwnerGetByNameParams{Name: name})
	if store.NotFound(err) {
		return model.Owner{}, false, nil
	}
	if err != nil {
		return model.Owner{}, false, fmt.Errorf("look up owner %s: %w", name, err)
	}
	return owner, true, nil
}
