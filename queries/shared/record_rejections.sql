-- name: RejectionWalk :many
-- The lines that the quarantine keeps of all owners behind one, by id, with how many
-- bytes are held of each. Primary key.
select id, owner_id, connection_id, cast(case when line is null then 0 else line_bytes end as bigint) as held_bytes
from record_rejections
where id > @after_id
order by id
limit cast(@max as bigint);
