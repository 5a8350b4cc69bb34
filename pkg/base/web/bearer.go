package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
)

// NewBearer returns a token of 32 random bytes, and the hash by which it is stored.
func NewBearer(random io.Reader) (token, hash string, err error) {
	b := make([]byte, 32)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", "", fmt.Errorf("bearer: %w", err)
	}
	token = base64.RawURLEncoding.EncodeToString(b)
	return token, HashBearer(token), nil
}

// MatchesBearer reports whether a hash is that of a token. It never is if the hash is empty.
func MatchesBearer(token, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(HashBearer(token)), []byte(hash)) == 1
}

// HashBearer returns the SHA-256 of a token, under which it is stored.
func HashBearer(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
