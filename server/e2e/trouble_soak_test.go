//go:build soak && linux

package e2e

import "testing"

// TestSoakTroubledWorkersKeepThePromises: 200 rounds.
func TestSoakTroubledWorkersKeepThePromises(t *testing.T) { trouble(t, 10) }
