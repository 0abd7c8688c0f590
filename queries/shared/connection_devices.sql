-- name: DeviceAccept :exec
-- Notes the batch of a device that was accepted last.
insert into connection_devices (connection_id, device, owner_id, last_batch_id, last_accepted_at, created_at)
values (@connection_id, @device, @owner_id, @last_batch_id, @now, @now)
on conflict (connection_id, device) do update
set last_batch_id = excluded.last_batch_id,
    last_accepted_at = excluded.last_accepted_at;

-- name: DeviceDeleteByConnection :execrows
-- Deletes the devices of a connection. Primary key.
delete from connection_devices
where connection_id = (select c.id from connections c where c.id = @connection_id and c.owner_id || '' = @owner_id);

-- name: DeviceList :many
-- The devices of a connection by name, up to max. Primary key.
select d.*
from connection_devices d
where d.connection_id = (select c.id from connections c where c.id = @connection_id and c.owner_id || '' = @owner_id)
order by d.device
limit cast(@max as bigint);
