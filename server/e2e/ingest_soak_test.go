//go:build soak

package e2e

import "testing"

// TestSoakAGigabyteCostsLittleMemory: as many short lines, and as lines of nearly the
// greatest size, each plain and compressed.
func TestSoakAGigabyteCostsLittleMemory(t *testing.T) {
	for name, tt := range map[string]struct{ size, lines int }{"short lines": {1 << 10, 1 << 20}, "long lines": {1<<20 - 100, 1 << 10}} {
		t.Run(name, func(t *testing.T) {
			eachProcess(t, func(t *testing.T, p *process) { streamLarge(t, p, tt.size, tt.lines) })
		})
	}
}
