package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// A backup ends with a line that says the SHA-256 of all bytes before it and how
// many they are. sqlite3 and pg_restore know where their own data end, and read
// nothing of it. It is in the file, since a second file is lost easily; and text
// of a fixed length, so that head and sha256sum can do without this build.
const (
	lineBegin = "\nstint-backup sha256 "
	lineEnd   = " bytes stint-backup-end\n"
	lineBytes = 128
)

var wholeLine = regexp.MustCompile(`^` + lineBegin + `([0-9a-f]{64}) of (\d{15})` + lineEnd + `$`)

// checksum is what the last line of a file says. A file of a release before has
// none: sum is "", and body all of it.
type checksum struct {
	body int64
	sum  string
}

// errChanged is a backup whose bytes are not those that were written.
var errChanged = errors.New("the backup is damaged")

// readChecksum reads the last line of a backup. Either end of a line shows that
// there was one, so that a fault within it does not make the file an older one.
func readChecksum(f *os.File) (checksum, error) {
	info, err := f.Stat()
	if err != nil {
		return checksum{}, err
	}
	size := info.Size()
	tail := make([]byte, min(size, 2*lineBytes))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return checksum{}, err
	}
	if found := wholeLine.FindSubmatch(tail[max(0, len(tail)-lineBytes):]); found != nil {
		body, err := strconv.ParseInt(string(found[2]), 10, 64)
		if err == nil && body == size-lineBytes {
			return checksum{body, string(found[1])}, nil
		}
		return checksum{}, fmt.Errorf("%w: it has %d bytes, and its last line says %d", errChanged, size-lineBytes, body)
	}
	text := string(tail)
	if strings.Contains(text, strings.TrimSpace(lineBegin)) || strings.Contains(text, strings.TrimSpace(lineEnd)) {
		return checksum{}, fmt.Errorf("%w: the line with its checksum is not whole", errChanged)
	}
	return checksum{body: size}, nil
}

// compare fails unless the body has this sum; without a checksum nothing is
// known.
func (c checksum) compare(sum string) error {
	if c.sum != "" && sum != c.sum {
		return fmt.Errorf("%w: its SHA-256 is %s, and its last line says %s", errChanged, sum, c.sum)
	}
	return nil
}

// seal writes the checksum of a file behind it.
func seal(ctx context.Context, path string) (sum string, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := sha256.New()
	n, err := io.Copy(hash, &counted{ctx: ctx, r: f})
	if err != nil {
		return "", err
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	if _, err := fmt.Fprintf(f, "%s%s of %015d%s", lineBegin, sum, n, lineEnd); err != nil {
		return "", err
	}
	return sum, f.Sync()
}

// check reads all of a backup and compares it with its checksum.
func check(ctx context.Context, o Options) (checksum, error) {
	f, err := os.Open(o.File)
	if err != nil {
		return checksum{}, err
	}
	defer f.Close()
	c, err := readChecksum(f)
	if err != nil || c.sum == "" {
		return c, err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, &counted{ctx: ctx, r: io.NewSectionReader(f, 0, c.body), o: o, total: c.body}); err != nil {
		return c, err
	}
	return c, c.compare(hex.EncodeToString(hash.Sum(nil)))
}
