-- migrate:up

-- One number for every change of an owner's records, in the order of the commits:
-- the row is taken last and held until the commit. floor is the number up to which
-- superseded versions may be gone; a restore or an import begins another epoch.
-- The quarantine of the owner is counted here too.
create table owner_seq (
    owner_id text collate "C" primary key references owners (id),
    seq bigint not null,
    floor bigint not null,
    epoch bigint not null,
    rejected_count bigint not null,
    rejected_bytes bigint not null,
    constraint owner_seq_floor_check check (floor between 0 and seq)
);

-- What a connection has of a stream. version counts its changes; versions up to
-- floor_version may lack their deletions.
create table partitions (
    connection_id text collate "C" not null,
    stream text collate "C" not null,
    owner_id text collate "C" not null references owners (id),
    version bigint not null,
    floor_version bigint not null,
    live_count bigint not null,
    undated_count bigint not null,
    bad_time_count bigint not null,
    min_sort_at timestamptz null,
    max_sort_at timestamptz null,
    last_seq bigint not null,
    refresh_state text collate "C" null,
    refresh_run_id text collate "C" null,
    refresh_generation bigint null,
    refresh_key text collate "C" null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
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
        min_sort_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and max_sort_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and updated_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
) with (fillfactor = 85);
-- PartitionLockRemoving
create index partitions_removing on partitions (connection_id, stream) where refresh_state = 'removing';
-- PartitionBeginRemoval, PartitionCancelRefresh
create index partitions_by_refresh on partitions (owner_id, refresh_run_id) where refresh_run_id is not null;

-- The present version of every record, the deleted ones too: deleted_at is set,
-- and the last data stays. sort_at is when the thing happened, to the source; year
-- 2 stands for no date. hash is of the data's structure, search its text.
create table records (
    id text collate "C" primary key,
    owner_id text collate "C" not null references owners (id),
    connection_id text collate "C" not null,
    stream text collate "C" not null,
    key text collate "C" not null,
    data json not null,
    hash text collate "C" not null,
    search text collate "C" not null,
    emitted_at timestamptz null,
    sort_at timestamptz not null,
    dated_by text collate "C" not null,
    bad_time boolean not null,
    first_seq bigint not null,
    seq bigint not null,
    version bigint not null,
    seen_generation bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz null,
    constraint records_dated_by_check check (dated_by in ('data', 'emitted_at', 'nothing')),
    constraint records_seq_check check (first_seq between 1 and seq),
    constraint records_times_check check (
        emitted_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and sort_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and updated_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and deleted_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
) with (fillfactor = 85);
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
    connection_id text collate "C" not null,
    stream text collate "C" not null,
    version bigint not null,
    record_id text collate "C" not null,
    owner_id text collate "C" not null references owners (id),
    key text collate "C" not null,
    data json not null,
    search text collate "C" not null,
    emitted_at timestamptz null,
    sort_at timestamptz not null,
    dated_by text collate "C" not null,
    deleted boolean not null,
    seq bigint not null,
    superseded_seq bigint not null,
    created_at timestamptz not null,
    superseded_at timestamptz not null,
    primary key (connection_id, stream, version),
    constraint record_versions_dated_by_check check (dated_by in ('data', 'emitted_at', 'nothing')),
    constraint record_versions_seq_check check (seq < superseded_seq),
    constraint record_versions_times_check check (
        emitted_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and sort_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and superseded_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
);
-- VersionSweep
create index record_versions_superseded on record_versions (superseded_at, connection_id, stream, version);

-- How many live records of a partition have their sort_at on a day: days since
-- 1970-01-01, UTC. Those without a date are not counted.
create table day_counts (
    owner_id text collate "C" not null references owners (id),
    day bigint not null,
    connection_id text collate "C" not null,
    stream text collate "C" not null,
    n bigint not null,
    primary key (connection_id, stream, day),
    constraint day_counts_n_check check (n >= 0)
) with (fillfactor = 85);

-- Where a source was read up to, as its connector says it; stream is empty for one
-- that covers all streams. Durable with the records before it.
create table checkpoints (
    connection_id text collate "C" not null,
    stream text collate "C" not null,
    owner_id text collate "C" not null references owners (id),
    checkpoint json not null,
    run_id text collate "C" null,
    updated_at timestamptz not null,
    primary key (connection_id, stream),
    constraint checkpoints_times_check check (
        updated_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
);

-- Lines that were refused: the bytes as they came, in base64; null for one that
-- was too long to be held. The same bytes of a connection are kept once.
create table record_rejections (
    id text collate "C" primary key,
    owner_id text collate "C" not null references owners (id),
    connection_id text collate "C" not null,
    stream text collate "C" null,
    line_index bigint not null,
    batch_id text collate "C" null,
    run_id text collate "C" null,
    code text collate "C" not null,
    detail text collate "C" not null,
    line text collate "C" null,
    line_bytes bigint not null,
    hash text collate "C" not null,
    created_at timestamptz not null,
    constraint record_rejections_times_check check (
        created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
);
-- RejectionInsertMany, HeadRecount
create unique index record_rejections_line on record_rejections (connection_id, hash);
-- RejectionPage
create index record_rejections_by_created on record_rejections (connection_id, created_at, id);
-- OwnerSeqRecount
create index record_rejections_by_owner on record_rejections (owner_id);

-- Batches: durable_lines of its body have had their effect; a sender that holds it
-- goes on from there. The answer of an accepted one is kept as it was sent.
create table ingest_batches (
    connection_id text collate "C" not null,
    batch_id text collate "C" not null,
    owner_id text collate "C" not null references owners (id),
    device text collate "C" not null,
    body_hash text collate "C" not null,
    state text collate "C" not null,
    durable_lines bigint not null,
    accepted_count bigint not null,
    unchanged_count bigint not null,
    checkpoint_count bigint not null,
    rejected_count bigint not null,
    rejections json not null,
    holder text collate "C" null,
    lease_expires_at timestamptz null,
    run_id text collate "C" null,
    answer text collate "C" null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    accepted_at timestamptz null,
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
        lease_expires_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and updated_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and accepted_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
) with (fillfactor = 85);
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
