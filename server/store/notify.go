package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// MaxNotification is how many bytes PostgreSQL takes in one notification.
const MaxNotification = 7999

const (
	// notifications travel on the channel that lines listen on. Every text is
	// made by a json_array_elements of its own, so one statement sends several.
	notifications = "select pg_notify('stint', t) from json_array_elements_text(cast(cast($1 as text) as json)) t"

	// listening also keeps the server from ending a line because it is idle.
	listening = "listen stint; select set_config(name, '0', false) from pg_settings where name = 'idle_session_timeout'"
)

// errOneProcess is why SQLite has no notifications.
var errOneProcess = errors.New("no other process serves the database")

// Notifies reports whether replicas of the database can tell each other: on
// PostgreSQL. One process alone serves an SQLite file.
func (s *Store) Notifies() bool { return s.engine.notify != nil }

// Notify sends the texts to every Line on the database, those of this process
// included. Each has at most MaxNotification bytes, and none is empty. It is a
// statement of its own, never part of a transaction that changes rows: those
// that notify commit one after the other.
func (s *Store) Notify(ctx context.Context, texts []string) error {
	if !s.Notifies() {
		return errOneProcess
	}
	return Explain(s.engine.notify(ctx, texts))
}

// Listen opens a connection that hears what Notify sends, to Config.ListenURL if
// that is set. It is none of the pool's.
func (s *Store) Listen(ctx context.Context) (*Line, error) {
	if !s.Notifies() {
		return nil, errOneProcess
	}
	line, err := s.engine.listen(ctx)
	return line, Explain(err)
}

// Line is a connection that listens. It is for one goroutine.
type Line struct{ conn *pgx.Conn }

// Next waits for the next text. After an error the line is of no more use.
func (l *Line) Next(ctx context.Context) (string, error) {
	n, err := l.conn.WaitForNotification(ctx)
	if err != nil {
		return "", Explain(fmt.Errorf("wait for a notification: %w", err))
	}
	return n.Payload, nil
}

// closeWait bounds the farewell to a server that may be away.
const closeWait = 500 * time.Millisecond

// Close ends the connection, within half a second.
func (l *Line) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_ = l.conn.Close(ctx) // it is given up either way
}

// lineConfig is how the line connects: as the pool does, to where it is told.
func lineConfig(c Config) (*pgx.ConnConfig, error) {
	if c.ListenURL != "" {
		c.URL = c.ListenURL
	}
	config, err := poolConfig(c)
	if err != nil {
		return nil, err
	}
	return config.ConnConfig, nil
}

// unheard drops notifications that reach a connection of the pool: behind a
// transaction pooler it may use one on which a line began to listen, and nobody
// would ever fetch them.
func unheard(*pgconn.PgConn, *pgconn.Notification) {}

func (p *pg) listen(ctx context.Context) (*Line, error) {
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, p.line.Copy())
	if err != nil {
		return nil, fmt.Errorf("open the listening connection: %w", err)
	}
	line := &Line{conn}
	if _, err := conn.Exec(ctx, listening); err != nil {
		line.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return line, nil
}

// notify runs as a read does, a second time if the first connection turns out
// dead: sent twice is as good as once.
func (p *pg) notify(ctx context.Context, texts []string) error {
	list, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	_, err = pgReads{p}.Exec(Uncounted(ctx), notifications, string(list))
	return err
}
