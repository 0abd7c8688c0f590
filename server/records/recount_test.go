package records_test

import (
	"strings"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// drifts are conditions on the figures that a chunk maintains, each of which no
// row may meet: it is not what the base rows come to. $1 is the connection.
var drifts = map[string]string{
	"live_count": `from partitions p where p.connection_id = $1 and p.live_count <> (select count(*) from records r
		where r.connection_id = p.connection_id and r.stream = p.stream and r.deleted_at is null)`,
	"undated_count": `from partitions p where p.connection_id = $1 and p.undated_count <> (select count(*) from records r
		where r.connection_id = p.connection_id and r.stream = p.stream and r.deleted_at is null and r.dated_by = 'nothing')`,
	"bad_time_count": `from partitions p where p.connection_id = $1 and p.bad_time_count <> (select count(*) from records r
		where r.connection_id = p.connection_id and r.stream = p.stream and r.deleted_at is null and r.bad_time = TRUE)`,
	"min_sort_at": `from partitions p where p.connection_id = $1 and p.min_sort_at is distinct from (select min(r.sort_at) from records r
		where r.connection_id = p.connection_id and r.stream = p.stream and r.deleted_at is null and r.dated_by <> 'nothing')`,
	"max_sort_at": `from partitions p where p.connection_id = $1 and p.max_sort_at is distinct from (select max(r.sort_at) from records r
		where r.connection_id = p.connection_id and r.stream = p.stream and r.deleted_at is null and r.dated_by <> 'nothing')`,
	"days": `from day_counts d where d.connection_id = $1 and d.n <> (select count(*) from records r
		where r.connection_id = d.connection_id and r.stream = d.stream and r.deleted_at is null and r.dated_by <> 'nothing' and DAY = d.day)`,
	"records without a day": `from records r where r.connection_id = $1 and r.deleted_at is null and r.dated_by <> 'nothing' and not exists
		(select 1 from day_counts d where d.connection_id = r.connection_id and d.stream = r.stream and d.day = DAY)`,
	"versions of a partition": `from partitions p where p.connection_id = $1 and p.version <>
		(select count(*) from records r where r.connection_id = p.connection_id and r.stream = p.stream)
		+ (select count(*) from record_versions v where v.connection_id = p.connection_id and v.stream = p.stream)`,
	"versions that nothing supersedes": `from record_versions v where v.connection_id = $1
		and not exists (select 1 from records r where r.id = v.record_id and r.seq = v.superseded_seq)
		and not exists (select 1 from record_versions w where w.record_id = v.record_id and w.seq = v.superseded_seq)`,
	"last_seq": `from partitions p where p.connection_id = $1 and p.version > 0 and p.last_seq <>
		(select max(r.seq) from records r where r.connection_id = p.connection_id and r.stream = p.stream)`,
	"seq of the owner": `from owner_seq s join connections c on c.owner_id = s.owner_id where c.id = $1 and s.seq <>
		(select count(*) from records r where r.owner_id = s.owner_id) + (select count(*) from record_versions v where v.owner_id = s.owner_id)`,
	"rejected_count": `from connection_heads h where h.connection_id = $1 and h.rejected_count <>
		(select count(*) from record_rejections r where r.connection_id = h.connection_id)`,
	"rejections of the owner": `from owner_seq s join connections c on c.owner_id = s.owner_id where c.id = $1 and (s.rejected_count <>
		(select count(*) from record_rejections r where r.owner_id = s.owner_id) or s.rejected_bytes <>
		(select coalesce(sum(r.line_bytes), 0) from record_rejections r where r.owner_id = s.owner_id and r.line is not null))`,
}

// recount compares every maintained figure of the connection with its base rows.
func (f *fixture) recount() {
	f.Helper()
	spell := strings.NewReplacer("TRUE", "1", "DAY", "cast(floor(r.sort_at / 86400000000.0) as integer)")
	if f.Store.Engine() == store.Postgres {
		spell = strings.NewReplacer("TRUE", "true", "DAY", "cast(floor(extract(epoch from r.sort_at) / 86400) as bigint)")
	}
	for name, condition := range drifts {
		if n := dbtest.Get[int64](f.T, f.Store, "select count(*) "+spell.Replace(condition), f.connection); n != 0 {
			f.Errorf("%s: %d rows are not what the base rows come to", name, n)
		}
	}
}
