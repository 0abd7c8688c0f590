package work

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
)

// backoff is the pauses between tries: they double, with jitter, and are at
// least what the server asked for.
type backoff struct{ next time.Duration }

const firstPause, longestPause = 200 * time.Millisecond, 10 * time.Second

func (b *backoff) after(err error) time.Duration {
	b.next = min(max(b.next*2, firstPause), longestPause)
	d := time.Duration((0.8 + 0.4*rand.Float64()) * float64(b.next))
	if p, ok := errors.AsType[*api.Problem](err); ok {
		d = max(d, min(p.RetryAfter, longestPause))
	}
	return d
}

func (b *backoff) reset() { b.next = 0 }
