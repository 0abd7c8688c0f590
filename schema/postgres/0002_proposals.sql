-- migrate:up

-- RepoPage
create index repos_by_created on repos (owner_id, created_at, id);
-- RepoPageByName. The name is one expression, so that this index never offers
-- itself where repos_identity finds the one row.
create index repos_by_name on repos (owner_id, lower(namespace || '/' || name), created_at, id);

create table proposals (
    id text collate "C" primary key,
    owner_id text collate "C" not null references owners (id),
    repo_id text collate "C" not null references repos (id),
    stream text collate "C" not null,
    head text collate "C" not null,
    base text collate "C" null,
    title text collate "C" not null,
    body text collate "C" null,
    author text collate "C" not null,
    state text collate "C" not null,
    url text collate "C" null,
    run_id text collate "C" null,
    version bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    closed_at timestamptz null,
    constraint proposals_state_check check (state in ('open', 'merged', 'closed')),
    constraint proposals_closed_check check ((state = 'open') = (closed_at is null)),
    constraint proposals_version_check check (version >= 1)
);
-- ProposalInsert, ProposalGetOpen: one open proposal per stream and head. Open
-- is spelled as not closed, so that this index never offers itself where a
-- state is asked for.
create unique index proposals_open_head on proposals (repo_id, stream, head) where closed_at is null;

-- Every state that a proposal has had: its version at the time, and who brought
-- it there. The first row is its creation.
create table proposal_transitions (
    owner_id text collate "C" not null references owners (id),
    proposal_id text collate "C" not null references proposals (id),
    version bigint not null,
    from_state text collate "C" null,
    to_state text collate "C" not null,
    actor text collate "C" not null,
    entered_at timestamptz not null,
    primary key (owner_id, proposal_id, version),
    constraint proposal_transitions_from_check check (from_state is null or from_state in ('open', 'merged', 'closed')),
    constraint proposal_transitions_to_check check (to_state in ('open', 'merged', 'closed'))
);

-- migrate:down
