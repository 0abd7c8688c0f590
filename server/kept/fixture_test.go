package kept

import (
	"time"
)

// keptOwner owns the rows of a kept database, and keptFor is how much later
// the upgraded one is worked on.
const (
	keptOwner = "keeper"
	keptFor   = 24 * time.Hour
)
