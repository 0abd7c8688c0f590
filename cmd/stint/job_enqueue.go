package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	stint "github.com/stint-run/stint/client"
	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

// enqueueFlags are the flags of stint job enqueue.
type enqueueFlags struct {
	kind, key, payload, repo string
	issue                    int64
	priority, maxAttempts    int64
	runAt                    string
	in, timeout              time.Duration
	onDuplicate              string
	idempotencyKey           string
	noIdempotencyKey         bool
	from, runID              string
}

func jobEnqueueCmd(g *globals) *cobra.Command {
	f := &enqueueFlags{}
	cmd := &cobra.Command{
		Use:   "enqueue --kind KIND | --from FILE",
		Short: "Enqueue a job, or one job for each line of a file",
		Long: `Enqueue a job. A live job with the same key is met, not doubled.

Every request carries an Idempotency-Key, so that a request whose answer was lost
can be repeated without a second effect; it costs the server one more row for
each request. --no-idempotency-key leaves it out.

With --from each line is a JSON object with the members of the API's enqueue:
kind (default --kind), key, repo, issue_number, payload, priority, run_at,
max_attempts, timeout_seconds, on_duplicate. Lines go in batches of up to 1,000, each batch in
one transaction. A file is checked line by line before anything is sent; standard
input is checked batch by batch. What the server refuses is named by its line.
If a run breaks off, run it again with the --run-id it printed: batches that were
done are answered, not repeated.`,
		Example: `  stint job enqueue --kind review --key pr-17 --payload '{"pr": 17}'
  stint job enqueue --kind audit --from modules.ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.from != "" {
				if cmd.Flags().Changed("timeout") {
					return usagef("--timeout is for one job; each line of a file has its own timeout_seconds")
				}
				return enqueueFile(cmd, g, f)
			}
			return enqueueOne(cmd, g, f)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *enqueueFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.kind, "kind", "", "kind of job")
	flags.StringVar(&f.key, "key", "", "at most one live job has this key")
	flags.StringVar(&f.payload, "payload", "", "any JSON value; @FILE reads it from a file, @- from standard input")
	flags.StringVar(&f.repo, "repo", "", "the repository it is about: FORGE:[HOST/]NAMESPACE/NAME, as in github:stint-run/stint")
	flags.Int64Var(&f.issue, "issue", 0, "with --repo: the issue, which becomes the key")
	flags.Int64Var(&f.priority, "priority", 0, "1 (most urgent) to 4 (default 3)")
	flags.Int64Var(&f.maxAttempts, "max-attempts", 0, "1 to 100 (default the kind's)")
	flags.DurationVar(&f.timeout, "timeout", 0, "time limit of each attempt, 1s to 168h (default the kind's)")
	flags.StringVar(&f.runAt, "run-at", "", "not before this time, RFC 3339")
	flags.DurationVar(&f.in, "in", 0, "not before this long from now")
	flags.StringVar(&f.onDuplicate, "on-duplicate", "", "what a live job with the key becomes: replace (default) or keep")
	flags.StringVar(&f.idempotencyKey, "idempotency-key", "", "instead of a random one")
	flags.BoolVar(&f.noIdempotencyKey, "no-idempotency-key", false, "send none")
	flags.StringVar(&f.from, "from", "", "NDJSON file, a job a line; - is standard input")
	flags.StringVar(&f.runID, "run-id", "", "with --from: the run to continue")
}

func enqueueOne(cmd *cobra.Command, g *globals, f *enqueueFlags) error {
	body, err := f.body(cmd)
	if err != nil {
		return usage(err)
	}
	c, err := g.api()
	if err != nil {
		return err
	}
	params := client.EnqueueJobParams{IdempotencyKey: optional(f.idempotencyKey), Traceparent: optional(os.Getenv("TRACEPARENT"))}
	contentType, r := api.Body(body)
	done, err := api.Answer[client.Enqueued](c.EnqueueJobWithBody(cmd.Context(), &params, contentType, r, f.editors()...))
	if err != nil {
		return err
	}
	return g.printAction(cmd, done.Raw, done.Value.Job.ID, enqueuedWords(done.Value))
}

// editors take the Idempotency-Key away if none is wanted.
func (f *enqueueFlags) editors() []client.RequestEditorFn {
	if f.noIdempotencyKey {
		return []client.RequestEditorFn{stint.WithoutIdempotencyKey}
	}
	return nil
}

func enqueuedWords(e client.Enqueued) string {
	switch {
	case e.Again:
		return fmt.Sprintf("%s is %s; it runs again afterwards", e.Job.ID, e.Job.State)
	case e.Deduplicated:
		return fmt.Sprintf("%s was there already and is %s", e.Job.ID, e.Job.State)
	}
	return "enqueued " + e.Job.ID
}

// body is the job that the flags describe.
func (f *enqueueFlags) body(cmd *cobra.Command) (client.EnqueueBody, error) {
	body := client.EnqueueBody{
		Kind: f.kind, Key: optional(f.key), IssueNumber: optional(f.issue), Priority: optional(f.priority),
		MaxAttempts: optional(f.maxAttempts), OnDuplicate: optional(client.EnqueueBodyOnDuplicate(f.onDuplicate)),
	}
	if f.kind == "" {
		return body, errors.New("--kind is missing")
	}
	var err error
	if body.TimeoutSeconds, err = givenTimeout(cmd, f.timeout); err != nil {
		return body, err
	}
	if body.RunAt, err = f.due(time.Now()); err != nil {
		return body, err
	}
	if body.Repo, err = parseRepo(f.repo); err != nil {
		return body, err
	}
	body.Payload, err = readJSON("--payload", f.payload, cmd.InOrStdin())
	return body, err
}

func (f *enqueueFlags) due(now time.Time) (*time.Time, error) {
	switch {
	case f.runAt != "" && f.in != 0:
		return nil, errors.New("--run-at and --in exclude each other")
	case f.in != 0:
		at := now.Add(f.in).UTC().Truncate(time.Microsecond)
		return &at, nil
	case f.runAt == "":
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, f.runAt)
	if err != nil {
		return nil, fmt.Errorf("--run-at is a time such as 2027-01-31T12:00:00Z, not %q", f.runAt)
	}
	return &at, nil
}

// parseRepo reads FORGE:[HOST/]NAMESPACE/NAME. A namespace may itself have
// slashes on GitLab, so what stands first is the host if it has a dot or colon.
func parseRepo(s string) (*client.RepoBody, error) {
	if s == "" {
		return nil, nil
	}
	forge, path, ok := strings.Cut(s, ":")
	slash := strings.LastIndex(path, "/")
	if !ok || slash < 1 || slash == len(path)-1 {
		return nil, fmt.Errorf("--repo is FORGE:[HOST/]NAMESPACE/NAME, not %q", s)
	}
	repo := &client.RepoBody{Forge: client.RepoBodyForge(forge), Namespace: path[:slash], Name: path[slash+1:]}
	if host, rest, found := strings.Cut(repo.Namespace, "/"); found && strings.ContainsAny(host, ".:") {
		repo.Host, repo.Namespace = &host, rest
	}
	return repo, nil
}

// readJSON is the JSON value of a flag: itself, or what @FILE or @- holds. An
// empty flag is no value.
func readJSON(flag, value string, stdin io.Reader) (json.RawMessage, error) {
	text := []byte(value)
	if path, ok := strings.CutPrefix(value, "@"); ok {
		var err error
		if path == "-" {
			text, err = io.ReadAll(stdin)
		} else {
			text, err = os.ReadFile(path)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", flag, err)
		}
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 && value == "" {
		return nil, nil
	}
	if !json.Valid(text) {
		return nil, fmt.Errorf("%s is not JSON (a text needs quotes, as in '\"text\"')", flag)
	}
	return text, nil
}
