package schema

import (
	"regexp"
	"strings"
)

// transactionWords start statements that would end the migration's own
// transaction, and with it the promise that all of a file happens or nothing.
// END is not among them: it closes the body of a SQLite trigger.
var transactionWords = []string{"begin", "start", "commit", "rollback", "abort", "savepoint", "release", "vacuum"}

// statements splits SQL at its semicolons and drops comments. It knows as much
// of both dialects as that takes: strings, quoted names, dollar quotes,
// nested block comments.
func statements(sql string) []string {
	var list []string
	var b strings.Builder
	flush := func() {
		if s := strings.TrimSpace(b.String()); s != "" {
			list = append(list, s)
		}
		b.Reset()
	}
	for sql != "" {
		n, kind := token(sql)
		switch kind {
		case comment:
			b.WriteByte(' ')
		case semicolon:
			flush()
		default:
			b.WriteString(sql[:n])
		}
		sql = sql[n:]
	}
	flush()
	return list
}

type tokenKind int

const (
	other tokenKind = iota
	comment
	semicolon
)

var dollarTag = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z0-9_]*)?\$`)

// token returns the length and kind of what sql starts with.
func token(sql string) (int, tokenKind) {
	switch {
	case strings.HasPrefix(sql, "--"):
		return until(sql, 2, "\n"), comment
	case strings.HasPrefix(sql, "/*"):
		return blockComment(sql), comment
	case sql[0] == ';':
		return 1, semicolon
	case sql[0] == '\'' || sql[0] == '"' || sql[0] == '`':
		return until(sql, 1, sql[:1]), other
	case len(sql) > 1 && sql[0]|0x20 == 'e' && sql[1] == '\'':
		return escapeString(sql), other
	case sql[0] == '$':
		if tag := dollarTag.FindString(sql); tag != "" {
			return until(sql, len(tag), tag), other
		}
	}
	return word(sql), other
}

// word takes a whole name, so that the e of "before'" starts no string.
func word(sql string) int {
	n := 0
	for n < len(sql) && (sql[n] == '_' || sql[n] >= 0x80 ||
		'0' <= sql[n] && sql[n] <= '9' || 'a' <= sql[n]|0x20 && sql[n]|0x20 <= 'z') {
		n++
	}
	return max(n, 1)
}

// until returns the index behind the next end at or after from.
func until(sql string, from int, end string) int {
	if i := strings.Index(sql[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(sql)
}

func blockComment(sql string) int {
	depth := 0
	for i := 0; i+1 < len(sql); i++ {
		switch sql[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(sql)
}

func escapeString(sql string) int {
	for i := 2; i < len(sql); i++ {
		switch sql[i] {
		case '\\':
			i++
		case '\'':
			return i + 1
		}
	}
	return len(sql)
}

func firstWord(statement string) string {
	return strings.ToLower(statement[:word(statement)])
}

// concurrentIndex is what a transaction:false migration builds.
type concurrentIndex struct{ name, table string }

const identifier = `(?:[A-Za-z_]\w*|"[^"]+")`

var createConcurrently = regexp.MustCompile(
	`(?is)^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?` +
		`(` + identifier + `)\s+on\s+(?:only\s+)?(` + identifier + `(?:\.` + identifier + `)?)`)

func parseConcurrentIndex(statement string) (concurrentIndex, bool) {
	parts := createConcurrently.FindStringSubmatch(statement)
	if parts == nil || strings.EqualFold(parts[1], "on") {
		return concurrentIndex{}, false
	}
	// An index lies in the schema of its table and is never named with it.
	if i := strings.LastIndexByte(parts[2], '.'); i >= 0 {
		parts[1] = parts[2][:i+1] + parts[1]
	}
	return concurrentIndex{name: parts[1], table: parts[2]}, true
}
