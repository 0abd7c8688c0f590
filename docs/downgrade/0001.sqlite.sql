-- From 0007 back to 0001, on SQLite. Stop the server first; what only the newer build knows is
-- gone after this: proposals, sessions and login links, workers, leases.
begin immediate;

create temp table way_back (
    newest text,
    constraint "this file leads from version 0007; on a newer database run 0007.sqlite.sql first" check (newest is '0007')
);
insert into way_back select max(version) from schema_migrations;
drop table way_back;

-- A session is a token with a cookie's rights; the older build would take it for
-- a bearer token.
delete from tokens where kind = 'session';
drop table login_links;
drop index tokens_sessions_by_expiry;
alter table tokens drop column kind;

drop table workers;

drop table leases;

drop index idempotency_keys_by_created;
alter table idempotency_keys drop column etag;
alter table idempotency_keys drop column if_match;
alter table idempotency_keys drop column created_at;
-- What the sweep has noted, so that the next upgrade dates the keys anew.
delete from meta where key = 'backfill:idem-times';

drop table proposal_transitions;
drop table proposals;
drop index repos_by_name;
drop index repos_by_created;

delete from schema_migrations where version in ('0002', '0003', '0004', '0005', '0006', '0007');

commit;
