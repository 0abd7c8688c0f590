package records

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/stint-run/stint/server/fault"
)

// MaxBatch is how large the body of a batch may be, in bytes.
const MaxBatch = 50 << 20

// spool copies a body to a file without a name, which is gone with its last use,
// and tells its SHA-256 in hexadecimal. An error of the body's reader stays as it is.
func spool(body io.Reader) (file *os.File, hash string, err error) {
	file, err = os.CreateTemp("", "stint-batch-*")
	if err != nil {
		return nil, "", noSpool(err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	if err := os.Remove(file.Name()); err != nil {
		return nil, "", noSpool(err)
	}
	sum := sha256.New()
	from := &failing{from: io.LimitReader(body, MaxBatch+1)}
	n, err := io.Copy(io.MultiWriter(sum, file), from)
	switch {
	case from.err != nil:
		return nil, "", from.err
	case err != nil:
		return nil, "", noSpool(err)
	case n > MaxBatch:
		return nil, "", fault.TooLarge(MaxBatch)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, "", noSpool(err)
	}
	return file, hex.EncodeToString(sum.Sum(nil)), nil
}

// noSpool is a disk that does not take a body.
func noSpool(err error) error {
	return fault.Unavailable("The server has no room to keep the batch while it is read.").Because(fmt.Errorf("spool a batch: %w", err))
}

// failing remembers its reader's error, to tell it from a writer's.
type failing struct {
	from io.Reader
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}
