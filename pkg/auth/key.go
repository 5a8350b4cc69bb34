package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"io"
	"math/big"
	"strings"

	"github.com/content-automation/api/pkg/base/tenant"
)

// An API key has the form svc_<mode>_<secret><checksum>: 32 random bytes in base62, then the CRC32 of everything before
// it, also in base62. The checksum lets secret scanners recognize a key, and a mistyped key be refused without a
// look-up.
const (
	secretBytes    = 32
	secretDigits   = 43 // 62^43 > 2^256
	checksumDigits = 6  // 62^6 > 2^32
)

// PrefixLength is the number of a key's first characters that may be shown.
const PrefixLength = 13

// NewKey makes a key from the given source of randomness.
func NewKey(mode tenant.Mode, random io.Reader) (string, error) {
	b := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", err
	}
	body := "svc_" + string(mode) + "_" + base62(new(big.Int).SetBytes(b), secretDigits)
	return body + checksum(body), nil
}

// ParseKey returns the mode of a well-formed key, and false for everything else.
func ParseKey(key string) (tenant.Mode, bool) {
	rest, ok := strings.CutPrefix(key, "svc_")
	if !ok {
		return "", false
	}
	mode, digits, ok := strings.Cut(rest, "_")
	if !ok || (tenant.Mode(mode) != tenant.Live && tenant.Mode(mode) != tenant.Test) ||
		len(digits) != secretDigits+checksumDigits {
		return "", false
	}
	body := key[:len(key)-checksumDigits]
	return tenant.Mode(mode), checksum(body) == key[len(body):]
}

// Pattern is the regular expression of keys, for searches in texts. A match is a key only if ParseKey accepts it.
const Pattern = `\bsvc_(live|test)_[0-9A-Za-z]{49}\b`

// HashKey returns the SHA-256 of a key in hex. Nothing else of a key is ever stored.
func HashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func checksum(body string) string {
	return base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), checksumDigits)
}

// base62 writes n with the digits 0-9, a-z, A-Z, padded to the given length.
func base62(n *big.Int, length int) string {
	s := n.Text(62)
	return strings.Repeat("0", length-len(s)) + s
}
