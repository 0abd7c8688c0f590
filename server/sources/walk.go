package sources

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
)

// Walk reads the connections of all owners behind an id, by id.
func Walk(ctx context.Context, q model.Reader, afterID string, limit int) ([]model.Connection, error) {
	rows, err := q.ConnectionWalk(ctx, model.ConnectionWalkParams{AfterID: afterID, Max: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("walk the connections: %w", err)
	}
	return rows, nil
}
