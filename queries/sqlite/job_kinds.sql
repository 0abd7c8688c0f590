-- name: KindListByNames :many
-- The kinds of a JSON list of names. Primary key.
select k.*
from job_kinds k
where k.owner_id = @owner_id
    and k.name in (select t.value from json_each(cast(@names as text)) t);
