-- name: RecordWalkFigures :many
-- What the figures of a partition are made of, by key; the deleted records too.
-- Index records_key.
select key, sort_at, dated_by, bad_time, seq, version, deleted_at
from records
where connection_id = @connection_id
    and stream = @stream
    and key > @after_key
order by key
limit cast(@max as bigint);
