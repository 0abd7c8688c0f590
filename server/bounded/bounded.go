// Package bounded reads a whole file into memory, up to a bound: a device or a pipe
// without an end is refused.
package bounded

import (
	"fmt"
	"io"
	"os"
)

// File is what a file holds, an error if that is more than most bytes.
func File(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return read(file, path, most)
}

// All is File of what is open already.
func All(r io.Reader, most int64) ([]byte, error) { return read(r, "it", most) }

func read(r io.Reader, name string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, most)
	}
	return text, err
}
