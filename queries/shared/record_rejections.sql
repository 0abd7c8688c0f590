-- name: RejectionDelete :many
-- Discards a refused line of a connection. Primary key.
delete from record_rejections
where id = @id
    and connection_id || '' = @connection_id -- leaves the primary key as the only index
    and owner_id || '' = @owner_id
returning cast(case when line is null then 0 else line_bytes end as bigint) as held_bytes;

-- name: RejectionDeleteByConnection :many
-- Deletes the refused lines of a connection that was deleted.
delete from record_rejections
where connection_id = @connection_id
returning cast(case when line is null then 0 else line_bytes end as bigint) as held_bytes;

-- name: RejectionDiscard :many
-- Discards the refused lines of a connection.
delete from record_rejections
where connection_id = (select c.id from connections c where c.id = @connection_id and c.owner_id || '' = @owner_id)
returning cast(case when line is null then 0 else line_bytes end as bigint) as held_bytes;

-- name: RejectionGet :one
-- A refused line of a connection, with its bytes. Primary key.
select *
from record_rejections
where id = @id
    and connection_id || '' = @connection_id -- leaves the primary key as the only index
    and owner_id || '' = @owner_id;

-- name: RejectionPage :many
-- The refused lines of a connection without their bytes, the newest first. Index
-- record_rejections_by_created.
select r.id, r.stream, r.line_index, r.batch_id, r.run_id, r.code, r.detail, r.line_bytes, r.created_at
from record_rejections r
where r.connection_id = (select c.id from connections c where c.id = @connection_id and c.owner_id || '' = @owner_id)
    and (r.created_at, r.id) < (@before_at, coalesce(cast(@before_id as text), ''))
order by r.created_at desc, r.id desc
limit cast(@max as bigint);
