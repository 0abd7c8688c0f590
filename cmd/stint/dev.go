package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/store"
)

func devCmd(g *globals) *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a server with demo data on a temporary file, removed at exit",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g.useAsyncOutputs(cmd.Root())
			return dev(cmd, g, addr)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8480", "address of the API; a free port if this one is taken")
	return cmd
}

func dev(cmd *cobra.Command, g *globals, addr string) error {
	dir, err := os.MkdirTemp("", "stint-dev-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) && !cmd.Flags().Changed("addr") {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return fmt.Errorf("listen for the API: %w", err)
	}
	level := slog.LevelWarn
	if g.verbose {
		level = slog.LevelInfo
	}
	in, err := startInner(cmd.Context(), l, store.Config{URL: "sqlite:" + filepath.Join(dir, "stint.db")}, cmd.ErrOrStderr(), level)
	if err != nil {
		return err
	}
	defer in.stop()
	token := filepath.Join(dir, "stint.db.token")
	text, err := os.ReadFile(token)
	if err != nil {
		return err
	}
	c, err := api.New(in.url, strings.TrimSpace(string(text)), version(), nil)
	if err != nil {
		return err
	}
	if err := demo(cmd.Context(), c); err != nil {
		return fmt.Errorf("make the demo data: %w", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "server      %s (API page: %s/docs)\ntoken file  %s\n\n"+
		"  stint --server %s --token-file %s job list\n\nCtrl-C ends it and removes everything.\n", in.url, in.url, token, in.url, token)
	return in.wait()
}

// inner is a server within this process.
type inner struct {
	url    string
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
}

// startInner starts a server on l and returns when it is ready. It logs from
// then on: that it is not ready at first is no news.
func startInner(ctx context.Context, l net.Listener, c store.Config, w io.Writer, level slog.Level) (*inner, error) {
	var from slog.LevelVar
	from.Set(math.MaxInt)
	log := slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: &from}))
	c.Serve = true
	s, err := store.Open(ctx, c)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	in := &inner{url: "http://" + l.Addr().String(), cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(in.ended)
		defer s.Close()
		in.err = server.Run(ctx, server.Config{Version: version(), Log: log, URL: c.URL, Migrate: schema.Auto}, s, server.Listeners{Main: l})
	}()
	if err := in.ready(ctx); err != nil {
		in.stop()
		return nil, errors.Join(err, in.err)
	}
	from.Set(level)
	return in, nil
}

// ready waits until the server is.
func (in *inner) ready(ctx context.Context) error {
	for {
		resp, err := http.Get(in.url + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-in.ended:
			return errors.New("the server did not start")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// wait waits until the server has ended by itself or by its context.
func (in *inner) wait() error {
	<-in.ended
	return in.err
}

func (in *inner) stop() {
	in.cancel()
	<-in.ended
}

// demo brings jobs in every state into the queue.
func demo(ctx context.Context, c *client.Client) error {
	repo := &client.RepoBody{Forge: client.RepoBodyForgeGithub, Namespace: "stint-run", Name: "stint"}
	for i, body := range []client.EnqueueBody{
		{Kind: "review", Key: new("pr-101"), Payload: json.RawMessage(`{"pr":101,"title":"Explain the reaper"}`), Priority: new(int64(1))},
		{Kind: "discover", Key: new("nightly"), Payload: json.RawMessage(`{"since":"yesterday"}`)},
		{Kind: "sync", Key: new("inbox"), Payload: json.RawMessage(`{"folder":"inbox"}`), MaxAttempts: new(int64(1))},
		{Kind: "implement", Repo: repo, IssueNumber: new(int64(7)), Payload: json.RawMessage(`{"goal":"a job list that tells why"}`)},
		{Kind: "implement", Repo: repo, IssueNumber: new(int64(8)), Priority: new(int64(4))},
		{Kind: "review", Key: new("pr-102"), RunAt: new(time.Now().Add(time.Hour).UTC())},
	} {
		job, err := api.Answer[client.Enqueued](c.EnqueueJob(ctx, nil, body))
		if err != nil {
			return err
		}
		if err := demoWork(ctx, c, i, job.Value.Job.Kind); err != nil {
			return err
		}
	}
	return nil
}

// demoWork claims what was enqueued last and ends it: the first succeeds, the
// second goes into backoff, the third fails for good, the fourth stays claimed.
func demoWork(ctx context.Context, c *client.Client, i int, kind string) error {
	if i > 3 {
		return nil
	}
	got, err := api.Answer[client.ClaimAnswer](c.ClaimJobs(ctx, nil, client.ClaimJobsRequest{
		Worker: "demo", Kinds: []string{kind}, LeaseSeconds: new(int64(3600)),
	}))
	if err != nil {
		return err
	}
	if len(got.Value.Jobs) == 0 {
		return errors.New("nothing to claim")
	}
	job := got.Value.Jobs[0]
	switch i {
	case 0:
		_, err = api.Answer[client.Finished](c.CompleteJob(ctx, job.ID, nil, client.CompleteJobRequest{
			LeaseToken: job.LeaseToken, Result: json.RawMessage(`{"verdict":"approve","comments":2}`)}))
	case 1, 2:
		_, err = api.Answer[client.Finished](c.FailJob(ctx, job.ID, nil, client.FailJobRequest{
			LeaseToken: job.LeaseToken, RetryAfterSeconds: new(int64(1800)),
			Error: client.ErrorBody{Code: "exit_1", Message: "the mail server did not answer"}}))
	case 3:
		_, err = api.Answer[client.HeartbeatAnswer](c.HeartbeatJob(ctx, job.ID, nil, client.HeartbeatJobRequest{
			LeaseToken: job.LeaseToken, LeaseSeconds: new(int64(3600)), Progress: json.RawMessage(`{"step":2,"of":5}`)}))
	}
	return err
}
