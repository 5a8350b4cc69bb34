package auth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/cloud/seal"
)

// VouchHeader has the sealed Caller.
const VouchHeader = "X-Account-Caller"

// TicketHeader has the ticket of a call that the server for agents makes for a tool.
const TicketHeader = "X-Agent-Ticket"

// Vouched is the browser of a person.
type Vouched struct {
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
func SealVouch(ctx context.Context, secret seal.Secret, personID string, c Vouched) (string, error) {
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
func OpenVouch(ctx context.Context, secret seal.Secret, personID, value string, now time.Time) (c Vouched, err error) {
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
		return Vouched{}, seal.ErrOpen
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
