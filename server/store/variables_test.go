package store

import (
	"testing"
	"time"
)

func TestWaitsOfATestFillWhatTheConfigLeavesOpen(t *testing.T) {
	t.Setenv("STINT_TEST_WAITS", "7s")
	url := "postgres://stint@127.0.0.1:1/stint" // nobody connects to it
	s, err := Open(t.Context(), Config{URL: url, Waits: Waits{Lock: 3 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := Waits{Conn: 7 * time.Second, Lock: 3 * time.Second, Statement: 7 * time.Second, Writer: 7 * time.Second, Read: 7 * time.Second, Commit: 7 * time.Second}
	if s.waits != want {
		t.Errorf("the waits are %+v, want %+v", s.waits, want)
	}
	t.Setenv("STINT_TEST_WAITS", "soon")
	if _, err := Open(t.Context(), Config{URL: url}); err == nil {
		t.Error("a wait that is no duration was taken")
	}
}
