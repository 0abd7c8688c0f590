package boottime_test

import (
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
)

// The clock goes as fast as Go's own, and is not the time of day.
func TestTheClockGoesOn(t *testing.T) {
	t.Parallel()
	began, at := boottime.Now(), time.Now()
	<-time.After(20 * time.Millisecond)
	passed, real := boottime.Now().Sub(began), time.Since(at)
	if diff := passed - real; diff < -10*time.Millisecond || diff > 10*time.Millisecond {
		t.Errorf("%v passed on the clock, %v in truth", passed, real)
	}
	if left := boottime.Until(began.Add(time.Hour)); left > time.Hour || left < time.Hour-time.Minute {
		t.Errorf("an hour later is %v away", left)
	}
	if day := time.Duration(began); day > time.Duration(at.UnixNano())/2 {
		t.Errorf("%v since the machine was started", day)
	}
}
