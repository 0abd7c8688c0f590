package control

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"strings"
)

// A secret is a prefix, 160 random bits and the CRC-32 of what stands before
// it, both in base 62. The prefix tells what the secret is for, and lets
// scanners find one that was published by mistake; the checksum lets them, and
// Verify, tell one from a look-alike without asking the database.
const (
	tokenPrefix   = "stint_"
	sessionPrefix = "stint_session_" // what the cookie of a session holds
	linkPrefix    = "stint_login_"   // what a login link ends in

	secretBytes  = 20
	secretDigits = 27 // of base 62, for 160 bits
	checkDigits  = 6  // of base 62, for 32 bits
)

// newSecret is a secret nobody has seen.
func newSecret(prefix string) string {
	var secret [secretBytes]byte
	_, _ = rand.Read(secret[:]) // never fails: it ends the process instead
	body := prefix + base62(new(big.Int).SetBytes(secret[:]), secretDigits)
	return body + checkOf(body)
}

// wellFormed reports whether text is one that newSecret could have made.
func wellFormed(prefix, text string) bool {
	if len(text) != len(prefix)+secretDigits+checkDigits || !strings.HasPrefix(text, prefix) {
		return false
	}
	body, check := text[:len(text)-checkDigits], text[len(text)-checkDigits:]
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

// hashSecret is the form in which a secret is stored and looked up.
func hashSecret(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
