package store

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A probe that another writer keeps waiting tells of trouble only if writers have no turn themselves for as long as they wait.
func TestAProbeThatWaitsIsJudgedByTheWriters(t *testing.T) {
	t.Parallel()
	const wait = time.Minute
	now := time.Now()
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	for name, tt := range map[string]struct {
		seen *writing
		busy bool
	}{
		"writers have their turn":              {&writing{had: now, waits: ago(9)}, false},
		"one had none, others have":            {&writing{had: now, missed: now.Add(time.Second), waits: ago(9)}, false},
		"nobody writes, the first probe waits": {&writing{had: ago(9)}, false},
		"nobody writes, and probes wait long":  {&writing{had: ago(9), waits: ago(2)}, true},
		"the last one had none":                {&writing{had: ago(9), missed: ago(8)}, true},
	} {
		err := tt.seen.waited(&pgconn.PgError{Code: lockNotAvailable}, wait)
		if errors.Is(err, errWriterBusy) != tt.busy || !tt.busy && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
