-- name: WorkerSeen :execrows
-- Notes a JSON list of {owner_id, name, at}, in order; never moves a note back.
insert into workers (owner_id, name, first_seen_at, last_seen_at)
select x ->> 'owner_id', x ->> 'name', from_us(cast(x ->> 'at' as bigint)), from_us(cast(x ->> 'at' as bigint))
from json_array_elements(cast(cast(@rows as text) as json)) t(x)
on conflict (owner_id, name) do update
set last_seen_at = excluded.last_seen_at
where workers.last_seen_at < excluded.last_seen_at;
