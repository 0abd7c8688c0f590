package schema

import (
	"errors"
	"net/url"
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
	engine, err := EngineOf(raw)
	switch {
	case err != nil:
		return location{}, err
	case engine == Postgres:
		return locateServer(raw)
	}
	path, err := FilePath(raw)
	if err != nil {
		return location{}, err
	}
	return location{engine: SQLite, path: path}, nil
}

const unreadable = "it cannot be read; write special characters of a password percent-encoded (@ is %40, / is %2F, % is %25)"

func locateServer(raw string) (location, error) {
	u, ok := cutServer(raw)
	if !ok {
		return location{}, badURL(unreadable)
	}
	passwords := u.passwords()
	return location{
		engine: Postgres, raw: raw, server: u.server,
		secret: len(passwords) > 0, secrets: forms(passwords),
	}, nil
}

// forms are the ways in which an error may write the passwords.
func forms(passwords []string) (all []string) {
	for _, s := range passwords {
		plain := decoded(s)
		all = append(all, s, plain, url.QueryEscape(plain), url.PathEscape(plain))
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// hide returns err with every form of the password taken out and on one line.
// The chain stays, so that errors.Is and errors.As see what they saw.
func (l location) hide(err error) error {
	if err == nil {
		return nil
	}
	text := oneLine(err.Error())
	for _, secret := range l.secrets {
		text = strings.ReplaceAll(text, secret, masked)
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

// Hide is err on one line, without any form of a password of the URL.
func Hide(raw string, err error) error {
	at, wrong := locate(raw)
	if wrong != nil {
		return errors.New("the database URL is not valid")
	}
	return at.hide(err)
}
