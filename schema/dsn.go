package schema

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
)

// location is a database URL, read once. Nothing of its text but target is
// ever printed.
type location struct {
	engine   string
	path     string   // SQLite: the file, links resolved
	url      *url.URL // PostgreSQL
	postgres string   // PostgreSQL: the URL's text
}

// target names the database without its secrets, for logs and errors.
func (l location) target() string {
	if l.engine == SQLite {
		return "sqlite:" + l.path
	}
	return "postgres://" + l.url.Host + l.url.Path
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

func locateServer(raw string) (location, error) {
	const escape = "it cannot be read; a password's special characters must be percent-encoded (@ is %40, : %3A, / %2F, ? %3F, # %23, % %25)"
	u, err := url.Parse(raw)
	if err != nil {
		return location{}, badURL(escape)
	}
	// An @ behind the host is what is left of a password with a raw slash,
	// question mark or hash: the "host" would be the password's first part.
	if strings.Contains(u.EscapedPath()+u.RawQuery+u.EscapedFragment(), "@") || u.Opaque != "" {
		return location{}, badURL(escape)
	}
	return location{engine: Postgres, url: u, postgres: raw}, nil
}

// hide returns err with every form of the password taken out and on one line.
// The chain stays, so that errors.Is and errors.As see what they saw.
func (l location) hide(err error) error {
	if err == nil {
		return nil
	}
	if _, ours := errors.AsType[*Error](err); ours {
		return err
	}
	text := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool {
		return r == '\n' || r == '\r' || r == '\t'
	}), " ")
	for _, secret := range l.secrets() {
		text = strings.ReplaceAll(text, secret, "xxxxx")
	}
	return &hidden{text: text, err: err}
}

func (l location) secrets() []string {
	if l.url == nil {
		return nil
	}
	var secrets []string
	if password, ok := l.url.User.Password(); ok && password != "" {
		secrets = append(secrets, password, url.QueryEscape(password), url.PathEscape(password))
		_, escaped, _ := strings.Cut(l.url.User.String(), ":")
		secrets = append(secrets, escaped)
	}
	for key, values := range l.url.Query() {
		if strings.Contains(key, "password") {
			for _, v := range values {
				if v != "" {
					secrets = append(secrets, v, url.QueryEscape(v))
				}
			}
		}
	}
	return secrets
}

type hidden struct {
	text string
	err  error
}

func (h *hidden) Error() string { return h.text }
func (h *hidden) Unwrap() error { return h.err }
