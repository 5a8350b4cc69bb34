package consent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/seal"
)

// statePurpose is the purpose of the keys that sign states.
const statePurpose = "consent-state"

// nonceBytes is the length of the nonce in a state.
const nonceBytes = 16

// The refusals of a state. The record of the subject tells whether a state was used or replaced.
var (
	errForged  = errors.New("consent: the state was not made here")
	errUsed    = errors.New("consent: the state was used or replaced")
	errExpired = errors.New("consent: the state has expired")
)

// state is the parameter state of an authorization. It names the subject, is signed, is used once, and expires.
type state struct {
	subject string
	nonce   []byte
	until   time.Time
}

// hash returns the hash of the nonce, which is stored in place of the nonce.
func (s state) hash() []byte {
	sum := sha256.Sum256(s.nonce)
	return sum[:]
}

// sign returns the state as text: its members and their signature, divided by dots.
func (s state) sign(ctx context.Context, secret seal.Secret) (string, error) {
	keys, err := secret.Keys(ctx, nil, statePurpose)
	if err != nil {
		return "", err
	}
	signed := strings.Join([]string{s.subject, strconv.FormatInt(s.until.Unix(), 36),
		base64.RawURLEncoding.EncodeToString(s.nonce)}, ".")
	return signed + "." + signature(keys[0], signed), nil
}

// readState returns the state of a text, whose subject has an id with the prefix. It returns errForged or errExpired
// for a text that is not valid.
func readState(ctx context.Context, secret seal.Secret, prefix, text string, now time.Time) (s state, err error) {
	keys, err := secret.Keys(ctx, nil, statePurpose)
	if err != nil {
		return s, err
	}
	at := strings.LastIndexByte(text, '.')
	if at < 0 {
		return s, errForged
	}
	signed, good := text[:at], false
	for _, key := range keys {
		good = good || hmac.Equal([]byte(signature(key, signed)), []byte(text[at+1:]))
	}
	parts := strings.Split(signed, ".")
	if !good || len(parts) != 3 || !id.Valid(prefix, parts[0]) {
		return s, errForged
	}
	seconds, err := strconv.ParseInt(parts[1], 36, 64)
	if err != nil {
		return s, errForged
	}
	if s.nonce, err = base64.RawURLEncoding.DecodeString(parts[2]); err != nil {
		return s, errForged
	}
	s.subject, s.until = parts[0], time.Unix(seconds, 0)
	if !now.Before(s.until) {
		return s, errExpired
	}
	return s, nil
}

func signature(key []byte, signed string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(signed))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
