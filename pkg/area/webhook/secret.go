package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/cloud/seal"
)

// keyBytes is the length of a signing key.
const keyBytes = 32

// Secret is a signing key as it is stored: sealed.
type Secret struct {
	Sealed []byte `json:"sealed"`
	// Until is the end of a secret that a rotation has replaced. It is nil for the current
	// secret.
	Until *time.Time `json:"until,omitempty"`
}

// Secrets are the secrets of one webhook: the current one first, and the one before it
// while a rotation lets both sign.
type Secrets []Secret

// overlap is the time for which the secret before a rotation still signs.
const overlap = 24 * time.Hour

// NewSecret makes a signing key for a webhook. It returns it sealed and in clear.
func NewSecret(ctx context.Context, random io.Reader, envelope *seal.Envelope, to Ref) (Secret, Key, error) {
	k := make(Key, keyBytes)
	if _, err := io.ReadFull(random, k); err != nil {
		return Secret{}, nil, fmt.Errorf("webhook: read randomness: %w", err)
	}
	sealed, err := envelope.Seal(ctx, string(to.Owner.Account), k, to.sealedFor())
	if err != nil {
		return Secret{}, nil, fmt.Errorf("webhook: seal secret: %w", err)
	}
	return Secret{Sealed: sealed}, k, nil
}

// sealedFor is the context that the webhook's keys are sealed for: a secret that is
// copied to another webhook does not open.
func (r Ref) sealedFor() string { return r.Owner.String() + "#" + r.ID }

// Rotate returns the secrets after a new one was made. At most two sign: of those that
// earlier rotations have replaced, only the last one stays.
func (ss Secrets) Rotate(made Secret, now time.Time) Secrets {
	last, until := ss[0], now.Add(overlap).UTC()
	last.Until = &until
	return Secrets{made, last}
}

// Keys returns the keys that sign at the given time.
func (ss Secrets) Keys(ctx context.Context, envelope *seal.Envelope, to Ref, at time.Time) (EndpointKeys, error) {
	var keys EndpointKeys
	for _, s := range ss {
		if s.Until != nil && !at.Before(*s.Until) {
			continue
		}
		k, err := envelope.Open(ctx, string(to.Owner.Account), s.Sealed, to.sealedFor())
		if err != nil {
			return nil, fmt.Errorf("webhook: secret of %s: %w", to.ID, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// Key is a signing key in clear.
type Key []byte

// Reveal returns the key as Standard Webhooks writes it.
func (k Key) Reveal() string { return "whsec_" + base64.StdEncoding.EncodeToString(k) }

// String hides the key from whatever prints it.
func (Key) String() string { return "whsec_…" }

// GoString hides the key from whatever prints it.
func (k Key) GoString() string { return k.String() }

// LogValue hides the key from the log.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// EndpointKeys sign for one webhook.
type EndpointKeys []Key

// Sign returns the header webhook-signature of a message sent at the given time
// (Standard Webhooks 1.0): a signature by each key.
func (ks EndpointKeys) Sign(messageID string, at time.Time, body []byte) string {
	prefix := messageID + "." + Timestamp(at) + "."
	var header strings.Builder
	for i, k := range ks {
		if i > 0 {
			header.WriteByte(' ')
		}
		mac := hmac.New(sha256.New, k)
		mac.Write([]byte(prefix))
		mac.Write(body)
		header.WriteString("v1,")
		header.WriteString(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return header.String()
}

// Timestamp returns a time in the format of the header webhook-timestamp.
func Timestamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
