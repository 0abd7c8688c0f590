package web

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
)

const keyHeader = "Idempotency-Key"

// idempotencyKey is the request's key in its scope; nil without the header.
// checkHeaders has seen to it that it is a key.
func (s *request) idempotencyKey(op Op) (*control.Key, error) {
	sent := s.header.Values(keyHeader)
	if len(sent) == 0 {
		return nil, nil
	}
	if op.NoIdempotency {
		return nil, fault.IdempotencyUnsupported()
	}
	return &control.Key{
		OwnerID:     s.principal.OwnerID,
		Principal:   s.principal.TokenID,
		Route:       op.Method + " " + op.Path,
		Key:         sent[0],
		Fingerprint: s.fingerprint(),
		IfMatch:     strings.Join(s.header.Values("If-Match"), ", "),
	}, nil
}

func badKey(sent []string) string {
	switch {
	case len(sent) > 1:
		return "the header is given more than once"
	case sent[0] == "" || len(sent[0]) > 255 || !visible(sent[0]):
		return "expected 1 to 255 visible ASCII characters"
	}
	return ""
}

// fingerprint stands for path, query and body, each with its length, so that
// no two requests run into each other. If-Match, the one header that decides
// over the effect, stands beside it in the Key.
func (s *request) fingerprint() string {
	path, query, _ := strings.Cut(s.url, "?")
	h := sha256.New()
	for _, part := range [][]byte{[]byte(path), []byte(query), s.body} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
