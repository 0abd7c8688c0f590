package records

import (
	"context"

	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// IngestRoute adds the route with chunks of so many lines. cut is called after each
// chunk of a batch but the last: a panic there leaves what a crash leaves.
func IngestRoute(a *web.API, s *store.Store, lines int, cut func(Tally)) {
	ingestRoute(a, &ingest{store: s, lines: lines, draining: a.Draining(), cut: cut})
}

// BatchLease is how long a batch stays with a sender that went silent.
const BatchLease = batchLease

// RemoveBatch is one transaction of RemoveUnseen.
func RemoveBatch(ctx context.Context, s *store.Store) (n int, err error) {
	n, _, err = removeBatch(ctx, s, partitionKey{})
	return n, err
}
