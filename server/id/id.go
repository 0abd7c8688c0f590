// Package id makes the ids of rows.
package id

import "github.com/google/uuid"

// New is prefix, an underscore and a UUID version 7: `job_0190…`. The ids of
// one process sort bytewise in the order in which they were made; those of two
// processes sort by their wall clocks' milliseconds.
func New(prefix string) string {
	return prefix + "_" + uuid.Must(uuid.NewV7()).String()
}
