-- name: DayCountAddMany :execrows
-- Adds to the counts of days, a JSON list of {stream, day, n}; the partitions are
-- held. The sum is made before: no row with a count below 0 is offered.
insert into day_counts (owner_id, day, connection_id, stream, n)
select cast(@owner_id as text), x.day, cast(@connection_id as text), x.stream, x.n + coalesce(d.n, 0)
from json_to_recordset(cast(cast(@rows as text) as json)) as x(stream text, day bigint, n bigint)
left join lateral (
    select i.n
    from day_counts i
    where i.connection_id = @connection_id
        and i.stream = x.stream
        and i.day = x.day
        and i.owner_id || '' = @owner_id
    limit 1
) d on true
on conflict (connection_id, stream, day) do update
set n = excluded.n;

-- name: DayCountDeleteByConnection :execrows
-- Deletes up to max counts of days of a connection. Primary key.
delete from day_counts
where day_counts.ctid = any(array(
    select d.ctid
    from day_counts d
    where d.connection_id = @connection_id
    order by d.stream, d.day
    limit cast(@max as bigint)
));

-- name: DayCountSetMany :execrows
-- Sets the counts of days of a partition that is held, a JSON list of {day, n}.
insert into day_counts (owner_id, day, connection_id, stream, n)
select cast(@owner_id as text), x.day, cast(@connection_id as text), cast(@stream as text), x.n
from json_to_recordset(cast(cast(@rows as text) as json)) as x(day bigint, n bigint)
on conflict (connection_id, stream, day) do update
set n = excluded.n;
