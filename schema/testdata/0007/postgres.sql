--
--



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: from_us(bigint); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.from_us(us bigint) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (('1970-01-01 05:30:00+05:30'::timestamp with time zone + (((us / 1000000))::double precision * '00:00:01'::interval)) + (((us % (1000000)::bigint))::double precision * '00:00:00.000001'::interval));


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: idempotency_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency_keys (
    owner_id text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL COLLATE pg_catalog."C",
    route text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    status bigint NOT NULL,
    body text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone,
    if_match text COLLATE pg_catalog."C",
    etag text COLLATE pg_catalog."C",
    CONSTRAINT idempotency_keys_status_check CHECK (((status = 0) OR ((status >= 200) AND (status <= 499))))
);


--
-- Name: job_kinds; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.job_kinds (
    owner_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    lease_seconds bigint NOT NULL,
    max_attempts bigint NOT NULL,
    backoff_base_seconds bigint NOT NULL,
    backoff_cap_seconds bigint NOT NULL,
    paused_at timestamp with time zone,
    paused_by text COLLATE pg_catalog."C",
    version bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT job_kinds_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 100))),
    CONSTRAINT job_kinds_backoff_check CHECK ((((backoff_base_seconds >= 1) AND (backoff_base_seconds <= backoff_cap_seconds)) AND (backoff_cap_seconds <= 2592000))),
    CONSTRAINT job_kinds_lease_check CHECK (((lease_seconds >= 10) AND (lease_seconds <= 86400)))
);


--
-- Name: jobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.jobs (
    id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    waiting_for text COLLATE pg_catalog."C",
    key text COLLATE pg_catalog."C",
    repo_id text COLLATE pg_catalog."C",
    issue_number bigint,
    payload json NOT NULL,
    priority bigint NOT NULL,
    run_at timestamp with time zone NOT NULL,
    attempt bigint NOT NULL,
    max_attempts bigint NOT NULL,
    lease_token text COLLATE pg_catalog."C",
    claimed_by text COLLATE pg_catalog."C",
    lease_expires_at timestamp with time zone,
    again json,
    follows text COLLATE pg_catalog."C",
    followed_by text COLLATE pg_catalog."C",
    cancel_requested_at timestamp with time zone,
    progress json,
    result json,
    error json,
    concurrency_key text COLLATE pg_catalog."C",
    traceparent text COLLATE pg_catalog."C",
    actor text COLLATE pg_catalog."C",
    acted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT jobs_actor_check CHECK (((actor IS NULL) = (acted_at IS NULL))),
    CONSTRAINT jobs_again_check CHECK (((again IS NULL) OR (state = 'claimed'::text))),
    CONSTRAINT jobs_attempt_check CHECK ((((attempt >= 0) AND (attempt <= max_attempts)) AND ((max_attempts >= 1) AND (max_attempts <= 100)))),
    CONSTRAINT jobs_finished_check CHECK (((state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text])) = (finished_at IS NOT NULL))),
    CONSTRAINT jobs_issue_check CHECK (((issue_number IS NULL) OR (repo_id IS NOT NULL))),
    CONSTRAINT jobs_lease_check CHECK ((((state = 'claimed'::text) = (lease_token IS NOT NULL)) AND ((state = 'claimed'::text) = (claimed_by IS NOT NULL)) AND ((state = 'claimed'::text) = (lease_expires_at IS NOT NULL)))),
    CONSTRAINT jobs_priority_check CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT jobs_run_at_check CHECK (((run_at >= '0002-01-01 05:41:16+05:41:16'::timestamp with time zone) AND (run_at <= '10000-01-01 05:44:59.999999+05:45'::timestamp with time zone))),
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'claimed'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT jobs_waiting_check CHECK (((waiting_for IS NULL) OR (state = 'pending'::text))),
    CONSTRAINT jobs_waiting_for_check CHECK (((waiting_for IS NULL) OR (waiting_for = ANY (ARRAY['slot'::text, 'dependency'::text, 'connection'::text]))))
)
WITH (fillfactor='85');


--
-- Name: leases; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.leases (
    name text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    term bigint NOT NULL,
    taken_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT leases_term_check CHECK ((term >= 1))
)
WITH (fillfactor='85');


--
-- Name: login_links; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.login_links (
    hash text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    scopes json NOT NULL,
    session_seconds bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);


--
-- Name: meta; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.meta (
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: owners; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.owners (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL
);


--
-- Name: proposal_transitions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.proposal_transitions (
    owner_id text NOT NULL COLLATE pg_catalog."C",
    proposal_id text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    from_state text COLLATE pg_catalog."C",
    to_state text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL COLLATE pg_catalog."C",
    entered_at timestamp with time zone NOT NULL,
    CONSTRAINT proposal_transitions_from_check CHECK (((from_state IS NULL) OR (from_state = ANY (ARRAY['open'::text, 'merged'::text, 'closed'::text])))),
    CONSTRAINT proposal_transitions_to_check CHECK ((to_state = ANY (ARRAY['open'::text, 'merged'::text, 'closed'::text])))
);


--
-- Name: proposals; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.proposals (
    id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    repo_id text NOT NULL COLLATE pg_catalog."C",
    stream text NOT NULL COLLATE pg_catalog."C",
    head text NOT NULL COLLATE pg_catalog."C",
    base text COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    body text COLLATE pg_catalog."C",
    author text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    url text COLLATE pg_catalog."C",
    run_id text COLLATE pg_catalog."C",
    version bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    CONSTRAINT proposals_closed_check CHECK (((state = 'open'::text) = (closed_at IS NULL))),
    CONSTRAINT proposals_state_check CHECK ((state = ANY (ARRAY['open'::text, 'merged'::text, 'closed'::text]))),
    CONSTRAINT proposals_version_check CHECK ((version >= 1))
);


--
-- Name: repos; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.repos (
    id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    forge text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    default_stream text COLLATE pg_catalog."C",
    labels_synced_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT repos_forge_check CHECK ((forge = ANY (ARRAY['github'::text, 'gitea'::text, 'forgejo'::text, 'gitlab'::text])))
);


--
-- Name: runs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.runs (
    id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    connection_id text COLLATE pg_catalog."C",
    job_id text COLLATE pg_catalog."C",
    external_run_id text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    attempt bigint,
    worker text COLLATE pg_catalog."C",
    token_hash text COLLATE pg_catalog."C",
    generation bigint,
    terminal_reason text COLLATE pg_catalog."C",
    error json,
    facts json,
    progress json,
    scheduler_managed boolean NOT NULL,
    origin text NOT NULL COLLATE pg_catalog."C",
    event_seq bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone NOT NULL,
    completed_at timestamp with time zone,
    CONSTRAINT runs_completed_check CHECK (((status = 'running'::text) = (completed_at IS NULL))),
    CONSTRAINT runs_kind_check CHECK ((kind = ANY (ARRAY['job'::text, 'scheduled'::text, 'manual'::text, 'browser'::text, 'webhook'::text]))),
    CONSTRAINT runs_origin_check CHECK ((origin = ANY (ARRAY['live'::text, 'backfill'::text, 'import'::text]))),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'succeeded'::text, 'succeeded_with_gaps'::text, 'failed'::text, 'cancelled'::text, 'abandoned'::text, 'skipped'::text])))
)
WITH (fillfactor='85');


--
-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_migrations (
    version text NOT NULL,
    checksum text
);


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tokens (
    id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    scopes json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    kind text DEFAULT 'bearer'::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT tokens_kind_check CHECK ((kind = ANY (ARRAY['bearer'::text, 'session'::text])))
);


--
-- Name: workers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.workers (
    owner_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL
)
WITH (fillfactor='85');


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency_keys VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'tok', 'POST /v1/jobs', 'k', 'f', 201, '{"kept":true}', '2026-03-04 10:51:07.890123+05:45', '', NULL);


--
-- Data for Name: job_kinds; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.job_kinds VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'implement', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.job_kinds VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'review', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.job_kinds VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'discover', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.job_kinds VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'sync', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.jobs VALUES ('job_01a22960-d153-75d3-8bf9-afcc67834b71', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'implement', 'pending', NULL, 'issue:github:github.com/acme/widget#7', 'repo_01a22960-d140-7481-9c02-e3a16f229b5f', 7, '{}', 3, '2026-03-04 11:51:07.890123+05:45', 0, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22960-d153-75d1-84a7-fdb9db05d355', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'implement', 'pending', NULL, 'key-g', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22960-d153-75d2-85c8-dd97d5adf4b7', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'implement', 'pending', NULL, 'key-h', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22960-d153-75be-b3eb-0b1efc8ec122', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'implement', 'succeeded', NULL, 'key-a', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[1,null]', NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.jobs VALUES ('job_01a22960-d153-75c6-a77a-a2c3dda5833b', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'implement', 'failed', NULL, 'key-b', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"code":"broken","message":"x"}', NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.jobs VALUES ('job_01a22960-d153-75c9-a857-de39c2d6fd9a', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'implement', 'pending', NULL, 'key-d', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22960-d153-75cb-aea3-86cb82e69a41', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'implement', 'claimed', NULL, 'key-e', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, '7NXEQIJBPIARAIDQ5GX5NJL24K.job_01a22960-d153-75cb-aea3-86cb82e69a41', 'w', '2026-03-04 10:52:07.890123+05:45', NULL, NULL, NULL, NULL, '{"done":1}', NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22960-d153-75ce-8aac-58ba8ee1570e', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'implement', 'claimed', NULL, 'key-f', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, '7NXEQIJBPIARAIDQ5GX5NJL24K.job_01a22960-d153-75ce-8aac-58ba8ee1570e', 'w', '2026-03-04 10:52:07.890123+05:45', '{"payload":{"n":9007199254740993,"s":"ü"},"priority":3,"run_at":null,"max_attempts":1,"traceparent":null}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a22960-d153-75c7-8982-d256b588c909', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'implement', 'cancelled', NULL, 'key-c', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:52:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'kept', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: leases; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.leases VALUES ('run-reaper', 'kept', 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:52:07.890123+05:45');


--
-- Data for Name: login_links; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.login_links VALUES ('b4d3215fa0494ba7db786527a8c3c2795cb0a9af09608382f2c421386dbad7db', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'kept', '["jobs:read"]', 3600, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 11:01:07.890123+05:45', NULL);
INSERT INTO public.login_links VALUES ('e366fba1cfb9ae0d08b9fb8c6711565b2060d4ed61782362f19fdd309bb86ccc', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'kept', '["jobs:read"]', 3600, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 11:01:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: meta; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.meta VALUES ('kept', 'yes');


--
-- Data for Name: owners; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.owners VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'keeper', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: proposal_transitions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.proposal_transitions VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'prop_01a22960-d1ee-721e-a27b-9106fae04d5a', 1, NULL, 'open', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'prop_01a22960-d205-7313-a4ff-74d12bf40d29', 1, NULL, 'open', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'prop_01a22960-d205-7313-a4ff-74d12bf40d29', 2, 'open', 'merged', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'prop_01a22960-d213-7477-b4d8-c0a385d1acbd', 1, NULL, 'open', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'prop_01a22960-d213-7477-b4d8-c0a385d1acbd', 2, 'open', 'closed', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'prop_01a22960-d215-7ec0-ad9f-4b044f69eded', 1, NULL, 'open', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'prop_01a22960-d215-7ec0-ad9f-4b044f69eded', 2, 'open', 'closed', 'kept', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposal_transitions VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'prop_01a22960-d215-7ec0-ad9f-4b044f69eded', 3, 'closed', 'open', 'kept', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: proposals; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.proposals VALUES ('prop_01a22960-d1ee-721e-a27b-9106fae04d5a', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'repo_01a22960-d1e9-7656-8ac8-d084fbc7ec7d', 'main', 'fix-a', '4f2a', 'Mend <the> roof ü', 'It leaked.', 'ada', 'open', 'https://example.org/7', 'run_01a22960-d1a5-723f-9f03-b0e75e00739b', 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.proposals VALUES ('prop_01a22960-d205-7313-a4ff-74d12bf40d29', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'repo_01a22960-d1e9-7656-8ac8-d084fbc7ec7d', 'main', 'fix-b', '4f2a', 'Mend <the> roof ü', 'It leaked.', 'ada', 'merged', 'https://example.org/7', 'run_01a22960-d1a5-723f-9f03-b0e75e00739b', 2, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposals VALUES ('prop_01a22960-d213-7477-b4d8-c0a385d1acbd', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'repo_01a22960-d1e9-7656-8ac8-d084fbc7ec7d', 'main', 'fix-c', '4f2a', 'Mend <the> roof ü', 'It leaked.', 'ada', 'closed', 'https://example.org/7', 'run_01a22960-d1a5-723f-9f03-b0e75e00739b', 2, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.proposals VALUES ('prop_01a22960-d215-7ec0-ad9f-4b044f69eded', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'repo_01a22960-d1e9-7656-8ac8-d084fbc7ec7d', 'main', 'fix-d', '4f2a', 'Mend <the> roof ü', 'It leaked.', 'ada', 'open', 'https://example.org/7', 'run_01a22960-d1a5-723f-9f03-b0e75e00739b', 3, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);


--
-- Data for Name: repos; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repos VALUES ('repo_01a22960-d140-7481-9c02-e3a16f229b5f', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'github', 'github.com', 'Acme', 'Widget', NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.repos VALUES ('repo_01a22960-d1e9-7656-8ac8-d084fbc7ec7d', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'gitea', 'git.example.org', 'Acme', 'Site', 'main', NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: runs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.runs VALUES ('run_01a22960-d1a5-7259-8930-365f007777e8', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'job', NULL, 'job_01a22960-d153-75cb-aea3-86cb82e69a41', NULL, 'running', 1, 'w', 'b17cf80c0539f427e76bdd8b4803299097c5e654156d8a10190cb1c237eb320b', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a22960-d1a5-725b-a6c9-93c3a08b39af', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'job', NULL, 'job_01a22960-d153-75ce-8aac-58ba8ee1570e', NULL, 'running', 1, 'w', '5b8f57b008770976fcadefb02b6af160cd7e8abfcd60b99bb188438515f8ac4b', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a22960-d1a5-723f-9f03-b0e75e00739b', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'job', NULL, 'job_01a22960-d153-75be-b3eb-0b1efc8ec122', NULL, 'succeeded', 1, 'w', 'e77d80e71c0e9c4279aafb6248902af69ca0d8e42927e2848e9b497e12531ce6', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.runs VALUES ('run_01a22960-d1a5-7253-a7b1-af2074056d1e', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'job', NULL, 'job_01a22960-d153-75c6-a77a-a2c3dda5833b', NULL, 'failed', 1, 'w', 'cbbc6274da7dcfdc09c3ad0178e1a26283ea59efe065ee51bb1c96040dc57909', NULL, NULL, '{"code":"broken","message":"x"}', NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.runs VALUES ('run_01a22960-d1a5-7256-95ed-3d8765e532ce', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'job', NULL, 'job_01a22960-d153-75c7-8982-d256b588c909', NULL, 'cancelled', 1, 'w', 'a26a5d901a750e5b7c2abe47c7029b42ef79541fda064bdbcc1319ad357a7b23', NULL, 'snoozed', NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.runs VALUES ('run_01a22960-d1a5-7258-9804-7a0f37bd1f39', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'job', NULL, 'job_01a22960-d153-75c9-a857-de39c2d6fd9a', NULL, 'cancelled', 1, 'w', 'd32420fb05c06de43ba6fd0be3b186e2809115b6ed65bc6097d84cf03d3b3a85', NULL, 'released', NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_migrations VALUES ('0001', 'f6de591855b0d3a3c5e7a143f9b8019d60f86897d38685c495b087f87a7e396d');
INSERT INTO public.schema_migrations VALUES ('0002', '30accdf7da6d35c53cf47258e438bc7e990fdaf5ab793087bdb9c8271186bd61');
INSERT INTO public.schema_migrations VALUES ('0003', '451a47537c910f308f872dae62d9952f4ff1aaa2467562de4138117590554bd2');
INSERT INTO public.schema_migrations VALUES ('0004', '94f169902a501436a3a5d7a7531ff41306fe539e22689cc16ad2cac1b5f3a0d1');
INSERT INTO public.schema_migrations VALUES ('0005', '8a6a05246873d464d4e97d4c53124cf9674a8cf7950314e0d88864026c1a2546');
INSERT INTO public.schema_migrations VALUES ('0006', 'b3f5e4c8c0e8618d8a2b7c41c3d6f97f29429b5bd88ad41cca3b94403be38b73');
INSERT INTO public.schema_migrations VALUES ('0007', 'c8f7c1cd9476366738d49bedf84bdb0725c1ff117783b100916db8134a6e4176');


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens VALUES ('tok_01a22960-d104-772f-83fd-64be31baf4d2', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'kept', '67966b444e75839e4e733e168c870d4546ed8b3bea086887969cf246fc79e2ad', '["admin"]', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 11:51:07.890123+05:45', NULL, NULL, 'bearer');
INSERT INTO public.tokens VALUES ('tok_01a22960-d22e-797c-829a-8013a9728bb6', 'own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'kept', 'c635404570e7ff62ea157e3a976d7b97c0e798d523c43b3d0fc75b033a1fbe4a', '["jobs:read"]', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 11:51:07.890123+05:45', NULL, NULL, 'session');


--
-- Data for Name: workers; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.workers VALUES ('own_01a22960-d0c5-7bb7-a6be-897694d347a3', 'w', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Name: idempotency_keys idempotency_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (owner_id, principal, route, key);


--
-- Name: job_kinds job_kinds_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_kinds
    ADD CONSTRAINT job_kinds_pkey PRIMARY KEY (owner_id, name);


--
-- Name: jobs jobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);


--
-- Name: leases leases_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (name);


--
-- Name: login_links login_links_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_links
    ADD CONSTRAINT login_links_pkey PRIMARY KEY (hash);


--
-- Name: meta meta_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (key);


--
-- Name: owners owners_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.owners
    ADD CONSTRAINT owners_name_key UNIQUE (name);


--
-- Name: owners owners_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.owners
    ADD CONSTRAINT owners_pkey PRIMARY KEY (id);


--
-- Name: proposal_transitions proposal_transitions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposal_transitions
    ADD CONSTRAINT proposal_transitions_pkey PRIMARY KEY (owner_id, proposal_id, version);


--
-- Name: proposals proposals_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT proposals_pkey PRIMARY KEY (id);


--
-- Name: repos repos_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repos
    ADD CONSTRAINT repos_pkey PRIMARY KEY (id);


--
-- Name: runs runs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);


--
-- Name: tokens tokens_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_hash_key UNIQUE (hash);


--
-- Name: tokens tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);


--
-- Name: workers workers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (owner_id, name);


--
-- Name: idempotency_keys_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_keys_by_created ON public.idempotency_keys USING btree (created_at);


--
-- Name: jobs_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_by_created ON public.jobs USING btree (owner_id, created_at, id);


--
-- Name: jobs_by_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_by_key ON public.jobs USING btree (owner_id, key, created_at, id) WHERE (key IS NOT NULL);


--
-- Name: jobs_by_state; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_by_state ON public.jobs USING btree (owner_id, state, created_at, id);


--
-- Name: jobs_claim; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_claim ON public.jobs USING btree (owner_id, kind, priority, run_at, id) WHERE (COALESCE(waiting_for, state) = 'pending'::text);


--
-- Name: jobs_claimed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_claimed ON public.jobs USING btree (id) WHERE (state = 'claimed'::text);


--
-- Name: jobs_live_key; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX jobs_live_key ON public.jobs USING btree (owner_id, key) WHERE (finished_at IS NULL);


--
-- Name: login_links_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX login_links_by_expiry ON public.login_links USING btree (expires_at);


--
-- Name: proposals_by_author_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX proposals_by_author_created ON public.proposals USING btree (repo_id, author, created_at DESC, id DESC) INCLUDE (state, stream);


--
-- Name: proposals_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX proposals_by_created ON public.proposals USING btree (repo_id, created_at DESC, id DESC);


--
-- Name: proposals_by_state_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX proposals_by_state_created ON public.proposals USING btree (repo_id, state, created_at DESC, id DESC);


--
-- Name: proposals_by_state_stream_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX proposals_by_state_stream_created ON public.proposals USING btree (repo_id, state, stream, created_at DESC, id DESC);


--
-- Name: proposals_by_stream_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX proposals_by_stream_created ON public.proposals USING btree (repo_id, stream, created_at DESC, id DESC);


--
-- Name: proposals_open_head; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX proposals_open_head ON public.proposals USING btree (repo_id, stream, head) WHERE (closed_at IS NULL);


--
-- Name: repos_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX repos_by_created ON public.repos USING btree (owner_id, created_at, id);


--
-- Name: repos_by_name; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX repos_by_name ON public.repos USING btree (owner_id, lower(((namespace || '/'::text) || name)), created_at, id);


--
-- Name: repos_identity; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX repos_identity ON public.repos USING btree (owner_id, forge, host, lower(namespace), lower(name));


--
-- Name: runs_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_by_created ON public.runs USING btree (owner_id, created_at, id);


--
-- Name: runs_by_job; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_by_job ON public.runs USING btree (owner_id, job_id, created_at, id) WHERE (job_id IS NOT NULL);


--
-- Name: runs_by_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX runs_by_status ON public.runs USING btree (owner_id, status, created_at, id);


--
-- Name: runs_external; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX runs_external ON public.runs USING btree (connection_id, external_run_id) WHERE (external_run_id IS NOT NULL);


--
-- Name: runs_running_job; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX runs_running_job ON public.runs USING btree (owner_id, job_id) WHERE ((status = 'running'::text) AND (job_id IS NOT NULL));


--
-- Name: tokens_by_created; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_by_created ON public.tokens USING btree (owner_id, created_at, id);


--
-- Name: tokens_sessions_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tokens_sessions_by_expiry ON public.tokens USING btree (expires_at) WHERE (kind = 'session'::text);


--
-- Name: workers_by_seen; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX workers_by_seen ON public.workers USING btree (last_seen_at);


--
-- Name: idempotency_keys idempotency_keys_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: job_kinds job_kinds_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_kinds
    ADD CONSTRAINT job_kinds_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: jobs jobs_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: jobs jobs_repo_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES public.repos(id);


--
-- Name: login_links login_links_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.login_links
    ADD CONSTRAINT login_links_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: proposal_transitions proposal_transitions_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposal_transitions
    ADD CONSTRAINT proposal_transitions_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: proposal_transitions proposal_transitions_proposal_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposal_transitions
    ADD CONSTRAINT proposal_transitions_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES public.proposals(id);


--
-- Name: proposals proposals_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT proposals_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: proposals proposals_repo_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT proposals_repo_id_fkey FOREIGN KEY (repo_id) REFERENCES public.repos(id);


--
-- Name: repos repos_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.repos
    ADD CONSTRAINT repos_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: runs runs_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: tokens tokens_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
-- Name: workers workers_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.owners(id);


--
--


