-- name: DayCountWalk :many
-- The days of a partition behind one, with their counts. Primary key.
select day, n
from day_counts
where connection_id = @connection_id
    and stream = @stream
    and day > @after_day
order by day
limit cast(@max as bigint);
