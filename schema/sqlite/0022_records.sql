-- migrate:up

-- One number for every change of an owner's records, in the order of the commits:
-- the row is taken last and held until the commit. floor is the number up to which
-- superseded versions may be gone; a restore or an import begins another epoch.
-- The quarantine of the owner is counted here too.
create table owner_seq (
    owner_id text primary key references owners (id),
    seq integer not null,
    floor integer not null,
    epoch integer not null,
    rejected_count integer not null,
    rejected_bytes integer not null,
    constraint owner_seq_floor_check check (floor between 0 and seq)
) strict;

-- What a connection has of a stream. version counts its changes; versions up to
-- floor_version may lack their deletions.
create table partitions (
    connection_id text not null,
    stream text not null,
    owner_id text not null references owners (id),
    version integer not null,
    floor_version integer not null,
    live_count integer not null,
    undated_count integer not null,
    bad_time_count integer not null,
    min_sort_at integer,
    max_sort_at integer,
    last_seq integer not null,
    refresh_state text,
    refresh_run_id text,
    refresh_generation integer,
    refresh_key text,
    created_at integer not null,
    updated_at integer not null,
    primary key (connection_id, stream),
    constraint partitions_version_check check (floor_version between 0 and version),
    constraint partitions_counts_check check (undated_count between 0 and live_count and bad_time_count between 0 and live_count),
    constraint partitions_refresh_state_check check (refresh_state is null or refresh_state in ('reading', 'removing')),
    constraint partitions_refresh_check check (
        (refresh_state is null) = (refresh_run_id is null)
        and (refresh_state is null) = (refresh_generation is null)
        and (refresh_state is null) = (refresh_key is null)
    ),
    constraint partitions_times_check check (
        min_sort_at between -62104060800000000 and 253402300799999999
        and max_sort_at between -62104060800000000 and 253402300799999999
        and created_at between -62104060800000000 and 253402300799999999
        and updated_at between -62104060800000000 and 253402300799999999
    )
) strict;
-- PartitionLockRemoving
create index partitions_removing on partitions (connection_id, stream) where refresh_state = 'removing';
-- PartitionBeginRemoval, PartitionCancelRefresh
create index partitions_by_refresh on partitions (owner_id, refresh_run_id) where refresh_run_id is not null;

-- The present version of every record, the deleted ones too: deleted_at is set,
-- and the last data stays. sort_at is when the thing happened, to the source; year
-- 2 stands for no date. hash is of the data's structure, search its text.
create table records (
    id text primary key,
    owner_id text not null references owners (id),
    connection_id text not null,
    stream text not null,
    key text not null,
    data text not null,
    hash text not null,
    search text not null,
    emitted_at integer,
    sort_at integer not null,
    dated_by text not null,
    bad_time integer not null,
    first_seq integer not null,
    seq integer not null,
    version integer not null,
    seen_generation integer not null,
    created_at integer not null,
    updated_at integer not null,
    deleted_at integer,
    constraint records_bad_time_check check (bad_time in (0, 1)),
    constraint records_dated_by_check check (dated_by in ('data', 'emitted_at', 'nothing')),
    constraint records_seq_check check (first_seq between 1 and seq),
    constraint records_times_check check (
        emitted_at between -62104060800000000 and 253402300799999999
        and sort_at between -62104060800000000 and 253402300799999999
        and created_at between -62104060800000000 and 253402300799999999
        and updated_at between -62104060800000000 and 253402300799999999
        and deleted_at between -62104060800000000 and 253402300799999999
    )
) strict;
-- RecordListByKeys, RecordListBehind: one row for each key of a partition.
create unique index records_key on records (connection_id, stream, key);
-- RecordChanges
create index records_by_version on records (connection_id, stream, version);
-- PartitionSetTimes
create index records_by_time on records (connection_id, stream, sort_at, id) where deleted_at is null;
-- RecordListDeleted
create index records_deleted on records (deleted_at, id) where deleted_at is not null;

-- The versions that later ones superseded, until the sweep removes them.
create table record_versions (
    connection_id text not null,
    stream text not null,
    version integer not null,
    record_id text not null,
    owner_id text not null references owners (id),
    key text not null,
    data text not null,
    search text not null,
    emitted_at integer,
    sort_at integer not null,
    dated_by text not null,
    deleted integer not null,
    seq integer not null,
    superseded_seq integer not null,
    created_at integer not null,
    superseded_at integer not null,
    primary key (connection_id, stream, version),
    constraint record_versions_deleted_check check (deleted in (0, 1)),
    constraint record_versions_dated_by_check check (dated_by in ('data', 'emitted_at', 'nothing')),
    constraint record_versions_seq_check check (seq < superseded_seq),
    constraint record_versions_times_check check (
        emitted_at between -62104060800000000 and 253402300799999999
        and sort_at between -62104060800000000 and 253402300799999999
        and created_at between -62104060800000000 and 253402300799999999
        and superseded_at between -62104060800000000 and 253402300799999999
    )
) strict;
-- VersionSweep
create index record_versions_superseded on record_versions (superseded_at, connection_id, stream, version);

-- How many live records of a partition have their sort_at on a day: days since
-- 1970-01-01, UTC. Those without a date are not counted.
create table day_counts (
    owner_id text not null references owners (id),
    day integer not null,
    connection_id text not null,
    stream text not null,
    n integer not null,
    primary key (connection_id, stream, day),
    constraint day_counts_n_check check (n >= 0)
) strict;

-- Where a source was read up to, as its connector says it; stream is empty for one
-- that covers all streams. Durable with the records before it.
create table checkpoints (
    connection_id text not null,
    stream text not null,
    owner_id text not null references owners (id),
    checkpoint text not null,
    run_id text,
    updated_at integer not null,
    primary key (connection_id, stream),
    constraint checkpoints_times_check check (
        updated_at between -62104060800000000 and 253402300799999999
    )
) strict;

-- Lines that were refused: the bytes as they came, in base64; null for one that
-- was too long to be held. The same bytes of a connection are kept once.
create table record_rejections (
    id text primary key,
    owner_id text not null references owners (id),
    connection_id text not null,
    stream text,
    line_index integer not null,
    batch_id text,
    run_id text,
    code text not null,
    detail text not null,
    line text,
    line_bytes integer not null,
    hash text not null,
    created_at integer not null,
    constraint record_rejections_times_check check (
        created_at between -62104060800000000 and 253402300799999999
    )
) strict;
-- RejectionInsertMany, HeadRecount
create unique index record_rejections_line on record_rejections (connection_id, hash);
-- RejectionPage
create index record_rejections_by_created on record_rejections (connection_id, created_at, id);
-- OwnerSeqRecount
create index record_rejections_by_owner on record_rejections (owner_id);

-- Batches: durable_lines of its body have had their effect; a sender that holds it
-- goes on from there. The answer of an accepted one is kept as it was sent.
create table ingest_batches (
    connection_id text not null,
    batch_id text not null,
    owner_id text not null references owners (id),
    device text not null,
    body_hash text not null,
    state text not null,
    durable_lines integer not null,
    accepted_count integer not null,
    unchanged_count integer not null,
    checkpoint_count integer not null,
    rejected_count integer not null,
    rejections text not null,
    holder text,
    lease_expires_at integer,
    run_id text,
    answer text,
    created_at integer not null,
    updated_at integer not null,
    accepted_at integer,
    primary key (connection_id, batch_id),
    constraint ingest_batches_state_check check (state in ('processing', 'accepted')),
    constraint ingest_batches_lines_check check (durable_lines >= 0),
    constraint ingest_batches_holder_check check ((holder is null) = (lease_expires_at is null)),
    constraint ingest_batches_accepted_check check (
        (state = 'accepted') = (accepted_at is not null)
        and (state = 'accepted') = (answer is not null)
        and (state <> 'accepted' or holder is null)
    ),
    constraint ingest_batches_times_check check (
        lease_expires_at between -62104060800000000 and 253402300799999999
        and created_at between -62104060800000000 and 253402300799999999
        and updated_at between -62104060800000000 and 253402300799999999
        and accepted_at between -62104060800000000 and 253402300799999999
    )
) strict;
-- BatchSweep
create index ingest_batches_by_update on ingest_batches (updated_at, connection_id, batch_id);

-- migrate:down
drop table ingest_batches;
drop table record_rejections;
drop table checkpoints;
drop table day_counts;
drop table record_versions;
drop table records;
drop table partitions;
drop table owner_seq;
