package control

import (
	"context"

	"github.com/stint-run/stint/server/store"
)

// StoreLoops are the passes that a store needs: they follow the database's
// clock, and keep SQLite's log small. The store may be nil.
func StoreLoops(s *store.Store) []Loop {
	loops := []Loop{{Name: "clock", Every: store.RemeasureEvery, Run: func(ctx context.Context, s *store.Store) (int, error) {
		return 0, s.Remeasure(ctx)
	}}}
	if s != nil && s.Engine() == store.SQLite {
		loops = append(loops, Loop{Name: "sqlite-log", Every: store.MaintainEvery, Run: func(ctx context.Context, s *store.Store) (int, error) {
			return 0, s.Maintain(ctx)
		}})
	}
	return loops
}
