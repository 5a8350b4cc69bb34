package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
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

// VouchHeader has the sealed Caller.
const VouchHeader = "X-Account-Caller"

// TicketHeader has the ticket of a call that the server for agents makes for a tool.
const TicketHeader = "X-Agent-Ticket"

// Browser is the browser of a person.
type Browser struct {
	IP        string    `json:"ip"`
	UserAgent string    `json:"ua"`
	At        time.Time `json:"at"` // of the request
}

const (
	purpose = "caller"
	// lifetime is longer than a request of the account area with all its calls.
	lifetime = 5 * time.Minute
)

// SealVouch returns the value of Header for calls of a person. Only programs with the secret of the system can make it,
// so that an access token alone is not enough to forge an address.
func SealVouch(ctx context.Context, secret seal.Secret, personID string, c Browser) (string, error) {
	box, err := boxOf(ctx, secret)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("vouch: encode: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(box.Seal(text, personID)), nil
}

// OpenVouch returns the Caller of a value that Seal has made for the person within the last five minutes. Its error is
// seal.ErrOpen for any other value.
func OpenVouch(ctx context.Context, secret seal.Secret, personID, value string, now time.Time) (c Browser, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return c, seal.ErrOpen
	}
	box, err := boxOf(ctx, secret)
	if err != nil {
		return c, err
	}
	text, err := box.Open(raw, personID)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("vouch: decode: %w", err)
	}
	if age := now.Sub(c.At); age < -lifetime || age > lifetime {
		return Browser{}, seal.ErrOpen
	}
	return c, nil
}

func boxOf(ctx context.Context, secret seal.Secret) (*seal.Box, error) {
	if secret == nil {
		// Keys of no secret are known to everybody.
		return nil, seal.ErrOpen
	}
	keys, err := secret.Keys(ctx, nil, purpose)
	if err != nil {
		return nil, err
	}
	return seal.New(keys...)
}

// The codes of errors of RFC 6750, 3.1.
const (
	InvalidToken      = "invalid_token"
	InsufficientScope = "insufficient_scope"
)

// Challenge returns a value of the header WWW-Authenticate (RFC 6750, 3). The code is empty if the request had no
// credential. The metadata are the address of those of the resource (RFC 9728, 5.1), or empty where people do not sign
// in. The scopes are those that the request needs.
func Challenge(code, metadata string, scopes ...Scope) string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+`="`+value+`"`)
		}
	}
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	add("error", code)
	add("resource_metadata", metadata)
	add("scope", strings.Join(names, " "))
	if len(parts) == 0 {
		return "Bearer"
	}
	return "Bearer " + strings.Join(parts, ", ")
}

// ChallengeOf returns the value of the header WWW-Authenticate of an answer with a code, or an empty text if it has
// none. The scope is what the caller lacks; a caller without a key may need any.
func ChallengeOf(code errs.Code, metadata string, lacking Scope) string {
	switch {
	case code == errs.MissingAPIKey:
		return Challenge("", metadata, ProgramScopes()...)
	case code == errs.InvalidAPIKey:
		return Challenge(InvalidToken, metadata, ProgramScopes()...)
	case code == errs.InsufficientScope && lacking != "":
		return Challenge(InsufficientScope, metadata, lacking)
	case code == errs.InsufficientScope:
		return Challenge(InsufficientScope, metadata)
	}
	return ""
}

// ProgramScopes are the scopes that programs of others may ask for: all but that of the account itself.
func ProgramScopes() (all []Scope) {
	for _, s := range AllScopes() {
		if s != AccountManage {
			all = append(all, s)
		}
	}
	return all
}
