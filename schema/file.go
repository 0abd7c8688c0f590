package schema

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/amacneil/dbmate/v2/pkg/dbmate"
)

var fileName = regexp.MustCompile(`^(\d{4})_[a-z][a-z0-9_]*\.sql$`)

// migration is one file that passed the rules.
type migration struct {
	version  string // its number, as schema_migrations stores it
	name     string // the file's name
	path     string // inside the file system
	text     string
	checksum string
	up       string
	index    concurrentIndex // set for a transaction:false file
}

func (m migration) transactional() bool { return m.index.name == "" }

// load reads and checks the migrations of one engine, in order.
func load(fsys fs.FS, engine string) ([]migration, error) {
	entries, err := fs.ReadDir(fsys, engine)
	if err != nil {
		return nil, err
	}
	var known []migration
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".sql") {
			continue
		}
		m, err := read(fsys, engine, e.Name())
		if err != nil {
			return nil, err
		}
		known = append(known, m)
	}
	slices.SortFunc(known, func(a, b migration) int { return cmp.Compare(a.name, b.name) })
	for i := 1; i < len(known); i++ {
		if a, b := known[i-1], known[i]; a.version == b.version {
			return nil, refuse(CodeDuplicate, []string{a.name, b.name},
				"%s and %s have one number: give the newer one the next free number", a.name, b.name)
		}
	}
	return known, nil
}

func read(fsys fs.FS, engine, name string) (migration, error) {
	parts := fileName.FindStringSubmatch(name)
	if parts == nil {
		return migration{}, invalid(name, "its name is not NNNN_name.sql (four digits, lower case, underscores)")
	}
	m := migration{version: parts[1], name: name, path: path.Join(engine, name)}
	data, err := fs.ReadFile(fsys, m.path)
	if err != nil {
		return m, err
	}
	m.text = string(data)
	m.checksum = Checksum(data)
	return m, m.parse(fsys, engine)
}

// Checksum is the SHA-256 of a migration file in lower-case hex, line ends
// aside: CRLF counts as LF.
func Checksum(file []byte) string {
	sum := sha256.Sum256([]byte(strings.ReplaceAll(string(file), "\r\n", "\n")))
	return hex.EncodeToString(sum[:])
}

func (m *migration) parse(fsys fs.FS, engine string) error {
	sections, err := (&dbmate.Migration{FileName: m.name, FilePath: m.path, FS: fsys}).Parse()
	if err != nil {
		return invalid(m.name, err.Error())
	}
	if len(sections) != 1 {
		return invalid(m.name, "it has several up parts, which would be applied one by one: write one file for each")
	}
	m.up = sections[0].Up
	return m.check(engine, sections[0].UpOptions.Transaction())
}

// check holds what makes "one migration, one transaction" true.
func (m *migration) check(engine string, transaction bool) error {
	up := statements(m.up)
	if len(up) == 0 {
		return invalid(m.name, "its up part holds no statement (select 1 is one)")
	}
	for _, s := range up {
		if word := firstWord(s); slices.Contains(transactionWords, word) {
			return invalid(m.name, "it says "+word+": every migration already runs in a transaction of its own")
		}
	}
	if transaction {
		return nil
	}
	index, ok := parseConcurrentIndex(up[0])
	if engine != Postgres || len(up) != 1 || !ok {
		return invalid(m.name, "transaction:false is for a PostgreSQL file with exactly one create index concurrently that names its index")
	}
	m.index = index
	return nil
}

func invalid(name, why string) error {
	return refuse(CodeInvalidFile, []string{name}, "migration %s is refused: %s", name, why)
}
