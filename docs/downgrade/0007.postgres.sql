-- From 0010 back to 0007, on PostgreSQL. Stop every server of the newer build first; what only
-- the newer build knows is gone after this. Made of the migrations' down parts: edit those.
begin;

do $$
begin
    if (select max(version) from schema_migrations) is distinct from '0010' then
        raise exception 'this file leads from version 0010, and this database is at %; if that is newer, run 0010.postgres.sql first',
            (select max(version) from schema_migrations);
    end if;
end $$;

drop table run_logs;
alter table runs drop column warning;
alter table runs drop column deadline_at;

alter table jobs drop column timeout_seconds;

alter table job_kinds drop column timeout_seconds;

delete from schema_migrations where version in ('0008', '0009', '0010');

commit;
