-- name: VersionDeleteByConnection :execrows
-- Deletes up to max superseded versions of a connection. Primary key.
delete from record_versions
where (connection_id, stream, version) in (
    select v.connection_id, v.stream, v.version
    from record_versions v
    where v.connection_id = @connection_id
    order by v.stream, v.version
    limit cast(@max as bigint)
);

-- name: VersionInsertMany :execrows
-- Keeps versions that came and were superseded in one chunk, a JSON list, times in
-- microseconds. One whose data are null, a deletion, has those of its record.
insert into record_versions (
    connection_id, stream, version, record_id, owner_id, key, data, search, emitted_at, sort_at, dated_by,
    deleted, seq, superseded_seq, created_at, superseded_at
)
select
    @connection_id, x.value ->> '$.stream', x.value ->> '$.version', x.value ->> '$.record_id', @owner_id, x.value ->> '$.key',
    coalesce(x.value ->> '$.data', r.data), coalesce(x.value ->> '$.search', r.search), x.value ->> '$.emitted_at',
    x.value ->> '$.sort_at', x.value ->> '$.dated_by', x.value ->> '$.deleted', x.value ->> '$.seq',
    x.value ->> '$.superseded_seq', @now, @now
from json_each(cast(@rows as text)) x
left join records r on r.id = x.value ->> '$.record_id' and r.owner_id || '' = @owner_id;

-- name: VersionKeep :execrows
-- Copies the present versions of the records of a JSON list of {id,
-- superseded_seq}, before later ones take their place. Primary key of records.
insert into record_versions (
    connection_id, stream, version, record_id, owner_id, key, data, search, emitted_at, sort_at, dated_by,
    deleted, seq, superseded_seq, created_at, superseded_at
)
select
    r.connection_id, r.stream, r.version, r.id, r.owner_id, r.key, r.data, r.search, r.emitted_at, r.sort_at, r.dated_by,
    r.deleted_at is not null, r.seq, x.value ->> '$.superseded_seq', r.updated_at, @now
from json_each(cast(@rows as text)) x
cross join records r
where r.id = x.value ->> '$.id'
    and r.owner_id || '' = @owner_id;

-- name: VersionSweep :many
-- Deletes up to max versions of all owners that were superseded before cutoff, the
-- first ones first. Index record_versions_superseded.
delete from record_versions
where (connection_id, stream, version) in (
    select v.connection_id, v.stream, v.version
    from record_versions v
    where v.superseded_at < @cutoff
    order by v.superseded_at, v.connection_id, v.stream, v.version
    limit cast(@max as bigint)
)
returning owner_id, superseded_seq;
