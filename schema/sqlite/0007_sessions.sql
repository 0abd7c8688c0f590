-- migrate:up

-- A session is a token that only its cookie carries. Its default is that of the
-- rows of the release before, which writes no kind.
alter table tokens add column kind text not null default 'bearer'
    constraint tokens_kind_check check (kind in ('bearer', 'session'));

-- TokenSweepSessions
create index tokens_sessions_by_expiry on tokens (expires_at) where kind = 'session';

-- One-time links that begin a session: the secret's hash, for whom, and what the
-- session may do.
create table login_links (
    hash text primary key,
    owner_id text not null references owners (id),
    name text not null,
    scopes text not null,
    session_seconds integer not null,
    created_at integer not null,
    expires_at integer not null,
    used_at integer
) strict;
-- LoginLinkSweep
create index login_links_by_expiry on login_links (expires_at);

-- migrate:down
