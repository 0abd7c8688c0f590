package store

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

const (
	sqlitePrefix = "sqlite:"
	hidden       = "xxxxx"
)

// The engines that Store.Engine names.
const (
	Postgres = "postgres"
	SQLite   = "sqlite"
)

// EngineOf names the engine a database URL means. Its error never repeats the
// URL, which may hold a password.
func EngineOf(raw string) (string, error) {
	switch {
	case strings.HasPrefix(raw, sqlitePrefix):
		return SQLite, nil
	case isPostgres(raw):
		return Postgres, nil
	}
	return "", errors.New("the database is named by sqlite:PATH or postgres://…")
}

func isPostgres(raw string) bool {
	return strings.HasPrefix(raw, "postgres://") || strings.HasPrefix(raw, "postgresql://")
}

// SQLitePath is the absolute path of the file that sqlite:PATH (or sqlite://PATH)
// names. The path is taken literally: %, ? and # are characters of it.
func SQLitePath(raw string) (string, error) {
	path, ok := strings.CutPrefix(raw, sqlitePrefix)
	path = strings.TrimPrefix(path, "//")
	switch {
	case !ok:
		return "", errors.New("an SQLite database is named by sqlite:PATH")
	case path == "":
		return "", errors.New("sqlite: needs a path after it, as in sqlite:stint.db")
	case strings.HasPrefix(path, ":memory:"):
		return "", errors.New("sqlite::memory: would be lost at exit and is invisible to a second connection: name a file, or use stint dev")
	case strings.ContainsRune(path, 0):
		return "", errors.New("an SQLite path holds no NUL")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the database %s: %w", path, err)
	}
	return abs, nil
}

// Redact is the database URL with every password in it replaced, fit for logs
// and errors. A URL whose parts cannot be told apart keeps its scheme only.
func Redact(raw string) string {
	if strings.HasPrefix(raw, sqlitePrefix) {
		return raw
	}
	u, ok := split(raw)
	if !ok {
		return u.scheme + "…"
	}
	if user, _, found := strings.Cut(u.user, ":"); found {
		u.user = user + ":" + hidden
	}
	for i, pair := range u.query {
		if name, _, _ := strings.Cut(pair, "="); secretParam(name) {
			u.query[i] = name + "=" + hidden
		}
	}
	return u.String()
}

// HasPassword reports whether the URL carries a password, in its user part or
// as a parameter. A URL whose parts cannot be told apart counts as carrying one.
func HasPassword(raw string) bool {
	if strings.HasPrefix(raw, sqlitePrefix) {
		return false
	}
	u, ok := split(raw)
	if !ok {
		return true
	}
	if _, password, _ := strings.Cut(u.user, ":"); password != "" {
		return true
	}
	for _, pair := range u.query {
		if name, value, _ := strings.Cut(pair, "="); secretParam(name) && value != "" {
			return true
		}
	}
	return false
}

// param reports whether the URL itself sets a connection parameter.
func param(raw, name string) bool {
	u, _ := split(raw)
	for _, pair := range u.query {
		if key, _, _ := strings.Cut(pair, "="); decoded(key) == name {
			return true
		}
	}
	return false
}

func secretParam(name string) bool {
	switch strings.ToLower(decoded(name)) {
	case "password", "sslpassword":
		return true
	}
	return false
}

func decoded(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// pgURL is a postgres URL cut where libpq cuts it, nothing decoded. net/url is
// of no use here: it refuses several hosts and repeats its input in errors.
type pgURL struct {
	scheme, user, hosts, path string
	query                     []string
}

// split cuts raw into its parts; false if a password could stand anywhere.
func split(raw string) (u pgURL, ok bool) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || !isPostgres(raw) {
		return u, false
	}
	u.scheme = scheme + "://"
	rest, query, _ := strings.Cut(rest, "?")
	if query != "" {
		u.query = strings.Split(query, "&")
	}
	u.hosts = rest
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		u.hosts, u.path = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(u.hosts, '@'); i >= 0 {
		u.user, u.hosts = u.hosts[:i], u.hosts[i+1:]
	}
	// A raw / ? or # in a password moves its tail, and the @, behind the user part.
	stray := strings.Contains(u.path+query, "@") || strings.Contains(raw, "#")
	return u, !stray
}

func (u pgURL) String() string {
	s := u.scheme
	if u.user != "" {
		s += u.user + "@"
	}
	s += u.hosts + u.path
	if len(u.query) > 0 {
		s += "?" + strings.Join(u.query, "&")
	}
	return s
}
