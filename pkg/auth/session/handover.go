package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/store"
)

// HandoverLifetime is the time within which a command line redeems the code of its key.
const HandoverLifetime = 2 * time.Minute

// handoverPurpose separates the keys that seal handed-over keys from those of other data.
const handoverPurpose = "handover"

// ErrHandover is returned for a code that is unknown, used or expired, and for a wrong verifier.
var ErrHandover = errors.New("session: the code or its verifier is wrong")

// Handover is an API key on its way to a command line (RFC 7636, RFC 8252).
type Handover struct {
	KeyID     string      `json:"key_id"`
	Secret    string      `json:"secret"`
	Mode      tenant.Mode `json:"mode"`
	ExpiresAt time.Time   `json:"expires_at"`
	// By is the id of the person who has made the key, and Account the account. Offer sets them.
	By      string         `json:"by"`
	Account tenant.Account `json:"account"`
}

// sealedHandover is the stored form of a handover.
type sealedHandover struct {
	Challenge string    `json:"challenge"`
	EndsAt    time.Time `json:"ends_at"`
	Sealed    []byte    `json:"sealed"`
}

// Handovers returns the partition of store.Table of the handover with the given hash of its code.
func Handovers(hash string) string { return "handover#" + hash }

// Challenge returns the challenge of a verifier by the method S256.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Offer keeps a key for the command line that knows the verifier of a challenge, and returns the code for it. The
// table has the hash of the code, and the key sealed.
func (s *Store) Offer(ctx context.Context, of Person, h Handover, challenge string) (code string, err error) {
	code = rand.Text() + rand.Text()
	hash := web.HashBearer(code)
	box, err := s.boxFor(ctx, hash, handoverPurpose)
	if err != nil {
		return "", err
	}
	h.By, h.Account = of.ID, of.Account
	text, err := json.Marshal(h)
	if err != nil {
		return "", fmt.Errorf("session: encode handover: %w", err)
	}
	ends := s.now().Add(HandoverLifetime)
	doc, err := json.Marshal(sealedHandover{challenge, ends, box.Seal(text, hash)})
	if err != nil {
		return "", fmt.Errorf("session: encode handover: %w", err)
	}
	tx := &store.Tx{}
	tx.Create(store.Item{Key: store.IDKey(Handovers(hash)), Kind: "handover", Doc: doc,
		Owner: tenant.Of(of.Account, h.Mode), ExpireAt: ends}, nil)
	if err := s.db.Commit(ctx, tx); err != nil {
		return "", fmt.Errorf("session: offer: %w", err)
	}
	return code, nil
}

// Redeem returns the key of a code. The code works once, whatever comes of it.
func (s *Store) Redeem(ctx context.Context, code, verifier string) (h Handover, err error) {
	hash := web.HashBearer(code)
	it, err := s.db.Get(ctx, store.IDKey(Handovers(hash)))
	if errors.Is(err, store.ErrNotFound) {
		return h, ErrHandover
	}
	if err != nil {
		return h, fmt.Errorf("session: redeem: %w", err)
	}
	var kept sealedHandover
	if err := it.Decode(&kept); err != nil {
		return h, err
	}
	tx := &store.Tx{}
	tx.Delete(it)
	switch err := s.db.Commit(ctx, tx); {
	case errors.Is(err, store.ErrConflict):
		return h, ErrHandover
	case err != nil:
		return h, fmt.Errorf("session: redeem: %w", err)
	}
	if !s.now().Before(kept.EndsAt) ||
		subtle.ConstantTimeCompare([]byte(Challenge(verifier)), []byte(kept.Challenge)) != 1 {
		return h, ErrHandover
	}
	box, err := s.boxFor(ctx, hash, handoverPurpose)
	if err != nil {
		return h, err
	}
	text, err := box.Open(kept.Sealed, hash)
	if err != nil {
		return h, fmt.Errorf("session: open handover: %w", err)
	}
	return h, json.Unmarshal(text, &h)
}
