package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/server/bounded"
	"github.com/stint-run/stint/server/store"
)

// maxToken bounds what is read for a token, in bytes; one has some 50.
const maxToken = 4 << 10

// readToken finds the token: in the file of --token-file, else in STINT_TOKEN, else
// in the file of STINT_TOKEN_FILE, else in the one that a server on SQLite writes
// beside stint.db.
func (g *globals) readToken() error {
	named := g.settings.given("token-file")
	if env := os.Getenv("STINT_TOKEN"); env != "" && g.settings.of("token-file").Source != fromFlag {
		g.token = strings.TrimSpace(env)
		return nil
	}
	file := g.tokenFile
	if path, err := store.SQLitePath(defaultDB); err == nil && !named {
		file = path + ".token" // where a server writes it if stint.db is a link
	}
	text, err := bounded.File(file, maxToken)
	if errors.Is(err, os.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return usage(fmt.Errorf("read the token: %w", err))
	}
	if g.token = strings.TrimSpace(string(text)); g.token == "" {
		g.emptyFile = file
	}
	return nil
}

// api is the client of the server that the flags name.
func (g *globals) api() (*client.Client, error) {
	if g.emptyFile != "" {
		return nil, &exitError{exitUnauthorized, fmt.Errorf("no token: the file %s is empty", g.emptyFile)}
	}
	if g.token == "" {
		return nil, &exitError{exitUnauthorized, errors.New("no token: run where stint serve wrote stint.db.token, name a file with --token-file, or set STINT_TOKEN")}
	}
	roots, err := g.roots()
	if err != nil {
		return nil, err
	}
	c, err := api.New(g.server, g.token, version(), roots)
	if err != nil {
		return nil, usage(err)
	}
	return c, nil
}

// roots are the authorities of --ca-file; nil stands for the system's.
func (g *globals) roots() (*x509.CertPool, error) {
	roots, err := api.Roots(g.caFile)
	if err != nil {
		return nil, usage(fmt.Errorf("--ca-file (STINT_CA_FILE): %w", err))
	}
	return roots, nil
}

// page is a page of any list; its items stay as they came.
type page struct {
	Data       []json.RawMessage `json:"data"`
	HasMore    bool              `json:"has_more"`
	NextCursor *string           `json:"next_cursor"`
}

// maxPage is the largest page the server gives.
const maxPage = 200

// collect follows a list to its end or to limit items (0: all). A page may be
// short while there is more.
func collect(ctx context.Context, limit int64, get func(ctx context.Context, limit *int64, cursor *string) (*http.Response, error)) (page, error) {
	all := page{Data: []json.RawMessage{}}
	for {
		size := int64(maxPage)
		if limit > 0 {
			size = min(size, limit-int64(len(all.Data)))
		}
		got, err := api.Answer[page](get(ctx, &size, all.NextCursor))
		if err != nil {
			return all, err
		}
		all.Data = append(all.Data, got.Value.Data...)
		all.HasMore, all.NextCursor = got.Value.HasMore, got.Value.NextCursor
		if !all.HasMore || limit > 0 && int64(len(all.Data)) >= limit {
			return all, nil
		}
	}
}

// printPages collects a list that get asks for, and prints those columns of it.
func (g *globals) printPages(cmd *cobra.Command, list listFlags, get func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error), columns ...string) error {
	c, err := g.api()
	if err != nil {
		return err
	}
	limit, err := list.max()
	if err != nil {
		return err
	}
	all, err := collect(cmd.Context(), limit, func(ctx context.Context, limit *int64, cursor *string) (*http.Response, error) {
		return get(ctx, c, limit, cursor)
	})
	if err != nil {
		return err
	}
	return g.printList(cmd, all, columns...)
}
