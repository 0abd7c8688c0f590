package records

import (
	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/id"
)

// identity is what no two records of a connection share.
type identity struct{ stream, key string }

// record is a record as it stands after the changes so far. Numbers that the
// chunk gives count from the owner's sequence before it: see fold.shift.
type record struct {
	id string
	identity
	content
	deleted bool
	seq     int64
	version int64
	seen    int64 // the refresh that saw it last

	stored   bool  // a row has it, in some version
	firstSeq int64 // of one that is not stored
	changed  bool
	marked   bool // seen, but not changed
}

// fold takes the changes of a chunk one after the other, in memory. A record that
// changes several times gets a version each time; only the last one becomes its
// row.
type fold struct {
	held      *held
	records   map[identity]*record
	changed   []*record // each once, in the order of their first changes
	marked    []*record
	kept      []keptRow    // rows whose version the chunk supersedes
	between   []versionRow // versions that came and went within the chunk
	n         int64        // changes so far
	unchanged int64
}

// know begins with records as their rows have them.
func (f *fold) know(rows []model.RecordListByKeysRow) {
	for _, row := range rows {
		who := identity{row.Stream, row.Key}
		f.records[who] = &record{
			id: row.ID, identity: who,
			content: content{
				hash: row.Hash, emittedAt: row.EmittedAt, sortAt: row.SortAt, datedBy: row.DatedBy, badTime: row.BadTime,
			},
			deleted: !row.DeletedAt.IsZero(), seq: row.Seq, version: row.Version, seen: row.SeenGeneration, stored: true,
		}
	}
}

// take takes one change.
func (f *fold) take(c change) {
	who := identity{c.stream, c.key}
	p, r := f.held.partitions[c.stream], f.records[who]
	switch {
	case c.delete && (r == nil || r.deleted):
		f.unchanged++
	case c.delete:
		f.supersede(r)
		p.count(r.content, -1)
		r.deleted = true
		if !c.emittedAt.IsZero() {
			r.emittedAt = c.emittedAt
		}
		f.advance(p, r)
	case r != nil && !r.deleted && r.hash == c.hash:
		f.unchanged++
		f.mark(p, r)
	case r == nil:
		r = &record{id: id.New("rec"), identity: who, firstSeq: f.n + 1}
		f.records[who] = r
		f.put(p, r, c.content)
	default:
		f.supersede(r)
		if !r.deleted {
			p.count(r.content, -1)
		}
		f.put(p, r, c.content)
	}
}

// put gives the record another content.
func (f *fold) put(p *partition, r *record, c content) {
	r.content, r.deleted = c, false
	p.count(c, 1)
	f.advance(p, r)
	f.see(p, r)
}

// supersede keeps the present version of a record, which the next one replaces.
func (f *fold) supersede(r *record) {
	if r.changed {
		f.between = append(f.between, r.versionRow(f.n+1))
	} else {
		f.kept = append(f.kept, keptRow{ID: r.id, SupersededSeq: f.n + 1})
	}
}

// advance gives the record, which changed, its numbers.
func (f *fold) advance(p *partition, r *record) {
	f.n++
	p.Version++
	r.seq, r.version, p.LastSeq, p.changed = f.n, p.Version, f.n, true
	if !r.changed {
		r.changed = true
		f.changed = append(f.changed, r)
	}
}

// see notes that a full refresh saw the record, and reports whether that is new.
func (f *fold) see(p *partition, r *record) bool {
	generation := p.generation()
	if generation == 0 || r.seen == generation {
		return false
	}
	r.seen = generation
	return true
}

// mark is see for a record that is not to be changed otherwise.
func (f *fold) mark(p *partition, r *record) {
	if f.see(p, r) && !r.changed && !r.marked {
		r.marked = true
		f.marked = append(f.marked, r)
	}
}

// shift adds what the owner's sequence was before the chunk to the numbers that
// the chunk gave.
func (f *fold) shift(before int64) {
	for i := range f.kept {
		f.kept[i].SupersededSeq += before
	}
	for i := range f.between {
		f.between[i].Seq += before
		f.between[i].SupersededSeq += before
	}
	for _, r := range f.changed {
		r.seq += before
		r.firstSeq += before
	}
	for _, p := range f.held.partitions {
		if p.changed {
			p.LastSeq += before
		}
	}
}
