-- name: ConnectionLock :one
-- One connection of an owner, held for this transaction until it ends. Writers and
-- those who change it take turns; under a shared lock a change would wait for as
-- long as writers come.
select *
from connections
where id = @id -- as the only index
    and owner_id || '' = @owner_id;
