-- From 0020 back to 0010, on PostgreSQL. Stop every server of the newer build first; what only
-- the newer build knows is gone after this. Made of the migrations' down parts: edit those.
begin;

do $$
begin
    if (select max(version) from schema_migrations) is distinct from '0020' then
        raise exception 'this file leads from version 0020, and this database is at %; if that is newer, run 0020.postgres.sql first',
            (select max(version) from schema_migrations);
    end if;
end $$;

alter table jobs alter column state reset (n_distinct), alter column key reset (n_distinct);
alter table runs alter column status reset (n_distinct);
alter table proposals alter column state reset (n_distinct), alter column stream reset (n_distinct), alter column author reset (n_distinct);

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

delete from schema_migrations where version in ('0011', '0012', '0013', '0014', '0015', '0016', '0017', '0018', '0019', '0020');

commit;
