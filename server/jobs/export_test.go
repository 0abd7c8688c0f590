package jobs

// KindsPageForTest is how many kinds a look at the queue reads at a time.
const KindsPageForTest = kindsPage

// HearForTest is a hub that hears a hint of another replica.
var HearForTest = (*Hub).hear
