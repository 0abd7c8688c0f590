//go:build nextmigration

package schema

import "github.com/stint-run/stint/schema/next"

func init() {
	extended, err := next.After(files)
	if err != nil {
		panic(err)
	}
	files = extended
}
