-- From 0026 back to 0020, on PostgreSQL. Stop every server of the newer build first; what only
-- the newer build knows is gone after this. Made of the migrations' down parts: edit those.
begin;

do $$
begin
    if (select max(version) from schema_migrations) is distinct from '0026' then
        raise exception 'this file leads from version 0026, and this database is at %; if that is newer, run 0026.postgres.sql first',
            (select max(version) from schema_migrations);
    end if;
end $$;

drop index runs_by_connection;

select 1;

drop index runs_running_connection;

alter table runs drop constraint runs_lease_times_check;
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
