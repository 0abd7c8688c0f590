//go:build soak

package schema

import "testing"

func TestSoakKilledAtAnyMomentTheRerunCompletes(t *testing.T) {
	killMigrations(t, 200)
}
