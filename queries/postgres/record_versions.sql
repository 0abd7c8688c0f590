-- name: VersionDeleteByConnection :execrows
-- Deletes up to max superseded versions of a connection. Primary key.
delete from record_versions
where record_versions.ctid = any(array(
    select v.ctid
    from record_versions v
    where v.connection_id = @connection_id
    order by v.stream, v.version
    limit cast(@max as bigint)
));

-- name: VersionInsertMany :execrows
-- Keeps versions that came and were superseded in one chunk, a JSON list, times in
-- microseconds. One whose data are null, a deletion, has those of its record.
insert into record_versions (
    connection_id, stream, version, record_id, owner_id, key, data, search, emitted_at, sort_at, dated_by,
    deleted, seq, superseded_seq, created_at, superseded_at
)
select
    cast(@connection_id as text), x.stream, x.version, x.record_id, cast(@owner_id as text), x.key,
    coalesce(cast(x.data as json), r.data), coalesce(x.search, r.search), from_us(x.emitted_at), from_us(x.sort_at), x.dated_by,
    x.deleted, x.seq, x.superseded_seq, cast(@now as timestamptz), cast(@now as timestamptz)
from json_to_recordset(cast(cast(@rows as text) as json)) as x(
    stream text, version bigint, record_id text, key text, data text, search text, emitted_at bigint, sort_at bigint,
    dated_by text, deleted boolean, seq bigint, superseded_seq bigint
)
left join lateral (
    select i.data, i.search
    from records i
    where i.id = x.record_id
        and i.owner_id || '' = @owner_id
    limit 1
) r on true;

-- name: VersionKeep :execrows
-- Copies the present versions of the records of a JSON list of {id,
-- superseded_seq}, before later ones take their place. Primary key of records.
insert into record_versions (
    connection_id, stream, version, record_id, owner_id, key, data, search, emitted_at, sort_at, dated_by,
    deleted, seq, superseded_seq, created_at, superseded_at
)
select
    r.connection_id, r.stream, r.version, r.id, r.owner_id, r.key, r.data, r.search, r.emitted_at, r.sort_at, r.dated_by,
    r.deleted_at is not null, r.seq, x.superseded_seq, r.updated_at, cast(@now as timestamptz)
from json_to_recordset(cast(cast(@rows as text) as json)) as x(id text, superseded_seq bigint)
cross join lateral (
    select i.*
    from records i
    where i.id = x.id
        and i.owner_id || '' = @owner_id
    limit 1
) r;

-- name: VersionSweep :many
-- Deletes up to max versions of all owners that were superseded before cutoff, the
-- first ones first. Index record_versions_superseded.
delete from record_versions
where record_versions.ctid = any(array(
    select v.ctid
    from record_versions v
    where v.superseded_at < @cutoff
    order by v.superseded_at, v.connection_id, v.stream, v.version
    limit cast(@max as bigint)
    for update skip locked
))
returning owner_id, superseded_seq;
