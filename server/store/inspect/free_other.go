//go:build !linux

package inspect

import "errors"

func freeBytes(string) (int64, error) {
	return 0, errors.New("free disk space is not measured on this system")
}
