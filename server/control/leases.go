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
	"github.com/stint-run/stint/schema/coltype"
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

// Taken is what a take came to.
type Taken struct {
	model.Lease               // the zero value if another holder has it
	Left        time.Duration // of it, by the clock after the commit
	Broken      *model.Lease  // another holder's, which was ended first
}

// latestEnd is the latest end of a lease that was taken by now. One that ends later
// was left by a process whose clock was wrong, or by hand, and counts as ended:
// nobody would do its work until then.
func latestEnd(now coltype.Time) coltype.Time { return now.Add(maxLease + store.Apart) }

// TakeLease takes the lease of that name for ttl, or renews the holder's own. None
// of it is left if another holder has it, or if it has run out already.
//
// A lease is a courtesy among replicas, not a lock: whoever slept since may
// still believe that it holds one. Work under a lease must stand two holders.
func TakeLease(ctx context.Context, s *store.Store, name, holder string, ttl time.Duration) (out Taken, err error) {
	var other *model.Lease
	out.Lease, other, err = tryTake(ctx, s, name, holder, ttl)
	if err == nil && other != nil {
		out.Broken, err = breakLease(ctx, s, other)
	}
	if err == nil && out.Broken != nil {
		out.Lease, _, err = tryTake(ctx, s, name, holder, ttl)
	}
	if err != nil {
		return Taken{}, fmt.Errorf("take the lease %s: %w", name, err)
	}
	now, err := s.Time(ctx)
	out.Left = max(0, out.ExpiresAt.Sub(now))
	return out, err
}

// tryTake returns the lease, or as other the one of another holder.
func tryTake(ctx context.Context, s *store.Store, name, holder string, ttl time.Duration) (own model.Lease, other *model.Lease, err error) {
	now, err := s.Time(ctx)
	if err != nil {
		return own, nil, err
	}
	err = s.Tx(ctx, func(q model.Querier) (err error) {
		other = nil
		own, err = q.LeaseTake(ctx, model.LeaseTakeParams{Name: name, Holder: holder, TakenAt: now, ExpiresAt: now.Add(ttl)})
		if store.NotFound(err) {
			var there model.Lease
			there, err = q.LeaseGet(ctx, model.LeaseGetParams{Name: name})
			own, other = model.Lease{}, &there
		}
		return err
	})
	return own, other, err
}

// breakLease ends a lease that is broken, and returns it; nil if it is not. The
// time is measured anew first: to a replica that has not heard yet that the
// database's clock was set forward, sound leases look broken.
func breakLease(ctx context.Context, s *store.Store, lease *model.Lease) (*model.Lease, error) {
	now, err := s.Time(ctx)
	if err != nil || !lease.ExpiresAt.After(latestEnd(now)) {
		return nil, err
	}
	if err := s.Remeasure(ctx); err != nil {
		return nil, err
	}
	if now, err = s.Time(ctx); err != nil {
		return nil, err
	}
	var n int64
	err = s.Tx(ctx, func(q model.Querier) (err error) {
		n, err = q.LeaseBreak(ctx, model.LeaseBreakParams{Name: lease.Name, Now: now, Latest: latestEnd(now)})
		return err
	})
	if err != nil || n == 0 {
		return nil, err
	}
	return lease, nil
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
