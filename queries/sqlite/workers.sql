-- name: WorkerSeen :execrows
-- Notes a JSON list of {owner_id, name, at}, in order; never moves a note back.
insert into workers (owner_id, name, first_seen_at, last_seen_at)
select t.value ->> '$.owner_id', t.value ->> '$.name', t.value ->> '$.at', t.value ->> '$.at'
from json_each(cast(@rows as text)) t
where true
on conflict (owner_id, name) do update
set last_seen_at = excluded.last_seen_at
where workers.last_seen_at < excluded.last_seen_at;
