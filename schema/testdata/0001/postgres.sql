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
    revoked_at timestamp with time zone
);


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency_keys VALUES ('own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'tok', 'POST /v1/jobs', 'k', 'f', 201, '{"kept":true}');


--
-- Data for Name: job_kinds; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.job_kinds VALUES ('own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'implement', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.job_kinds VALUES ('own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'review', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.job_kinds VALUES ('own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'discover', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.job_kinds VALUES ('own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'sync', 60, 5, 5, 3600, NULL, NULL, 1, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.jobs VALUES ('job_01a228a7-c1e3-7893-8c78-893610e47d5c', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'implement', 'pending', NULL, 'issue:github:github.com/acme/widget#7', 'repo_01a228a7-c1db-7a85-ad37-036feacb7981', 7, '{}', 3, '2026-03-04 11:51:07.890123+05:45', 0, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a228a7-c1e3-7891-8144-8c088f692cf7', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'implement', 'pending', NULL, 'key-g', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a228a7-c1e3-7892-923e-6ee0453e3323', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'implement', 'pending', NULL, 'key-h', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a228a7-c1e3-787f-b2d8-dfc17829766e', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'implement', 'succeeded', NULL, 'key-a', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[1,null]', NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.jobs VALUES ('job_01a228a7-c1e3-7887-8076-4e817283194b', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'implement', 'failed', NULL, 'key-b', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"code":"broken","message":"x"}', NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.jobs VALUES ('job_01a228a7-c1e3-788d-b018-94b94b8bada8', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'implement', 'pending', NULL, 'key-d', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a228a7-c1e3-788e-aad8-64e1aec7a03d', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'implement', 'claimed', NULL, 'key-e', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, 'CE7NWJTLSRNB3HNCUAE2BW2YJF.job_01a228a7-c1e3-788e-aad8-64e1aec7a03d', 'w', '2026-03-04 10:52:07.890123+05:45', NULL, NULL, NULL, NULL, '{"done":1}', NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a228a7-c1e3-7890-b511-e544df2ab95d', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'implement', 'claimed', NULL, 'key-f', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:51:07.890123+05:45', 1, 1, 'CE7NWJTLSRNB3HNCUAE2BW2YJF.job_01a228a7-c1e3-7890-b511-e544df2ab95d', 'w', '2026-03-04 10:52:07.890123+05:45', '{"payload":{"n":9007199254740993,"s":"ü"},"priority":3,"run_at":null,"max_attempts":1,"traceparent":null}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.jobs VALUES ('job_01a228a7-c1e3-7889-b0d4-8b7aaaabdd94', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'implement', 'cancelled', NULL, 'key-c', NULL, NULL, '{"n":9007199254740993,"s":"ü"}', 3, '2026-03-04 10:52:07.890123+05:45', 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'kept', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: meta; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.meta VALUES ('kept', 'yes');


--
-- Data for Name: owners; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.owners VALUES ('own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'keeper', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: repos; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.repos VALUES ('repo_01a228a7-c1db-7a85-ad37-036feacb7981', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'github', 'github.com', 'Acme', 'Widget', NULL, NULL, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: runs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.runs VALUES ('run_01a228a7-c1f2-7559-b0cb-f49debfa47bb', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'job', NULL, 'job_01a228a7-c1e3-788e-aad8-64e1aec7a03d', NULL, 'running', 1, 'w', 'ccfdfc552a73848884b98d625b70b8fa24139efd4e221de9545e03b6f09bb26e', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a228a7-c1f2-755c-8d16-6c1e74ae3465', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'job', NULL, 'job_01a228a7-c1e3-7890-b511-e544df2ab95d', NULL, 'running', 1, 'w', '5614adbb84eb24162ce294d67766b65518be7f7b0cc14c6de1ff38a5690bf491', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', NULL);
INSERT INTO public.runs VALUES ('run_01a228a7-c1f2-753a-8ad0-2d6404667b80', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'job', NULL, 'job_01a228a7-c1e3-787f-b2d8-dfc17829766e', NULL, 'succeeded', 1, 'w', '6e72c72c15402845f3a315891d9bfca6bc6cfa7dd15e76b74c2709c52634a9d3', NULL, NULL, NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.runs VALUES ('run_01a228a7-c1f2-7552-86a8-54e386ab5e86', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'job', NULL, 'job_01a228a7-c1e3-7887-8076-4e817283194b', NULL, 'failed', 1, 'w', '46f4864d6a61b1f3cf8f040e7b9fa75550db606d687f9a9103952cc6c0b43bf2', NULL, NULL, '{"code":"broken","message":"x"}', NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.runs VALUES ('run_01a228a7-c1f2-7554-90a5-96e86481604b', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'job', NULL, 'job_01a228a7-c1e3-7889-b0d4-8b7aaaabdd94', NULL, 'cancelled', 1, 'w', '17642cc03e597f9a2381f8d19f58853128b02916779684e7b5e4305aa3575fd0', NULL, 'snoozed', NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');
INSERT INTO public.runs VALUES ('run_01a228a7-c1f2-7557-91bf-5b2c92cb9b03', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'job', NULL, 'job_01a228a7-c1e3-788d-b018-94b94b8bada8', NULL, 'cancelled', 1, 'w', '4112e39538503f315df1e48045c506248569a480a71e38397eb94a61f64f36e5', NULL, 'released', NULL, NULL, NULL, false, 'live', 0, '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 10:51:07.890123+05:45');


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.schema_migrations VALUES ('0001', 'f6de591855b0d3a3c5e7a143f9b8019d60f86897d38685c495b087f87a7e396d');


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tokens VALUES ('tok_01a228a7-c1cc-7de5-b321-fdeab4e1adbb', 'own_01a228a7-c1c1-7e65-9c1c-295327b857e7', 'kept', '2e6bd5a838481b41edd5817ef03a92b36ef38cce9daf94e7721bd10db6295b12', '["admin"]', '2026-03-04 10:51:07.890123+05:45', '2026-03-04 11:51:07.890123+05:45', NULL, NULL);


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
--


