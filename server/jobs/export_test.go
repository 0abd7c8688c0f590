package jobs

// KindsPageForTest is how many kinds a look at the queue reads at a time.
const KindsPageForTest = kindsPage
