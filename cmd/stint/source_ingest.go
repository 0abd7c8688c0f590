package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/ingest"
	"github.com/stint-run/stint/cmd/stint/internal/singer"
	"github.com/stint-run/stint/gen/client"
)

func sourceIngestCmd(g *globals) *cobra.Command {
	f := &sendFlags{}
	tap := false
	cmd := &cobra.Command{
		Use:   "ingest --singer --connection CONNECTION",
		Short: "Take what a Singer tap prints: tap | stint source ingest --singer",
		Long: `Take the messages of a Singer tap from standard input, in a run of the connection.

SCHEMA declares its stream in the connector's manifest, RECORD becomes a record,
and STATE a checkpoint, which is printed to standard output, one line each, when
all that came before it is durable. ACTIVATE_VERSION behind the last record of a
version that the tap sent from its beginning removes the records that it did not
send; when the tap breaks off, none are removed. "stint source checkpoints" prints
the last state, for the tap's --state.

What the server rejects of a record, it keeps apart; the exit code is then 1, as it
is when a line is no message or breaks off in the middle.`,
		Example: `  stint source checkpoints weather >state.json
  tap-weather --config config.json --state state.json |
      stint source ingest --singer --connection weather`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !tap {
				return usagef("--singer is missing; stint source import - sends lines that are Stint's own")
			}
			return ingestTap(cmd, g, f)
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().BoolVar(&tap, "singer", false, "standard input has the messages of a Singer tap")
	return cmd
}

func ingestTap(cmd *cobra.Command, g *globals, f *sendFlags) error {
	s, err := newSending(cmd, g, f)
	if err != nil {
		return err
	}
	d := &connectorSending{sending: s}
	known, err := d.read(cmd.Context())
	if err != nil {
		return err
	}
	ctx, err := s.begin(cmd.Context(), nil)
	if err != nil {
		return err
	}
	target := singer.New(d, cmd.OutOrStdout(), known, func(text string) { s.bar.note("stint: " + text) })
	err = target.Run(ctx, ingest.Lines(ctx, cmd.InOrStdin(), singer.MaxMessage))
	gaps := target.Unfinished()
	if err = s.finish(ctx, err, gaps); err != nil {
		return s.unfinished(err)
	}
	for _, why := range gaps {
		s.bar.note("stint: " + why)
	}
	if err := d.activated(cmd.Context(), target, len(gaps) > 0); err != nil {
		return err
	}
	if g.Output == "table" && !g.quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), s.sum.Words())
	}
	return s.faults()
}

// connectorSending sends lines to a connection, and changes its connector.
type connectorSending struct {
	*sending
	connector string
	manifest  json.RawMessage
	version   string // of the manifest, its ETag
}

// read finds out what the server knows of the connection's streams.
func (d *connectorSending) read(ctx context.Context) (map[string]singer.Known, error) {
	var connection struct {
		ID          string `json:"id"`
		ConnectorID string `json:"connector_id"`
		Streams     []struct {
			Name      string `json:"name"`
			LiveCount int64  `json:"live_count"`
		} `json:"streams"`
	}
	if err := ask(&connection)(d.API.GetConnection(ctx, d.Connection)); err != nil {
		return nil, err
	}
	d.Connection, d.connector = connection.ID, connection.ConnectorID
	var kept checkpoints
	if err := ask(&kept)(d.API.ListCheckpoints(ctx, d.Connection)); err != nil {
		return nil, err
	}
	known := map[string]singer.Known{}
	for _, s := range connection.Streams {
		known[s.Name] = singer.Known{Live: s.LiveCount, Version: singer.VersionOf(kept.of(&s.Name))}
	}
	return known, d.readManifest(ctx, known)
}

// readManifest reads the manifest, and fills in what it declares of the streams.
func (d *connectorSending) readManifest(ctx context.Context, known map[string]singer.Known) error {
	got, err := api.Answer[struct {
		Manifest json.RawMessage `json:"manifest"`
	}](d.API.GetConnector(ctx, d.connector))
	if err != nil {
		return err
	}
	d.manifest, d.version = got.Value.Manifest, got.Header.Get("ETag")
	streams, err := singer.Mutable(d.manifest)
	if err != nil {
		return fmt.Errorf("connector %s: %w", d.connector, err)
	}
	for name, mutable := range streams {
		k := known[name]
		k.Declared, k.Mutable = true, mutable
		known[name] = k
	}
	return nil
}

// ask reads an answer into v.
func ask[T any](v *T) func(*http.Response, error) error {
	return func(resp *http.Response, err error) error {
		got, err := api.Answer[T](resp, err)
		*v = got.Value
		return err
	}
}

// maxMerges bounds how often others may change the manifest while we do.
const maxMerges = 10

// Declare puts a stream into the manifest.
func (d *connectorSending) Declare(ctx context.Context, s singer.Schema) (mutable bool, err error) {
	if err := d.declare(ctx, s); err != nil {
		return false, err
	}
	streams, err := singer.Mutable(d.manifest)
	return streams[s.Stream], err
}

func (d *connectorSending) declare(ctx context.Context, s singer.Schema) error {
	for range maxMerges {
		merged, changed, err := singer.Merge(d.manifest, s)
		if err != nil || !changed {
			return err
		}
		contentType, body := api.Body(map[string]any{"manifest": merged})
		got, err := api.Answer[json.RawMessage](d.API.PutConnectorWithBody(ctx, d.connector, &client.PutConnectorParams{IfMatch: &d.version}, contentType, body))
		switch {
		case err == nil:
			d.manifest, d.version = merged, got.Header.Get("ETag")
			return nil
		case api.Status(err) != http.StatusPreconditionFailed:
			return err
		}
		if err := d.readManifest(ctx, map[string]singer.Known{}); err != nil {
			return err
		}
	}
	return errors.New("others keep changing the manifest")
}

// Refresh begins the full refresh of a stream.
func (d *connectorSending) Refresh(ctx context.Context, stream string) error {
	return d.Run.Refresh(ctx, stream)
}

// activated records which versions are active, after a run that succeeded.
func (d *connectorSending) activated(ctx context.Context, target *singer.Target, gaps bool) error {
	if gaps || d.sum.RejectedCount > 0 {
		return nil
	}
	b := target.Activated()
	if b == nil {
		return nil
	}
	d.Sender.Run = nil // it has ended
	_, err := d.Send(ctx, b)
	return err
}
