-- From 0019 back to 0010, on PostgreSQL. Stop every server of the newer build first; what only
-- the newer build knows is gone after this. Made of the migrations' down parts: edit those.
begin;

do $$
begin
    if (select max(version) from schema_migrations) is distinct from '0019' then
        raise exception 'this file leads from version 0019, and this database is at %; if that is newer, run 0019.postgres.sql first',
            (select max(version) from schema_migrations);
    end if;
end $$;

alter table leases drop constraint leases_times_check;

alter table login_links drop constraint login_links_times_check;

alter table tokens drop constraint tokens_times_check;

alter table idempotency_keys drop constraint idempotency_keys_times_check;

alter table runs drop constraint runs_times_check;

alter table jobs drop constraint jobs_times_check;

drop table repo_names;

drop index login_links_by_id;
drop index login_links_by_maker;
drop index login_links_by_created;
alter table login_links drop column revoked_at;
alter table login_links drop column created_by;

drop index tokens_by_maker;
alter table tokens drop column created_by;

delete from schema_migrations where version in ('0011', '0012', '0013', '0014', '0015', '0016', '0017', '0018', '0019');

commit;
