package bounded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/bounded"
)

func TestFilesAreReadUpToABound(t *testing.T) {
	t.Parallel()
	full := filepath.Join(t.TempDir(), "full")
	if err := os.WriteFile(full, []byte("1234"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path      string
		most      int64
		want, err string
	}{
		{full, 4, "1234", ""},
		{full, 3, "", full + " is larger than 3 bytes"},
		{"/dev/zero", 1 << 10, "", "/dev/zero is larger than 1024 bytes"},
		{full + "s", 4, "", "no such file"},
	} {
		got, err := bounded.File(tt.path, tt.most)
		if string(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s up to %d: %q, %v", tt.path, tt.most, got, err)
		}
	}
}
