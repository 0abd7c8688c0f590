package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/schema"
)

// Scratch makes an empty PostgreSQL database of a new name that begins with
// prefix, on the server of a URL whose role may create databases. It returns
// the URL of the new database, and how to drop it, whoever is still connected.
func Scratch(ctx context.Context, serverURL, prefix string) (scratch string, drop func(context.Context) error, err error) {
	config, err := schema.PoolConfig(serverURL)
	if err != nil {
		return "", nil, err
	}
	schema.RequireWrites(config.ConnConfig, serverURL)
	u, err := url.Parse(serverURL)
	if err != nil {
		return "", nil, errors.New("a scratch database needs a URL with one host")
	}
	name := prefix + strings.ToLower(rand.Text())
	u.Path = "/" + name
	run := func(ctx context.Context, statement string) error {
		conn, err := pgx.ConnectConfig(ctx, config.ConnConfig.Copy())
		if err != nil {
			return schema.ConnectError(err)
		}
		defer conn.Close(context.WithoutCancel(ctx))
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		return nil
	}
	if err := run(ctx, schema.CreateDatabase(name)); err != nil {
		return "", nil, err
	}
	return u.String(), func(ctx context.Context) error {
		return run(ctx, "drop database if exists "+pgx.Identifier{name}.Sanitize()+" with (force)")
	}, nil
}

// Durability is what decides how fast and how safe the commits of a PostgreSQL
// server are: its version and settings.
func Durability(ctx context.Context, url string) (map[string]string, error) {
	config, err := schema.PoolConfig(url)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, schema.ConnectError(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, `select name, current_setting(name) from pg_settings
		where name in ('server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method', 'shared_buffers')`)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		settings[name] = value
		return nil
	})
	return settings, err
}
