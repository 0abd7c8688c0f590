-- name: StreamDeleteByConnector :execrows
-- Removes the streams that a connector declares. Primary key.
delete from connector_streams
where owner_id = @owner_id
    and connector_id = @connector_id;

-- name: StreamList :many
-- The streams that a connector declares, by name. Primary key.
select *
from connector_streams
where owner_id = @owner_id
    and connector_id = @connector_id
order by name;
