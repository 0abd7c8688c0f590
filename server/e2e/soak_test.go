//go:build soak

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

func TestSoakSixtyFourClientsOnSQLiteMeetNoFault(t *testing.T) {
	mixedLoad(t, start(t, store.SQLite), time.Minute)
}

func TestSoakKilledAtAnyMomentTheRetryHasOneEffect(t *testing.T) {
	eachProcess(t, func(t *testing.T, p *process) { killLoop(t, p, 200) })
}

// TestSoakKilledUnderAMixedLoad: a thousand kills over both engines.
func TestSoakKilledUnderAMixedLoad(t *testing.T) {
	eachProcess(t, func(t *testing.T, p *process) { killUnderLoad(t, p, 500) })
}

func TestSoakHundredClaimersTakeEachJobOnce(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *inProcess) {
		enqueue(s.Client, 5000)
		claimAll(t, 5000, 100, []*apitest.Client{s.Client})
	})
}

// TestSoakFiveHundredSlowHeadersHurtNobody: each sends a byte a second.
func TestSoakFiveHundredSlowHeadersHurtNobody(t *testing.T) { besideSlowHeaders(t, 500) }

// TestSoakSlowBodiesAreCut: a body has 30 s to arrive.
func TestSoakSlowBodiesAreCut(t *testing.T) {
	s := serveOn(t, store.SQLite, store.Config{})
	head := "POST /v1/jobs HTTP/1.1\r\nHost: stint\r\nAuthorization: Bearer " + s.Token +
		"\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
	if longest := slowly(t, s.Client, 200, head, strings.Repeat(" ", 60)); longest > 35*time.Second {
		t.Errorf("a slow body was let go on for %v", longest)
	}
}
