package outcome

import (
	"encoding/json"
	"fmt"

	"github.com/stint-run/stint/cmd/stint/internal/result"
)

// maxProgress is the size of the largest progress, in bytes; the server takes no
// larger one.
const maxProgress = 16 << 10

// Progress reads what a command writes to STINT_PROGRESS. It is for one goroutine.
type Progress struct {
	files   Files
	settled string // the last content that was sent or refused, or the last error that was told
}

// Progress is a reader of the attempt's progress.
func (f Files) Progress() *Progress { return &Progress{files: f} }

// Next is the JSON text that is to go out with the next heartbeat, or nil: nothing
// was written, nothing new, or nothing that could be sent. In the last case there
// is a warning, once for each content.
func (p *Progress) Next() (text json.RawMessage, warning string) {
	text, err := p.read()
	if err != nil && err.Error() == p.settled || err == nil && (len(text) == 0 || string(text) == p.settled) {
		return nil, ""
	}
	if err == nil {
		return text, ""
	}
	p.settled = err.Error()
	return nil, "STINT_PROGRESS " + p.settled + "; it is left out"
}

func (p *Progress) read() ([]byte, error) {
	text, err := p.files.read(progressFile, 2*maxProgress)
	if text = trim(text); err != nil || len(text) == 0 {
		return nil, err
	}
	if len(text) > maxProgress {
		return nil, fmt.Errorf("is larger than %d KiB", maxProgress>>10)
	}
	if err := result.Check(text); err != nil {
		return nil, fmt.Errorf("%w: %.40q", err, text)
	}
	return text, nil
}

// Settle is called when a heartbeat has brought the text, or when the server has
// refused it: it is not to be sent again.
func (p *Progress) Settle(text json.RawMessage) { p.settled = string(text) }
