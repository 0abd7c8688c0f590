-- From 0013 back to 0010, on SQLite. Stop the server first; what only
-- the newer build knows is gone after this. Made of the migrations' down parts: edit those.
begin immediate;

drop table repo_names;

drop index login_links_by_maker;
drop index login_links_by_created;
alter table login_links drop column revoked_at;
alter table login_links drop column created_by;

drop index tokens_by_maker;
alter table tokens drop column created_by;

delete from schema_migrations where version in ('0011', '0012', '0013');

commit;
