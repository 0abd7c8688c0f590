-- From 0010 back to 0007, on SQLite. Stop the server first; what only
-- the newer build knows is gone after this. Made of the migrations' down parts: edit those.
begin immediate;

create temp table way_back (
    newest text,
    constraint "this file leads from version 0010; on a newer database run 0010.sqlite.sql first" check (newest is '0010')
);
insert into way_back select max(version) from schema_migrations;
drop table way_back;

drop table run_logs;
alter table runs drop column warning;
alter table runs drop column deadline_at;

alter table jobs drop column timeout_seconds;

alter table job_kinds drop column timeout_seconds;

delete from schema_migrations where version in ('0008', '0009', '0010');

commit;
