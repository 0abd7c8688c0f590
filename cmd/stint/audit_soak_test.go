//go:build soak

package main

import (
	"math"
	"testing"
)

func TestSoakAuditSurvivesKilledWorkersAndServers(t *testing.T) {
	auditKilled(t, math.MaxInt)
}
