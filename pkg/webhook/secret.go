package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// secretBytes is the length of a signing secret.
const secretBytes = 32

// secret is a signing secret. It is kept in the webhook's document, which the
// table encrypts, and is shown once.
type secret struct {
	Key []byte `json:"key"`
	// Until is when a secret ends that a rotation has replaced; nil: it is current.
	Until *time.Time `json:"until,omitempty"`
}

func newSecret(random io.Reader) (secret, error) {
	s := secret{Key: make([]byte, secretBytes)}
	if _, err := io.ReadFull(random, s.Key); err != nil {
		return secret{}, fmt.Errorf("webhook: no randomness: %w", err)
	}
	return s, nil
}

// reveal writes the secret as Standard Webhooks has it.
func (s secret) reveal() string { return "whsec_" + base64.StdEncoding.EncodeToString(s.Key) }

// String hides the secret, whatever prints it.
func (secret) String() string { return "whsec_…" }

// GoString hides the secret, whatever prints it.
func (s secret) GoString() string { return s.String() }

// LogValue hides the secret from the log.
func (s secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// secrets are those of one webhook: the current one first, and the one before
// it while a rotation lets both sign.
type secrets []secret

// overlap is how long the secret before a rotation still signs.
const overlap = 24 * time.Hour

// rotate gives the secrets after a new one was made. No more than two sign: of
// those that earlier rotations have replaced, the last one alone lives on.
func (ss secrets) rotate(made secret, now time.Time) secrets {
	last, until := ss[0], now.Add(overlap).UTC()
	last.Until = &until
	return secrets{made, last}
}

// sign gives the header webhook-signature of a message sent at the given time
// (Standard Webhooks 1.0): a signature by each secret that has not ended.
func (ss secrets) sign(messageID string, at time.Time, body []byte) string {
	prefix := messageID + "." + timestamp(at) + "."
	var header strings.Builder
	for _, s := range ss {
		if s.Until != nil && !at.Before(*s.Until) {
			continue
		}
		if header.Len() > 0 {
			header.WriteByte(' ')
		}
		mac := hmac.New(sha256.New, s.Key)
		mac.Write([]byte(prefix))
		mac.Write(body)
		header.WriteString("v1,")
		header.WriteString(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return header.String()
}

// timestamp is a time as the header webhook-timestamp has it.
func timestamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
