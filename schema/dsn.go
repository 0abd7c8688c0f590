package schema

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// location is a database URL, read once. Of its text only what target returns
// is ever printed.
type location struct {
	engine  string
	path    string   // SQLite: the file, links resolved
	raw     string   // PostgreSQL: the URL
	server  string   // PostgreSQL: host and database, as the URL writes them
	secret  bool     // raw holds a password
	secrets []string // every form of every password in raw
}

// target names the database, for logs and errors.
func (l location) target() string {
	if l.engine == SQLite {
		return "sqlite:" + l.path
	}
	return "postgres://" + l.server
}

func badURL(detail string) error {
	return refuse(CodeBadURL, nil, "database URL: %s", detail)
}

// locate reads a database URL. Its errors never quote the text: with an
// unescaped @ : / ? # or % any piece of it may be a piece of the password.
func locate(raw string) (location, error) {
	scheme, rest, _ := strings.Cut(raw, ":")
	switch scheme {
	case "sqlite":
		return locateFile(rest)
	case "postgres", "postgresql":
		return locateServer(raw)
	}
	return location{}, badURL("want sqlite:PATH or postgres://USER@HOST:PORT/NAME")
}

func locateFile(path string) (location, error) {
	path = strings.TrimPrefix(path, "//")
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return location{}, badURL("sqlite: needs the path of a file")
	}
	if strings.ContainsRune(path, 0) {
		return location{}, badURL("the path of the file holds a zero byte")
	}
	return location{engine: SQLite, path: resolved(path)}, nil
}

// resolved follows links, so that two names of one file share one lock. A file
// that is yet to be made has only the links of its folder.
func resolved(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

const unreadable = "it cannot be read; write special characters of a password percent-encoded (@ is %40, / is %2F, % is %25)"

// locateServer cuts the URL where pgx does: the user part ends at the first @,
// if that comes before a slash. An @ after it is the tail of a password with a
// raw @ or slash in it, and the "host" would be a piece of that password.
func locateServer(raw string) (location, error) {
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return location{}, badURL(unreadable)
	}
	var user string
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		user, rest = rest[:i], rest[i+1:]
	}
	if strings.Contains(rest, "@") {
		return location{}, badURL(unreadable)
	}
	server, query, _ := strings.Cut(rest, "?")
	return location{
		engine: Postgres, raw: raw, server: server,
		secret:  strings.Contains(user, ":") || strings.Contains(query, "password"),
		secrets: secrets(user, query),
	}, nil
}

func secrets(user, query string) (forms []string) {
	add := func(s string) {
		plain, err := url.QueryUnescape(s)
		if err != nil {
			plain = s
		}
		for _, form := range []string{s, plain, url.QueryEscape(plain), url.PathEscape(plain)} {
			if form != "" {
				forms = append(forms, form)
			}
		}
	}
	if _, password, ok := strings.Cut(user, ":"); ok {
		add(password)
	}
	for pair := range strings.SplitSeq(query, "&") {
		if key, value, _ := strings.Cut(pair, "="); strings.Contains(key, "password") {
			add(value)
		}
	}
	return forms
}

// hide returns err with every form of the password taken out and on one line.
// The chain stays, so that errors.Is and errors.As see what they saw.
func (l location) hide(err error) error {
	if err == nil {
		return nil
	}
	text := oneLine(err.Error())
	for _, secret := range l.secrets {
		text = strings.ReplaceAll(text, secret, "xxxxx")
	}
	return &hidden{text: text, err: err}
}

// oneLine joins lines, each of them once: a driver that tried an address with
// and without TLS says the same thing twice.
func oneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}

type hidden struct {
	text string
	err  error
}

func (h *hidden) Error() string { return h.text }
func (h *hidden) Unwrap() error { return h.err }
