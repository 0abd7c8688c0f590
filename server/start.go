package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/bounded"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// prepareEvery is the pause between two tries to prepare a database that is
// away, or that somebody else has to migrate.
const prepareEvery = 2 * time.Second

// errWaiting is a start that goes on by itself once the database is there.
var errWaiting = errors.New("waiting for the database")

// Prepare does before the listeners open what a start does anyway, so that who
// sees the port finds the token file of an embedded database. A database that
// is not ready yet is left to Run, and so is PostgreSQL.
func Prepare(ctx context.Context, c Config, s *store.Store) error {
	if s.Engine() != store.SQLite {
		return nil
	}
	if _, err := prepare(ctx, c, s); !errors.Is(err, errWaiting) {
		return err
	}
	return nil
}

// prepare brings the database to the schema of this build and returns the key
// that its replicas share. errWaiting means: try again; any other error is one
// that a person has to act on.
func prepare(ctx context.Context, c Config, s *store.Store) ([]byte, error) {
	key, err := prepareOnce(ctx, c, s)
	switch {
	case err == nil:
		return key, nil
	case store.Rejected(err) != nil:
		return nil, fmt.Errorf("the database %s lets nobody in by this role and credentials: %w", store.Redact(c.URL), store.Rejected(err))
	case schema.Code(err) == schema.CodeEncoding, schema.Code(err) == schema.CodeSession:
		return nil, schema.Refusal(err) // without how the connection was made
	case passes(c, err):
		return nil, fmt.Errorf("%w: %w", errWaiting, err)
	}
	return nil, err
}

// passes reports whether an error of the start ends without a person, or without
// one who restarts this server: the database is away, takes no writes, or is
// being made, migrated or restarted by somebody else.
func passes(c Config, err error) bool {
	switch schema.Code(err) {
	case schema.CodeLockLost, schema.CodeStandby, schema.CodeReadOnly:
		return true
	case "":
	default:
		return false
	}
	if store.NoDatabase(err) {
		return c.Migrate == schema.Off
	}
	f, ok := errors.AsType[*fault.Fault](store.Explain(err))
	return ok && f.Status == http.StatusServiceUnavailable
}

func prepareOnce(ctx context.Context, c Config, s *store.Store) ([]byte, error) {
	if s.Engine() == store.Postgres {
		// A database that is not there is the migration's to make.
		if err := s.Ping(ctx); err != nil && !store.NoDatabase(err) {
			return nil, err
		}
	}
	if _, err := schema.Migrate(ctx, schema.Options{URL: c.URL, Mode: c.Migrate, Log: c.Log}); err != nil {
		return nil, err
	}
	gap, err := s.Gap(ctx)
	if err != nil {
		return nil, err
	}
	if len(gap.Pending) > 0 {
		return nil, fault.Unavailable("Migrations are pending: "+strings.Join(gap.Pending, ", ")+".").With("cause", control.CauseSchema)
	}
	if s.Engine() == store.SQLite {
		if err := localToken(ctx, c, s); err != nil {
			return nil, err
		}
	}
	return control.SharedKey(ctx, s, "cursor_key")
}

// maxToken bounds the file of the owner's token, in bytes; one has some 50.
const maxToken = 4 << 10

// localOwner is the owner of an embedded database.
const localOwner = "default"

// localToken sees that the file PATH.token beside an embedded database PATH
// holds an owner token that works, so that nobody on the laptop types one. Who
// can read the file can read the database.
func localToken(ctx context.Context, c Config, s *store.Store) error {
	path, err := store.SQLitePath(c.URL)
	if err != nil {
		return err
	}
	path += ".token"
	text, err := bounded.File(path, maxToken)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the owner token: %w", err)
	}
	if err == nil {
		if ok, err := works(ctx, s, strings.TrimSpace(string(text))); ok || err != nil {
			return err
		}
	}
	token, err := issueLocal(ctx, s)
	if err != nil {
		return fmt.Errorf("issue the owner token: %w", err)
	}
	if err := writePrivate(path, token+"\n"); err != nil {
		return fmt.Errorf("write the owner token: %w", err)
	}
	c.Log.Info("wrote the owner token", "file", path)
	return nil
}

// works reports whether the token is one of this database: the database may
// have been replaced beside its token file. A database that cannot say is an
// error: a good token is not replaced for that.
func works(ctx context.Context, s *store.Store, token string) (bool, error) {
	_, err := control.NewVerifier(s).Verify(ctx, token)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Status == http.StatusUnauthorized {
		return false, nil
	}
	return err == nil, err
}

func issueLocal(ctx context.Context, s *store.Store) (token string, err error) {
	err = s.Tx(ctx, func(q model.Querier) error {
		owner, _, err := control.CreateOwner(ctx, q, s.Now(), localOwner)
		if err != nil {
			return err
		}
		token, _, err = control.Issue(ctx, q, s.Now(), control.TokenIn{
			OwnerID: owner.ID, Name: "local", Scopes: []string{control.ScopeAdmin},
		})
		return err
	})
	return token, err
}

// writePrivate puts a file in place whole, readable by its owner alone.
func writePrivate(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new") // never a file or link that is there
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(0o600), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
