package control

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/store"
)

// A lease lasts leaseIntervals of its loop unless the loop says otherwise, and
// never less than minLeaseIntervals: a holder that renews each pass must not
// lose it to one pass that comes late. maxLease bounds how long the work of a
// replica that died stays undone.
const (
	leaseIntervals    = 3
	minLeaseIntervals = 2
	maxLease          = time.Hour
)

// TakeLease takes the lease of that name for ttl, or renews the holder's own. It
// returns how much of it is left, by the clock after the commit: nothing if
// another holder has it, or if it has run out already.
//
// A lease is a courtesy among replicas, not a lock: whoever slept since may
// still believe that it holds one. Work under a lease must stand two holders.
func TakeLease(ctx context.Context, s *store.Store, name, holder string, ttl time.Duration) (model.Lease, time.Duration, error) {
	now, err := s.Time(ctx)
	if err != nil {
		return model.Lease{}, 0, err
	}
	var lease model.Lease
	err = s.Tx(ctx, func(q model.Querier) (err error) {
		lease, err = q.LeaseTake(ctx, model.LeaseTakeParams{Name: name, Holder: holder, TakenAt: now, ExpiresAt: now.Add(ttl)})
		return err
	})
	if store.NotFound(err) {
		return model.Lease{}, 0, nil
	}
	if err != nil {
		return model.Lease{}, 0, fmt.Errorf("take the lease %s: %w", name, err)
	}
	if now, err = s.Time(ctx); err != nil {
		return model.Lease{}, 0, err
	}
	return lease, max(0, lease.ExpiresAt.Sub(now)), nil
}

// ReleaseLease ends the holder's lease of that name, if it has it. The next
// holder has the next term.
func ReleaseLease(ctx context.Context, s *store.Store, name, holder string) error {
	now, err := s.Time(ctx)
	if err != nil {
		return err
	}
	err = s.Tx(ctx, func(q model.Querier) error {
		_, err := q.LeaseRelease(ctx, model.LeaseReleaseParams{Name: name, Holder: holder, Now: now})
		return err
	})
	if err != nil {
		return fmt.Errorf("release the lease %s: %w", name, err)
	}
	return nil
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// newHolder names a holder for people, host-pid-random. No two are alike, also
// when a container's host and pid come again.
func newHolder() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "host"
	}
	host = unfit.ReplaceAllLiteralString(host, "-")
	return host[:min(len(host), 64)] + "-" + strconv.Itoa(os.Getpid()) + "-" + strings.ToLower(rand.Text()[:8])
}
