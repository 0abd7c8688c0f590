-- name: KindListByNames :many
-- The kinds of a JSON list of names. Primary key.
select k.*
from job_kinds k
where k.owner_id = @owner_id
    and k.name = any(array(select json_array_elements_text(cast(cast(@names as text) as json))));
