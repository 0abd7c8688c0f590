package web

// MaxCount is up to where counts shown to people are exact.
const MaxCount = 1000

// Count is how many rows there are, exact up to MaxCount.
type Count struct {
	Value   int64 `json:"value"`
	AtLeast bool  `json:"at_least" doc:"There are more than value, which is 1,000."`
}

// Counted is the Count of rows that were counted up to MaxCount + 1.
func Counted(n int64) Count {
	return Count{Value: min(n, MaxCount), AtLeast: n > MaxCount}
}
