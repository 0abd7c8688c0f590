-- migrate:up

-- RepoPage
create index repos_by_created on repos (owner_id, created_at, id);
-- RepoPageByName. The name is one expression, so that this index never offers
-- itself where repos_identity finds the one row.
create index repos_by_name on repos (owner_id, lower(namespace || '/' || name), created_at, id);

create table proposals (
    id text primary key,
    owner_id text not null references owners (id),
    repo_id text not null references repos (id),
    stream text not null,
    head text not null,
    base text,
    title text not null,
    body text,
    author text not null,
    state text not null,
    url text,
    run_id text,
    version integer not null,
    created_at integer not null,
    updated_at integer not null,
    closed_at integer,
    constraint proposals_state_check check (state in ('open', 'merged', 'closed')),
    constraint proposals_closed_check check ((state = 'open') = (closed_at is null)),
    constraint proposals_version_check check (version >= 1)
) strict;
-- ProposalInsert, ProposalGetOpen: one open proposal per stream and head. Open
-- is spelled as not closed, so that this index never offers itself where a
-- state is asked for.
create unique index proposals_open_head on proposals (repo_id, stream, head) where closed_at is null;

-- Every state that a proposal has had: its version at the time, and who brought
-- it there. The first row is its creation.
create table proposal_transitions (
    owner_id text not null references owners (id),
    proposal_id text not null references proposals (id),
    version integer not null,
    from_state text,
    to_state text not null,
    actor text not null,
    entered_at integer not null,
    primary key (owner_id, proposal_id, version),
    constraint proposal_transitions_from_check check (from_state is null or from_state in ('open', 'merged', 'closed')),
    constraint proposal_transitions_to_check check (to_state in ('open', 'merged', 'closed'))
) strict;

-- migrate:down
