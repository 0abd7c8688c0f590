-- name: RunLogInsert :exec
-- Adds a piece to what a run printed. The caller holds the run's row.
insert into run_logs (run_id, place, seq, text, ends_at_byte, created_at)
values (@run_id, @place, @seq, @text, @ends_at_byte, @now);

-- name: RunLogLast :one
-- Where what a run printed ends. Primary key.
select seq, place, ends_at_byte
from run_logs
where run_id = @run_id
order by place desc
limit 1;

-- name: RunLogList :many
-- What is kept of what a run printed, in its order: RunLogTrim bounds it. Primary
-- key.
select seq, text, ends_at_byte, created_at
from run_logs
where run_id = @run_id
order by place;

-- name: RunLogTrim :exec
-- Deletes the pieces of a run that end at a place or before. All up to @above are
-- gone already; naming it spares reading their entries until the vacuum has come.
-- Primary key.
delete from run_logs
where run_id = @run_id
    and place > @above
    and place <= @place;
