package jobs

import (
	"bytes"
	"encoding/json"

	"github.com/stint-run/stint/schema/coltype"
)

// encode is v as JSON text, with no character escaped that need not be: what a
// client sent comes back as it was.
func encode(v any) (coltype.JSON, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return coltype.JSON(bytes.TrimRight(b.Bytes(), "\n")), nil
}
