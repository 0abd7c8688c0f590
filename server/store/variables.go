package store

import (
	"os"
	"time"
)

// testSkew shifts the wall clock that this process reads, so that a test can
// run a replica with a wrong clock. The database's clock stays as it is.
func testSkew() (time.Duration, error) { return testDuration("STINT_TEST_CLOCK_SKEW") }

// testWaits is one duration for all waits that a Config leaves open, so that a
// test can run a replica that is patient on a slow machine. Zero leaves them to
// the product.
func testWaits() (Waits, error) {
	d, err := testDuration("STINT_TEST_WAITS")
	return Waits{Conn: d, Lock: d, Statement: d, Writer: d, Read: d, Commit: d}, err
}

// testDuration is a variable that only tests set; zero if it is not set.
func testDuration(variable string) (time.Duration, error) {
	text := os.Getenv(variable)
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, badSetting("%s: %q is not a duration", variable, text)
	}
	return d, nil
}
