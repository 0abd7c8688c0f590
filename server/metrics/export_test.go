package metrics

import "time"

// TimeForTest replaces the clock by which figures grow old.
func (m *Metrics) TimeForTest(now func() time.Time) { m.queue.now = now }

// The bounds of a look and how long its figures last.
const (
	CountCapForTest    = countCap
	LabelledForTest    = labelled
	KindsPageForTest   = kindsPage
	FiguresLastForTest = figuresLast
)
