-- migrate:up

-- Names that repositories had before: whoever still uses one means the same
-- repository. Case does not count in a name, so these are in lower case. No
-- repository has a name that is another one's here.
-- RepoFind, RepoHoldByName, RepoNameInsert
create table repo_names (
    owner_id text collate "C" not null references owners (id),
    forge text collate "C" not null,
    host text collate "C" not null,
    namespace text collate "C" not null,
    name text collate "C" not null,
    repo_id text collate "C" not null references repos (id),
    replaced_at timestamptz not null,
    primary key (owner_id, forge, host, namespace, name),
    constraint repo_names_forge_check check (forge in ('github', 'gitea', 'forgejo', 'gitlab')),
    constraint repo_names_case_check check (namespace = lower(namespace) and name = lower(name))
);
-- RepoNameList
create index repo_names_by_repo on repo_names (repo_id, replaced_at, name);
-- RepoNameListByName. The name is one expression, so that this index never offers
-- itself where the primary key finds the one row.
create index repo_names_by_name on repo_names (owner_id, (namespace || '/' || name));

-- migrate:down
drop table repo_names;
