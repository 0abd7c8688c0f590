-- name: ConnectionHold :one
-- One connection of an owner. Until this transaction ends nobody changes it, and
-- others may hold it too.
select *
from connections
where id = @id -- as the only index
    and owner_id || '' = @owner_id;

-- name: ConnectionLock :one
-- One connection of an owner, to be changed: waits for those who hold it, and those
-- who come wait.
select *
from connections
where id = @id -- as the only index
    and owner_id || '' = @owner_id;
