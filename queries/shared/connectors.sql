-- name: ConnectorGet :one
-- One connector of an owner.
select *
from connectors
where owner_id = @owner_id
    and id = @id;

-- name: ConnectorInsert :execrows
-- Makes a connector; 0 rows if it is known.
insert into connectors (owner_id, id, display_name, manifest, version, created_at, updated_at)
values (@owner_id, @id, @display_name, @manifest, 1, @created_at, @created_at)
on conflict (owner_id, id) do nothing;

-- name: ConnectorPage :many
-- The connectors by id, without their manifests. Primary key.
select owner_id, id, display_name, version, created_at, updated_at
from connectors
where owner_id = @owner_id
    and id > @after_id
order by id
limit cast(@max as bigint);

-- name: ConnectorSet :execrows
-- Replaces the manifest of a connector, if it is still at the version that was read.
update connectors
set display_name = @display_name,
    manifest = @manifest,
    version = version + 1,
    updated_at = @updated_at
where owner_id = @owner_id
    and id = @id
    and version = @version;
