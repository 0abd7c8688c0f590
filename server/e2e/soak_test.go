//go:build soak

package e2e

import (
	"testing"
	"time"

	"github.com/stint-run/stint/server/store"
)

func TestSoakSixtyFourClientsOnSQLiteMeetNoFault(t *testing.T) {
	mixedLoad(t, start(t, store.SQLite), time.Minute)
}
