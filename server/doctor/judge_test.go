package doctor

import (
	"io/fs"
	"testing"

	"github.com/stint-run/stint/server/store/inspect"
)

// What no server of the tests can be: encrypted, remote, old, durable.
func TestServersAreJudgedByTheirSettings(t *testing.T) {
	t.Parallel()
	sound := inspect.Server{
		Version: "15.14", Major: 15, Fsync: true, FullPageWrites: true, SynchronousCommit: "on",
		Autovacuum: true, TrackCounts: true, Available: 97, Address: "192.0.2.1:5432", Encrypted: true,
	}
	for name, tt := range map[string]struct {
		change    func(*inspect.Server)
		id, state string
	}{
		"sound":                 {func(*inspect.Server) {}, "durability", OK},
		"fsync off":             {func(s *inspect.Server) { s.Fsync = false }, "durability", Fail},
		"torn pages":            {func(s *inspect.Server) { s.FullPageWrites = false }, "durability", Fail},
		"commits lost":          {func(s *inspect.Server) { s.SynchronousCommit = "off" }, "durability", Warn},
		"commits local":         {func(s *inspect.Server) { s.SynchronousCommit = "local" }, "durability", OK},
		"supported":             {func(*inspect.Server) {}, "version", OK},
		"too old":               {func(s *inspect.Server) { s.Major = 13 }, "version", Fail},
		"encrypted":             {func(*inspect.Server) {}, "encryption", OK},
		"plain to elsewhere":    {func(s *inspect.Server) { s.Encrypted = false }, "encryption", Warn},
		"plain to this machine": {func(s *inspect.Server) { s.Encrypted, s.Address = false, "[::1]:5432" }, "encryption", OK},
		"a socket":              {func(s *inspect.Server) { s.Encrypted, s.Address = false, "" }, "encryption", OK},
		"nearly full":           {func(s *inspect.Server) { s.InUse = 80 }, "connections", Warn},
		"full":                  {func(s *inspect.Server) { s.InUse = 95 }, "connections", Fail},
		"never vacuumed":        {func(s *inspect.Server) { s.Autovacuum = false }, "autovacuum", Fail},
		"nothing counted":       {func(s *inspect.Server) { s.TrackCounts = false }, "autovacuum", Fail},
		"pool unknown":          {func(*inspect.Server) {}, "pool", Unknown},
	} {
		s, e := sound, &exam{Config: Config{Limits: Defaults}}
		tt.change(&s)
		e.version(s)
		e.encryption(s)
		e.durability(s)
		e.connections(s)
		e.pool(s)
		e.autovacuum(s)
		for _, c := range e.Checks {
			if c.ID == tt.id && c.State != tt.state {
				t.Errorf("%s: %+v, want %s", name, c, tt.state)
			}
		}
	}
}

func TestModesOfFilesAndFolders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mode   fs.FileMode
		folder bool
		want   string
	}{
		{0o600, false, OK}, {0o640, false, Warn}, {0o604, false, Warn}, {0o620, false, Fail}, {0o666 | fs.ModeSticky, false, Fail},
		{0o755, true, OK}, {0o777, true, Fail}, {0o777 | fs.ModeSticky, true, OK}, {0o770, true, Fail},
	} {
		if got := modeState(tt.mode, tt.folder); got != tt.want {
			t.Errorf("%v (folder %v): %s, want %s", tt.mode, tt.folder, got, tt.want)
		}
	}
}
