package metrics

import "time"

// TimeForTest replaces the clock by which figures grow old.
func (m *Metrics) TimeForTest(now func() time.Time) { m.queue.now = now }

// The bound of the labels, and how long figures last.
const (
	LabelledForTest    = labelled
	FiguresLastForTest = figuresLast
)
