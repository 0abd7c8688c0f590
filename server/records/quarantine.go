package records

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/datum"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/sources"
)

// maxDetail is how much of a refusal's detail is kept, in bytes.
const maxDetail = 1000

// rejectionRow is one element of RejectionInsertMany's @rows.
type rejectionRow struct {
	ID        string  `json:"id"`
	Stream    *string `json:"stream"`
	LineIndex int64   `json:"line_index"`
	Code      string  `json:"code"`
	Detail    string  `json:"detail"`
	Line      *string `json:"line"` // in base64
	LineBytes int64   `json:"line_bytes"`
	Hash      string  `json:"hash"`
}

// room is what the quarantine has left.
type room struct{ owner, bytes, connection int64 }

// quarantine keeps the lines that were refused, as far as there is room, and
// names them. The same bytes of a connection are kept once: again they have the id
// that they had, and take no room.
func quarantine(ctx context.Context, q model.Querier, now coltype.Time, to Target, refused []*Line) ([]Rejected, error) {
	if len(refused) == 0 {
		return nil, nil
	}
	left, err := roomOf(ctx, q, to)
	if err != nil {
		return nil, err
	}
	ids, err := rejectionsOf(ctx, q, to, refused)
	if err != nil {
		return nil, err
	}
	var rows []rejectionRow
	out := make([]Rejected, len(refused))
	for i, line := range refused {
		out[i] = Rejected{Index: line.Index, Code: line.Refused.Code, Detail: line.Refused.Detail}
		hash := line.hash()
		if ids[hash] == "" && left.take(line) {
			ids[hash] = id.New("rej")
			rows = append(rows, line.rejection(ids[hash]))
		}
		out[i].RejectionID = orNil(ids[hash])
	}
	return out, keepRejections(ctx, q, now, to, rows)
}

// roomOf reads what room there is, and holds the owner's counts.
func roomOf(ctx context.Context, q model.Querier, to Target) (left room, err error) {
	seq, err := takeSeq(ctx, q, to.OwnerID, 0)
	if err != nil {
		return left, err
	}
	kept, err := sources.RejectedCount(ctx, q, to.OwnerID, to.ConnectionID)
	return room{
		owner: MaxRejections - seq.RejectedCount, bytes: MaxRejectedBytes - seq.RejectedBytes, connection: MaxConnectionRejections - kept,
	}, err
}

// take takes the room that a line needs, if there is any.
func (r *room) take(line *Line) bool {
	size := int64(len(line.Raw))
	if r.owner < 1 || r.connection < 1 || r.bytes < size {
		return false
	}
	r.owner--
	r.connection--
	r.bytes -= size
	return true
}

// rejectionsOf are the ids of those lines that are kept already, by hash.
func rejectionsOf(ctx context.Context, q model.Reader, to Target, refused []*Line) (map[string]string, error) {
	hashes := make([]string, len(refused))
	for i, line := range refused {
		hashes[i] = line.hash()
	}
	text, err := json.Marshal(hashes)
	if err != nil {
		return nil, err
	}
	rows, err := q.RejectionListByHashes(ctx, model.RejectionListByHashesParams{ConnectionID: to.ConnectionID, Hashes: string(text), OwnerID: to.OwnerID})
	if err != nil {
		return nil, fmt.Errorf("look up refused lines: %w", err)
	}
	ids := make(map[string]string, len(rows))
	for _, row := range rows {
		ids[row.Hash] = row.ID
	}
	return ids, nil
}

// keepRejections inserts the rows and counts them.
func keepRejections(ctx context.Context, q model.Querier, now coltype.Time, to Target, rows []rejectionRow) error {
	if len(rows) == 0 {
		return nil
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	_, err = q.RejectionInsertMany(ctx, model.RejectionInsertManyParams{
		OwnerID: to.OwnerID, ConnectionID: to.ConnectionID, BatchID: orNil(to.BatchID), RunID: orNil(to.RunID), Now: now, Rows: string(text),
	})
	if err != nil {
		return fmt.Errorf("keep refused lines: %w", err)
	}
	var size int64
	for _, row := range rows {
		if row.Line != nil {
			size += row.LineBytes
		}
	}
	n := int64(len(rows))
	if _, err := q.OwnerSeqCountRejected(ctx, model.OwnerSeqCountRejectedParams{Added: n, AddedBytes: size, OwnerID: to.OwnerID}); err != nil {
		return fmt.Errorf("count refused lines: %w", err)
	}
	return sources.CountRejected(ctx, q, now, to.OwnerID, to.ConnectionID, n)
}

// hash tells two refused lines apart: by their bytes, or by the length of one that
// was too long to be held. It is made once.
func (l *Line) hash() string {
	switch {
	case l.sum != "":
	case l.Raw == nil:
		l.sum = datum.Sum(fmt.Appendf(nil, "%d bytes", l.Size))
	default:
		l.sum = datum.Sum(l.Raw)
	}
	return l.sum
}

// streamName is how a stream is named; a refused line may name anything.
var streamName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

func (l *Line) rejection(id string) rejectionRow {
	row := rejectionRow{ID: id, LineIndex: l.Index, Code: l.Refused.Code, Detail: detail(l.Refused.Detail), LineBytes: l.Size, Hash: l.hash()}
	if streamName.MatchString(l.Stream) {
		row.Stream = &l.Stream
	}
	if l.Raw != nil {
		text := base64.StdEncoding.EncodeToString(l.Raw)
		row.Line, row.LineBytes = &text, int64(len(l.Raw))
	}
	return row
}

// detail is as much of a detail as is kept; it may quote what a client sent.
func detail(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	return strings.ToValidUTF8(text[:min(len(text), maxDetail)], "")
}
