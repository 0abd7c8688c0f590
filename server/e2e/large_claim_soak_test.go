//go:build soak

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// slowLine passes 100,000 bytes a second.
type slowLine struct{ net.Conn }

func (l slowLine) Read(p []byte) (int, error) {
	<-time.After(100 * time.Millisecond)
	return l.Conn.Read(p[:min(len(p), 10_000)])
}

// TestSoakASlowLineBringsWhatWasClaimed: nothing is cut on the way, and the leases
// hold when it arrives.
func TestSoakASlowLineBringsWhatWasClaimed(t *testing.T) {
	eachOwn(t, func(t *testing.T, s *inProcess) {
		enqueueLarge(t, s.Client, 100)
		began := time.Now()
		got := claimSlowly(t, s.Client)
		t.Logf("%d jobs in %v", len(got.Jobs), time.Since(began))
		if n := s.count("jobs where attempt = 1"); int(n) != len(got.Jobs) || n == 0 {
			t.Fatalf("%d jobs arrived, %d were claimed", len(got.Jobs), n)
		}
		for _, job := range got.Jobs {
			s.Must(http.StatusOK, "/v1/jobs/"+job.ID+"/complete", fmt.Sprintf(`{"lease_token":%q}`, job.LeaseToken))
		}
	})
}

type slowAnswer struct {
	Jobs []struct {
		ID         string `json:"id"`
		LeaseToken string `json:"lease_token"`
	} `json:"jobs"`
}

func claimSlowly(t *testing.T, c *apitest.Client) (got slowAnswer) {
	t.Helper()
	conn := dial(t, c)
	defer conn.Close()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(16 << 10) // what waits to be read waits at the server
	}
	_, err := fmt.Fprintf(conn, "POST /v1/jobs/claim HTTP/1.1\r\nHost: stint\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", c.Token, len(largeClaim), largeClaim)
	must(t, err)
	resp, err := http.ReadResponse(bufio.NewReaderSize(slowLine{conn}, 10_000), nil)
	must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("cut after %d of %d bytes: %v", len(body), resp.ContentLength, err)
	}
	must(t, json.Unmarshal(body, &got))
	return got
}
