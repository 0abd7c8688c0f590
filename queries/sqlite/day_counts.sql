-- name: DayCountAddMany :execrows
-- Adds to the counts of days, a JSON list of {stream, day, n}; the partitions are
-- held. The sum is made before: no row with a count below 0 is offered.
insert into day_counts (owner_id, day, connection_id, stream, n)
select @owner_id, x.value ->> '$.day', @connection_id, x.value ->> '$.stream', (x.value ->> '$.n') + coalesce(d.n, 0)
from json_each(cast(@rows as text)) x
left join day_counts d on d.connection_id = @connection_id and d.stream = x.value ->> '$.stream' and d.day = x.value ->> '$.day' and d.owner_id || '' = @owner_id
where true
on conflict (connection_id, stream, day) do update
set n = excluded.n;

-- name: DayCountDeleteByConnection :execrows
-- Deletes up to max counts of days of a connection. Primary key.
delete from day_counts
where (connection_id, stream, day) in (
    select d.connection_id, d.stream, d.day
    from day_counts d
    where d.connection_id = @connection_id
    order by d.stream, d.day
    limit cast(@max as bigint)
);

-- name: DayCountSetMany :execrows
-- Sets the counts of days of a partition that is held, a JSON list of {day, n}.
insert into day_counts (owner_id, day, connection_id, stream, n)
select @owner_id, x.value ->> '$.day', @connection_id, @stream, x.value ->> '$.n'
from json_each(cast(@rows as text)) x
where true
on conflict (connection_id, stream, day) do update
set n = excluded.n;
