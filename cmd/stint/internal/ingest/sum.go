package ingest

import (
	"fmt"

	"github.com/stint-run/stint/server/records"
)

// maxNamed lines that were rejected are named; the others are counted.
const maxNamed = 20

// Answer is what the server made of a batch.
type Answer struct {
	Accepted      int64        `json:"accepted"`
	Unchanged     int64        `json:"unchanged"`
	Checkpoints   int64        `json:"checkpoints"`
	RejectedCount int64        `json:"rejected_count"`
	Rejected      []answerLine `json:"rejected"`
}

type answerLine struct {
	Index       int     `json:"index"`
	Code        string  `json:"code"`
	Detail      string  `json:"detail"`
	RejectionID *string `json:"rejection_id"`
}

// Rejects is how the line of that index was rejected; nil if it was taken.
func (a *Answer) Rejects(index int) error {
	for _, r := range a.Rejected {
		if r.Index == index {
			return fmt.Errorf("%s: %s", r.Code, r.Detail)
		}
	}
	return nil
}

// Lost names the first line of the batch that was rejected and is not in the
// quarantine; nil if there is none.
func (a *Answer) Lost(b *Batch) error {
	for _, r := range a.Rejected {
		if r.RejectionID == nil {
			return fmt.Errorf("line %d was rejected (%s), and the quarantine is full", b.Lines[r.Index], r.Code)
		}
	}
	return nil
}

// Sum is what became of the lines of an input.
type Sum struct {
	Accepted      int64      `json:"accepted"`
	Unchanged     int64      `json:"unchanged"`
	Checkpoints   int64      `json:"checkpoints"`
	RejectedCount int64      `json:"rejected_count"`
	NotKept       int64      `json:"not_kept"` // of those, without a place in the quarantine
	Rejected      []Rejected `json:"rejected"` // the first of them
	RunID         *string    `json:"run_id"`
}

// Rejected is a line that was not taken.
type Rejected struct {
	Line        int64   `json:"line"`
	Code        string  `json:"code"`
	Detail      string  `json:"detail"`
	RejectionID *string `json:"rejection_id"`
}

func (r Rejected) String() string { return fmt.Sprintf("line %d: %s: %s", r.Line, r.Code, r.Detail) }

// NewSum is the sum of no lines.
func NewSum() *Sum { return &Sum{Rejected: []Rejected{}} }

// Add counts a batch that was sent.
func (s *Sum) Add(b *Batch, a *Answer) {
	s.Accepted += a.Accepted
	s.Unchanged += a.Unchanged
	s.Checkpoints += a.Checkpoints
	for _, r := range a.Rejected {
		s.reject(Rejected{Line: b.Lines[r.Index], Code: r.Code, Detail: r.Detail, RejectionID: r.RejectionID})
	}
}

// TooLong counts a line that was not sent for its length.
func (s *Sum) TooLong(line Line) {
	s.reject(Rejected{Line: line.N, Code: records.LineTooLarge, Detail: fmt.Sprintf("%d bytes, more than 1 MiB; it was not sent", line.Size)})
}

func (s *Sum) reject(r Rejected) {
	s.RejectedCount++
	if r.RejectionID == nil {
		s.NotKept++
	}
	if len(s.Rejected) < maxNamed {
		s.Rejected = append(s.Rejected, r)
	}
}

// Lines is how many lines came to an end.
func (s *Sum) Lines() int64 { return s.Accepted + s.Unchanged + s.Checkpoints + s.RejectedCount }

// Words say the sum in a line.
func (s *Sum) Words() string {
	return fmt.Sprintf("%d accepted, %d unchanged, %d checkpoints, %d rejected", s.Accepted, s.Unchanged, s.Checkpoints, s.RejectedCount)
}

// Faults name the lines that were rejected.
func (s *Sum) Faults() (all []string) {
	for _, r := range s.Rejected {
		all = append(all, r.String())
	}
	if more := s.RejectedCount - int64(len(s.Rejected)); more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	if s.NotKept > 0 {
		all = append(all, fmt.Sprintf("%d of them are not in the quarantine", s.NotKept))
	}
	return all
}
