package store

import "github.com/stint-run/stint/schema"

// The engines that Store.Engine names.
const (
	Postgres = schema.Postgres
	SQLite   = schema.SQLite
)

// EngineOf names the engine a database URL means. URLs are read in one place,
// package schema.
func EngineOf(raw string) (string, error) { return schema.EngineOf(raw) }

// SQLitePath is the absolute path of the file that sqlite:PATH names, links
// followed.
func SQLitePath(raw string) (string, error) { return schema.FilePath(raw) }

// Redact is the database URL without its passwords.
func Redact(raw string) string { return schema.Redact(raw) }

// HasPassword reports whether the URL carries a password, or may.
func HasPassword(raw string) bool { return schema.HasPassword(raw) }
