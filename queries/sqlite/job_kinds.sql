-- name: KindListByNames :many
-- The kinds of a JSON list of names. Primary key.
select k.owner_id, k.name, k.lease_seconds, k.max_attempts, k.backoff_base_seconds, k.backoff_cap_seconds, k.paused_at, k.paused_by, k.version, k.created_at, k.updated_at
from job_kinds k
where k.owner_id = @owner_id
    and k.name in (select t.value from json_each(cast(@names as text)) t);
