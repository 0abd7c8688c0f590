-- name: IdempotencyKeyDate :execrows
-- Dates records that have no date, up to max. What somebody else is dating is
-- passed over. Index idempotency_keys_by_created.
update idempotency_keys
set created_at = @now
where (owner_id, principal, route, key) in (
    select i.owner_id, i.principal, i.route, i.key
    from idempotency_keys i
    where i.created_at is null
    order by i.created_at
    limit cast(@max as bigint)
);

-- name: IdempotencyKeyDateAnew :execrows
-- Gives the present time to records with a date after latest, up to max: a wrong
-- clock dated them. Records that somebody else is dating are passed over. Index
-- idempotency_keys_by_created.
update idempotency_keys
set created_at = @now
where (owner_id, principal, route, key) in (
    select i.owner_id, i.principal, i.route, i.key
    from idempotency_keys i
    where i.created_at > @latest
    order by i.created_at
    limit cast(@max as bigint)
);

-- name: IdempotencyKeySweep :many
-- Removes records that were kept from after to cutoff, the oldest first, up to
-- max. One that a request is taking over at this moment is passed over. Index
-- idempotency_keys_by_created.
delete from idempotency_keys
where (owner_id, principal, route, key) in (
    select i.owner_id, i.principal, i.route, i.key
    from idempotency_keys i
    where i.created_at <= @cutoff
        and i.created_at >= @after
    order by i.created_at
    limit cast(@max as bigint)
)
returning created_at;
