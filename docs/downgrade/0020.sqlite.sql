-- From 0026 back to 0020, on SQLite. Stop the server first; what only
-- the newer build knows is gone after this. Made of the migrations' down parts: edit those.
begin immediate;

create temp table way_back (
    newest text,
    constraint "this file leads from version 0026; on a newer database run 0026.sqlite.sql first" check (newest is '0026')
);
insert into way_back select max(version) from schema_migrations;
drop table way_back;

drop index runs_by_connection;

select 1;

drop index runs_running_connection;

alter table runs drop column lease_expires_at;

drop table ingest_batches;
drop table record_rejections;
drop table checkpoints;
drop table day_counts;
drop table record_versions;
drop table records;
drop table partitions;
drop table owner_seq;

drop table connection_devices;
drop table connection_heads;
drop table connection_removals;
drop table connection_tombstones;
drop table connections;
drop table connector_streams;
drop table connectors;

delete from schema_migrations where version in ('0021', '0022', '0023', '0024', '0025', '0026');

commit;
