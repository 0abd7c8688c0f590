-- migrate:up

-- A kind of source, with the manifest that declares it. The manifest is kept as it
-- was sent; what the server needs of it stands in connector_streams, so that no
-- read depends on a manifest that can be parsed.
-- ConnectorGet, ConnectorPage
create table connectors (
    owner_id text collate "C" not null references owners (id),
    id text collate "C" not null,
    display_name text collate "C" not null,
    manifest json not null,
    version bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (owner_id, id),
    constraint connectors_times_check check (
        created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and updated_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
);

-- The streams of a connector: named collections of records.
-- StreamList
create table connector_streams (
    owner_id text collate "C" not null,
    connector_id text collate "C" not null,
    name text collate "C" not null,
    semantics text collate "C" not null,
    primary_key json not null,
    time_field text collate "C" null,
    label text collate "C" not null,
    created_at timestamptz not null,
    primary key (owner_id, connector_id, name),
    constraint connector_streams_semantics_check check (semantics in ('append_only', 'mutable_state')),
    constraint connector_streams_times_check check (
        created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
);

-- One configured account, device or import of a connector. run_generation counts
-- its runs: a write that names a run is fenced by it.
create table connections (
    id text collate "C" primary key,
    owner_id text collate "C" not null references owners (id),
    connector_id text collate "C" not null,
    source_kind text collate "C" not null,
    binding_key text collate "C" not null,
    display_name text collate "C" not null,
    status text collate "C" not null,
    run_generation bigint not null,
    version bigint not null,
    actor text collate "C" null,
    acted_at timestamptz null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    revoked_at timestamptz null,
    constraint connections_source_kind_check check (source_kind in ('account', 'device', 'browser', 'manual')),
    constraint connections_status_check check (status in ('draft', 'active', 'paused', 'revoked')),
    constraint connections_actor_check check ((actor is null) = (acted_at is null)),
    constraint connections_revoked_check check ((status = 'revoked') = (revoked_at is not null)),
    constraint connections_times_check check (
        acted_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and updated_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and revoked_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
);
-- ConnectionGetByBinding: a source is connected once.
create unique index connections_binding on connections (owner_id, connector_id, source_kind, binding_key);
-- ConnectionPage, ConnectionPageByConnector
create index connections_by_connector on connections (owner_id, connector_id, created_at, id);
-- ConnectionListByConnector: those that a connector's id may stand for.
create index connections_in_use on connections (owner_id, connector_id, id) where status <> 'revoked';

-- A connection that was deleted: its binding does not come back by itself.
-- TombstoneGet
create table connection_tombstones (
    owner_id text collate "C" not null references owners (id),
    connector_id text collate "C" not null,
    source_kind text collate "C" not null,
    binding_key text collate "C" not null,
    connection_id text collate "C" not null,
    actor text collate "C" null,
    deleted_at timestamptz not null,
    primary key (owner_id, connector_id, source_kind, binding_key),
    constraint connection_tombstones_source_kind_check check (source_kind in ('account', 'device', 'browser', 'manual')),
    constraint connection_tombstones_times_check check (
        deleted_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
);

-- Connections that were deleted and whose records are still being removed.
-- RemovalLock
create table connection_removals (
    connection_id text collate "C" primary key,
    owner_id text collate "C" not null references owners (id),
    created_at timestamptz not null,
    constraint connection_removals_times_check check (
        created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
);

-- Which run of a connection is active, and which were the latest, the latest that
-- ended and the latest that succeeded; when it last brought records. The writers
-- maintain it in their transactions, and each raises revision.
create table connection_heads (
    connection_id text collate "C" primary key,
    owner_id text collate "C" not null references owners (id),
    active_run_id text collate "C" null,
    latest_run_id text collate "C" null,
    settled_run_id text collate "C" null,
    succeeded_run_id text collate "C" null,
    last_ingest_at timestamptz null,
    rejected_count bigint not null,
    revision bigint not null,
    updated_at timestamptz not null,
    constraint connection_heads_times_check check (
        last_ingest_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and updated_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
);

-- The devices that sent batches of a connection, with the last one accepted.
create table connection_devices (
    connection_id text collate "C" not null,
    device text collate "C" not null,
    owner_id text collate "C" not null references owners (id),
    last_batch_id text collate "C" null,
    last_accepted_at timestamptz null,
    created_at timestamptz not null,
    primary key (connection_id, device),
    constraint connection_devices_times_check check (
        last_accepted_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
        and created_at between '0002-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    )
);

-- migrate:down
drop table connection_devices;
drop table connection_heads;
drop table connection_removals;
drop table connection_tombstones;
drop table connections;
drop table connector_streams;
drop table connectors;
