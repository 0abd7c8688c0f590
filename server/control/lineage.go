package control

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// lineage ends what a token made, and all that those made.
type lineage struct {
	q       model.Querier
	now     coltype.Time
	ownerID string

	ended  map[string]bool // by id, the token itself too, also those that had ended before
	tokens int64           // that had not ended before
	links  int64           // that nobody had used
}

// end ends what makers made, who have ended, and all that those made. Whoever writes
// several tokens locks them in the order of ids, so all are found first, and one
// statement ends them. That statement waits for transactions in which these tokens make
// others; the next round finds those.
func (l *lineage) end(ctx context.Context, makers []string) error {
	for len(makers) > 0 {
		all, err := l.below(ctx, makers)
		if err != nil || len(all) == len(makers) {
			return err
		}
		if makers, err = l.revoke(ctx, all); err != nil {
			return err
		}
	}
	return nil
}

// below are makers and every token they made, directly or not, each once: rows changed
// by hand may name each other as makers.
func (l *lineage) below(ctx context.Context, makers []string) (all []string, err error) {
	met := map[string]bool{}
	for len(makers) > 0 {
		var fresh []string
		for _, id := range makers {
			if !met[id] {
				met[id] = true
				fresh = append(fresh, id)
			}
		}
		all = append(all, fresh...)
		if makers, err = l.madeBy(ctx, fresh); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// madeBy are the ids of what makers made.
func (l *lineage) madeBy(ctx context.Context, makers []string) ([]string, error) {
	if len(makers) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(makers)
	if err != nil {
		return nil, err
	}
	ids, err := l.q.TokenListMade(ctx, model.TokenListMadeParams{OwnerID: l.ownerID, Makers: string(text)})
	if err != nil {
		return nil, fmt.Errorf("list what %d tokens made: %w", len(makers), err)
	}
	return ids, nil
}

// revoke ends what makers made, with the links of that, and returns what l had not
// ended.
func (l *lineage) revoke(ctx context.Context, makers []string) (fresh []string, err error) {
	text, err := json.Marshal(makers)
	if err != nil {
		return nil, err
	}
	rows, err := l.q.TokenRevokeMade(ctx, model.TokenRevokeMadeParams{OwnerID: l.ownerID, Makers: string(text), RevokedAt: l.now})
	if err != nil {
		return nil, fmt.Errorf("revoke what %d tokens made: %w", len(makers), err)
	}
	for _, row := range rows {
		if l.ended[row.ID] {
			continue
		}
		l.ended[row.ID] = true
		fresh = append(fresh, row.ID)
		if row.RevokedAt.Equal(l.now) {
			l.tokens++
		}
	}
	n, err := revokeLinks(ctx, l.q, l.now, l.ownerID, fresh)
	l.links += n
	return fresh, err
}
