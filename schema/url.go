package schema

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	filePrefix = "sqlite:"
	masked     = "xxxxx"
)

// EngineOf names the engine a database URL means. Its error never repeats the
// URL, which may hold a password.
func EngineOf(raw string) (string, error) {
	switch {
	case strings.HasPrefix(raw, filePrefix):
		return SQLite, nil
	case strings.HasPrefix(raw, "postgres://"), strings.HasPrefix(raw, "postgresql://"):
		return Postgres, nil
	}
	return "", badURL("the database is named by sqlite:PATH or postgres://…")
}

// FilePath is the absolute path of the file that sqlite:PATH (or sqlite://PATH)
// names, links followed: all that use one file call it by one name, beside which
// its log, lock and token stand. The path is taken literally: %, ? and # are
// characters of it.
func FilePath(raw string) (string, error) {
	path, err := filePath(raw)
	if err != nil {
		return "", err
	}
	abs, err := filepath.Abs(followed(path))
	if err != nil {
		return "", fmt.Errorf("find the database %s: %w", path, err)
	}
	return abs, nil
}

// maxLinks is how many links Linux follows in one path.
const maxLinks = 40

// followed is a path without links, also where the last of them leads to a file
// that is yet to be made. What cannot be followed stays: opening it says why.
func followed(path string) string {
	for range maxLinks {
		if there, err := filepath.EvalSymlinks(path); err == nil {
			return there
		}
		dir, name := filepath.Split(path) // unlike Dir it leaves link/.. as it is
		dir, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
		if err != nil {
			return path
		}
		path = filepath.Join(dir, name)
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if path = to; !filepath.IsAbs(to) {
			path = dir + string(filepath.Separator) + to
		}
	}
	return path
}

// filePath is the path as the URL writes it.
func filePath(raw string) (string, error) {
	path, ok := strings.CutPrefix(raw, filePrefix)
	path = strings.TrimPrefix(path, "//")
	switch {
	case !ok:
		return "", badURL("an SQLite database is named by sqlite:PATH")
	case path == "":
		return "", badURL("sqlite: needs a path after it, as in sqlite:stint.db")
	case strings.HasPrefix(path, ":memory:"):
		return "", badURL("sqlite::memory: would be lost at exit and is invisible to a second connection: name a file, or use stint dev")
	case strings.ContainsRune(path, 0):
		return "", badURL("an SQLite path holds no NUL")
	}
	return path, nil
}

// Redact is the database URL with every password in it replaced, fit for logs
// and errors. A URL whose parts cannot be told apart keeps its scheme only.
func Redact(raw string) string {
	if strings.HasPrefix(raw, filePrefix) {
		return raw
	}
	u, ok := cutServer(raw)
	if !ok {
		return u.scheme + "…"
	}
	if user, _, found := strings.Cut(u.user, ":"); found {
		u.user = user + ":" + masked
	}
	for i, pair := range u.query {
		if name, _, _ := strings.Cut(pair, "="); secretParam(name) {
			u.query[i] = name + "=" + masked
		}
	}
	return u.String()
}

// HasPassword reports whether the URL carries a password, in its user part or
// as a parameter. A URL whose parts cannot be told apart counts as carrying one.
func HasPassword(raw string) bool {
	if strings.HasPrefix(raw, filePrefix) {
		return false
	}
	u, ok := cutServer(raw)
	return !ok || slices.ContainsFunc(u.passwords(), func(s string) bool { return s != "" })
}

// HasParam reports whether the URL itself sets a connection parameter.
func HasParam(raw, name string) bool {
	u, _ := cutServer(raw)
	for _, pair := range u.query {
		if key, _, _ := strings.Cut(pair, "="); decoded(key) == name {
			return true
		}
	}
	return false
}

// pgURL is a postgres URL cut where libpq and pgx cut it, nothing decoded.
// net/url is of no use here: it refuses several hosts, cuts elsewhere, and
// repeats its input in errors.
type pgURL struct {
	scheme, user string
	server       string // hosts and database
	query        []string
}

// cutServer cuts raw into its parts. The user part ends at the first @, if that
// comes before a slash. An @ after it is the tail of a password with a raw @ or
// slash in it, and the "host" would be a piece of that password: ok is false.
func cutServer(raw string) (u pgURL, ok bool) {
	engine, err := EngineOf(raw)
	scheme, rest, _ := strings.Cut(raw, "://")
	if err != nil || engine != Postgres {
		return u, false
	}
	u.scheme = scheme + "://"
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		u.user, rest = rest[:i], rest[i+1:]
	}
	server, query, _ := strings.Cut(rest, "?")
	u.server = server
	if query != "" {
		u.query = strings.Split(query, "&")
	}
	return u, !strings.Contains(rest, "@")
}

func (u pgURL) String() string {
	s := u.scheme
	if u.user != "" {
		s += u.user + "@"
	}
	s += u.server
	if len(u.query) > 0 {
		s += "?" + strings.Join(u.query, "&")
	}
	return s
}

// passwords are those of the URL, as it writes them; an empty one, too, where
// one could stand.
func (u pgURL) passwords() (found []string) {
	if _, password, ok := strings.Cut(u.user, ":"); ok {
		found = append(found, password)
	}
	for _, pair := range u.query {
		if name, value, _ := strings.Cut(pair, "="); secretParam(name) {
			found = append(found, value)
		}
	}
	return found
}

func secretParam(name string) bool {
	return strings.Contains(strings.ToLower(decoded(name)), "password")
}

// decoded leaves + as it is, as libpq and the driver do.
func decoded(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}
