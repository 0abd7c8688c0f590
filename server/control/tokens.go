package control

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/big"
	"slices"
	"strings"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
)

// A token is "stint_", 160 random bits and the CRC-32 of what stands before it,
// both in base 62. The prefix lets scanners find a token that was published by
// mistake; the checksum lets them, and Verify, tell one from a look-alike
// without asking the database.
const (
	tokenPrefix   = "stint_"
	secretBytes   = 20
	secretDigits  = 27 // of base 62, for 160 bits
	checkDigits   = 6  // of base 62, for 32 bits
	tokenLength   = len(tokenPrefix) + secretDigits + checkDigits
	tokenNameSize = 255
)

// TokenIn is what a new token may do, and until when.
type TokenIn struct {
	OwnerID   string
	Name      string       // for people; 1 to 255 bytes
	Scopes    []string     // known ones; at least one
	ExpiresAt coltype.Time // zero: never
}

// Issue makes a token and returns its text, which is kept nowhere: the database
// has its SHA-256. An empty or overlong name, no scope, or an expiry that has
// passed is a 422.
func Issue(ctx context.Context, q model.Querier, now coltype.Time, in TokenIn) (string, model.Token, error) {
	if items := in.faults(now); len(items) > 0 {
		return "", model.Token{}, fault.Invalid(items...)
	}
	scopes, err := json.Marshal(slices.Compact(slices.Sorted(slices.Values(in.Scopes))))
	if err != nil {
		return "", model.Token{}, err
	}
	text := newToken()
	row := model.TokenInsertParams{
		ID: id.New("tok"), OwnerID: in.OwnerID, Name: in.Name, Hash: hashToken(text),
		Scopes: scopes, CreatedAt: now, ExpiresAt: in.ExpiresAt,
	}
	if err := q.TokenInsert(ctx, row); err != nil {
		return "", model.Token{}, fmt.Errorf("keep token: %w", err)
	}
	return text, model.Token{
		ID: row.ID, OwnerID: row.OwnerID, Name: row.Name, Hash: row.Hash,
		Scopes: row.Scopes, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt,
	}, nil
}

func (in TokenIn) faults(now coltype.Time) (items []fault.Item) {
	if in.Name == "" || len(in.Name) > tokenNameSize {
		items = append(items, fault.Item{Pointer: "/name", Detail: "must be 1 to 255 bytes"})
	}
	if len(in.Scopes) == 0 {
		items = append(items, fault.Item{Pointer: "/scopes", Detail: "must name at least one scope"})
	}
	if !in.ExpiresAt.IsZero() && !in.ExpiresAt.After(now) {
		items = append(items, fault.Item{Pointer: "/expires_at", Detail: "must lie in the future"})
	}
	return items
}

// newToken is a token nobody has seen.
func newToken() string {
	var secret [secretBytes]byte
	_, _ = rand.Read(secret[:]) // never fails: it ends the process instead
	body := tokenPrefix + base62(new(big.Int).SetBytes(secret[:]), secretDigits)
	return body + checkOf(body)
}

// wellFormed reports whether a token is one that Issue could have made.
func wellFormed(token string) bool {
	if len(token) != tokenLength || !strings.HasPrefix(token, tokenPrefix) {
		return false
	}
	body, check := token[:tokenLength-checkDigits], token[tokenLength-checkDigits:]
	return check == checkOf(body) // the checksum is no secret
}

func checkOf(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	return base62(big.NewInt(int64(sum)), checkDigits)
}

func base62(n *big.Int, digits int) string {
	text := n.Text(62)
	return strings.Repeat("0", digits-len(text)) + text
}

// hashToken is the form in which a token is stored and looked up.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
