-- name: OwnerSeqCountRejected :execrows
-- Counts lines that the quarantine took, and their bytes.
update owner_seq
set rejected_count = rejected_count + cast(@added as bigint),
    rejected_bytes = rejected_bytes + cast(@added_bytes as bigint)
where owner_id = @owner_id;

-- name: OwnerSeqGet :one
-- The numbers of an owner.
select *
from owner_seq
where owner_id = @owner_id;

-- name: OwnerSeqRaiseFloor :execrows
-- Notes that versions which were superseded up to a number may be gone.
update owner_seq
set floor = case when floor < @floor then @floor else floor end
where owner_id = @owner_id;

-- name: OwnerSeqRecount :one
-- The sequence of an owner and the counts of the quarantine, with what the quarantine
-- keeps, in one snapshot.
-- Index record_rejections_by_owner.
select
    s.seq,
    s.rejected_count,
    s.rejected_bytes,
    cast((
        select count(*)
        from record_rejections r
        where r.owner_id = s.owner_id
    ) as bigint) as kept_lines,
    cast((
        select coalesce(sum(case when r.line is null then 0 else r.line_bytes end), 0)
        from record_rejections r
        where r.owner_id = s.owner_id
    ) as bigint) as kept_bytes
from owner_seq s
where s.owner_id = @owner_id;

-- name: OwnerSeqSet :exec
-- Sets the sequence of an owner, made anew while the row is held.
update owner_seq
set seq = @seq
where owner_id = @owner_id;

-- name: OwnerSeqTake :one
-- Takes n numbers of an owner, the last of which is seq, and holds the row until
-- the end of the transaction. The first use makes it, with that epoch.
insert into owner_seq (owner_id, seq, floor, epoch, rejected_count, rejected_bytes)
values (@owner_id, @n, 0, @epoch, 0, 0)
on conflict (owner_id) do update
set seq = owner_seq.seq + excluded.seq
returning *;

-- name: OwnerSeqWalk :many
-- The sequences of the owners behind one, by owner. Primary key.
select *
from owner_seq
where owner_id > @after_id
order by owner_id
limit cast(@max as bigint);
