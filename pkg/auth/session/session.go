// Package session stores the sessions of people who are signed in to the account area. The browser has a random token,
// and the table has its hash. The tokens of the issuer are sealed and never reach the browser. Start with Store in
// session.go.
package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/store"
)

// The lifetimes of sessions.
const (
	// Absolute is the time after which a session ends even if it is in use.
	Absolute = 12 * time.Hour
	// Idle is the time without a request after which a session ends.
	Idle = time.Hour
	// Recent is the time after a sign-in for which sensitive changes need no other one.
	Recent = 15 * time.Minute
	// touchEvery bounds the writes of the time of the last request.
	touchEvery = time.Minute
)

// ErrNone is returned if there is no such session, or if it has ended.
var ErrNone = errors.New("session: no such session")

// Person is what a session knows of its person, for its pages. Their rights are looked up by the API at each call.
type Person struct {
	ID      string         `json:"id"`
	Account tenant.Account `json:"account"`
	Name    string         `json:"name"`
	Email   string         `json:"email"`
}

// Session is a signed-in browser.
type Session struct {
	Person
	// AuthTime is the time at which the person last gave the credentials.
	AuthTime time.Time   `json:"auth_time"`
	EndsAt   time.Time   `json:"ends_at"`
	SeenAt   time.Time   `json:"seen_at"`
	Mode     tenant.Mode `json:"mode"`
	// Language is the language of the pages that the person has chosen. If it is empty, the browser's counts.
	Language string `json:"language,omitempty"`
	// Zone is the time zone of planned times that the person has chosen. If it is empty, UTC counts.
	Zone string `json:"zone,omitempty"`
	// ExplorerKey is the id of the key that was made for the explorer. It is revoked at sign-out.
	ExplorerKey string `json:"explorer_key,omitempty"`
	// UserAgent and IP are those of the browser at the sign-in.
	UserAgent string `json:"user_agent,omitempty"`
	IP        string `json:"ip,omitempty"`
	// Tokens is the sealed form of the tokens.
	Tokens []byte `json:"tokens"`
	// TokenEndsAt is the time at which the access token expires.
	TokenEndsAt time.Time `json:"token_ends_at"`
	// LeaseEndsAt is the time until which one request may refresh the tokens.
	LeaseEndsAt time.Time `json:"lease_ends_at,omitzero"`

	hash    string
	version int64
}

func (s *Session) ended(now time.Time) bool {
	return !now.Before(s.EndsAt) || now.Sub(s.SeenAt) >= Idle
}

// SignedInRecently reports whether the session may make sensitive changes.
func (s *Session) SignedInRecently(now time.Time) bool { return now.Sub(s.AuthTime) < Recent }

// MaxAgent bounds the user agent of a session, in bytes.
const MaxAgent = 256

// Name returns the name of the session for its person. It tells nothing about the token.
func (s *Session) Name() string { return s.hash[:16] }

// Began returns the time of the sign-in.
func (s *Session) Began() time.Time { return s.EndsAt.Add(-Absolute) }

// Is reports whether both are the same session.
func (s *Session) Is(other *Session) bool { return s.hash == other.hash }

// ofPerson is the partition of store.ByParent with the sessions of a person.
func ofPerson(id string) string { return "sessions#" + id }

// Items returns the partition of store.Table of the session with the given hash.
func Items(hash string) string { return "session#" + hash }

const kind = "session"

// sealPurpose separates the keys that seal tokens from those of other data.
const sealPurpose = "session-tokens"

// Store keeps sessions in the state table.
type Store struct {
	db   *store.DB
	seal seal.Secret
	now  func() time.Time
}

// New returns a store of sessions whose tokens are sealed with a secret.
func New(db *store.DB, secret seal.Secret, now func() time.Time) *Store {
	return &Store{db, secret, now}
}

// Start creates a session and returns the token for the browser. The session gets the tokens, its end and its hash.
func (s *Store) Start(ctx context.Context, made *Session, tokens signin.Tokens) (token string, err error) {
	token, made.hash, err = web.NewBearer(rand.Reader)
	if err != nil {
		return "", err
	}
	now := s.now()
	made.version = 0
	made.SeenAt, made.EndsAt = now, now.Add(Absolute)
	if err := s.keep(ctx, made, tokens); err != nil {
		return "", err
	}
	it, err := made.item()
	if err != nil {
		return "", err
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := s.db.Commit(ctx, tx); err != nil {
		return "", fmt.Errorf("session: start: %w", err)
	}
	made.version = 1
	return token, nil
}

// Find returns the session of a token, and notes that it is in use. It returns ErrNone if there is none.
func (s *Store) Find(ctx context.Context, token string) (*Session, error) {
	found, err := s.read(ctx, web.HashBearer(token))
	if err != nil {
		return nil, err
	}
	now := s.now()
	if found.ended(now) {
		return nil, ErrNone
	}
	if now.Sub(found.SeenAt) >= touchEvery {
		found.SeenAt = now
		// Another request may have written the session at the same time: then it has noted the use.
		if err := s.Save(ctx, found); err != nil && !errors.Is(err, store.ErrConflict) {
			return nil, err
		}
	}
	return found, nil
}

func (s *Store) read(ctx context.Context, hash string) (*Session, error) {
	it, err := s.db.Get(ctx, store.IDKey(Items(hash)))
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("session: find: %w", err)
	}
	found := &Session{hash: hash, version: it.Version}
	if err := it.Decode(found); err != nil {
		return nil, err
	}
	return found, nil
}

// item returns the item of the session as it is written.
func (s *Session) item() (store.Item, error) {
	doc, err := json.Marshal(s)
	if err != nil {
		return store.Item{}, fmt.Errorf("session: encode: %w", err)
	}
	return store.Item{Key: store.IDKey(Items(s.hash)), Kind: kind, Version: s.version, Doc: doc,
		Owner: tenant.Of(s.Account, s.Mode), Parent: store.Key{PK: ofPerson(s.ID), SK: s.hash}, ExpireAt: s.EndsAt}, nil
}

// Save writes a changed session. It returns store.ErrConflict if another request has changed it.
func (s *Store) Save(ctx context.Context, changed *Session) error {
	it, err := changed.item()
	if err != nil {
		return err
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if err := s.db.Commit(ctx, tx); err != nil {
		return fmt.Errorf("session: save: %w", err)
	}
	changed.version++
	return nil
}

// maxChanges bounds the attempts of a change that meets others of the same session.
const maxChanges = 5

// Change applies a change to the stored session, and to this one.
func (s *Store) Change(ctx context.Context, of *Session, change func(*Session)) error {
	for range maxChanges {
		change(of)
		err := s.Save(ctx, of)
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		now, err := s.read(ctx, of.hash)
		if err != nil {
			return err
		}
		*of = *now
	}
	return fmt.Errorf("session: change: %w", store.ErrConflict)
}

// End removes a session. It is no error if there is none any more.
func (s *Store) End(ctx context.Context, ended *Session) error {
	for range maxChanges {
		it, err := ended.item()
		if err != nil {
			return err
		}
		tx := &store.Tx{}
		tx.Delete(it)
		if err = s.db.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
			return err
		}
		now, err := s.read(ctx, ended.hash)
		if errors.Is(err, ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		*ended = *now
	}
	return fmt.Errorf("session: end: %w", store.ErrConflict)
}

// box returns the keys that seal the tokens of one session.
func (s *Store) box(ctx context.Context, hash string) (*seal.Box, error) {
	return s.boxFor(ctx, hash, sealPurpose)
}

// boxFor returns the keys that seal the data of a purpose, for one hash.
func (s *Store) boxFor(ctx context.Context, hash, purpose string) (*seal.Box, error) {
	keys, err := s.seal.Keys(ctx, []byte(hash), purpose)
	if err != nil {
		return nil, err
	}
	return seal.New(keys...)
}

func (s *Store) keep(ctx context.Context, of *Session, tokens signin.Tokens) error {
	box, err := s.box(ctx, of.hash)
	if err != nil {
		return err
	}
	text, err := json.Marshal(tokens)
	if err != nil {
		return fmt.Errorf("session: encode tokens: %w", err)
	}
	of.Tokens = box.Seal(text, of.hash)
	of.TokenEndsAt = s.now().Add(time.Duration(tokens.ExpiresIn) * time.Second)
	return nil
}

// TokensOf opens the tokens of a session.
func (s *Store) TokensOf(ctx context.Context, of *Session) (t signin.Tokens, err error) {
	box, err := s.box(ctx, of.hash)
	if err != nil {
		return t, err
	}
	text, err := box.Open(of.Tokens, of.hash)
	if err != nil {
		return t, fmt.Errorf("session: open tokens: %w", err)
	}
	return t, json.Unmarshal(text, &t)
}

// List returns the open sessions of a person, the one in use last first.
func (s *Store) List(ctx context.Context, personID string) (all []*Session, err error) {
	var keys []store.Key
	q := store.Query{Index: store.ByParent, Partition: ofPerson(personID), Limit: 100}
	err = s.db.Each(ctx, q, func(it store.Item) error {
		keys = append(keys, it.Key)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("session: list: %w", err)
	}
	// The index is late: a session that has just ended may still be in it.
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("session: list: %w", err)
	}
	now := s.now()
	for _, it := range items {
		if it.Kind == "" {
			continue
		}
		found := &Session{hash: it.Parent.SK, version: it.Version}
		if err := it.Decode(found); err != nil {
			return nil, err
		}
		if !found.ended(now) {
			all = append(all, found)
		}
	}
	slices.SortFunc(all, func(a, b *Session) int { return b.SeenAt.Compare(a.SeenAt) })
	return all, nil
}

const (
	// ahead is the remaining lifetime of an access token at which it is refreshed.
	ahead = time.Minute
	// lease is the time for which one request refreshes the tokens of a session and the others wait.
	lease = 12 * time.Second
	// maxWaits bounds the looks of a request that waits for the refresh of another.
	maxWaits = 14
)

// Refresher exchanges refresh tokens.
type Refresher interface {
	// Refresh returns new tokens. It returns signin.ErrGrant if the issuer no longer accepts the refresh token.
	Refresh(ctx context.Context, refresh string) (signin.Tokens, error)
}

var _ Refresher = (*signin.Client)(nil)

var errRefresh = errs.New(errs.ProviderUnavailable, "Your sign-in cannot be renewed at the moment. Try again in a few "+
	"seconds.")

// AccessToken returns an access token of the session's person. If the stored one is about to expire, one request
// refreshes it, and requests of other tabs wait for that. If the issuer no longer accepts the refresh token, the
// session is removed and the error is ErrNone.
func (s *Store) AccessToken(ctx context.Context, of *Session, issuer Refresher) (string, error) {
	for try := range maxWaits {
		if err := backoff.Wait(ctx, try, 50*time.Millisecond, time.Second); err != nil {
			return "", err
		}
		now := s.now()
		if of.TokenEndsAt.Sub(now) > ahead {
			tokens, err := s.TokensOf(ctx, of)
			return tokens.Access, err
		}
		if !now.Before(of.LeaseEndsAt) {
			held := *of
			held.LeaseEndsAt = now.Add(lease)
			err := s.Save(ctx, &held)
			if err == nil {
				*of = held
				return s.refresh(ctx, of, issuer)
			}
			if !errors.Is(err, store.ErrConflict) {
				return "", err
			}
		}
		current, err := s.read(ctx, of.hash)
		if err != nil {
			return "", err
		}
		*of = *current
	}
	return "", errRefresh
}

// refresh refreshes the tokens of a session whose lease this request has.
func (s *Store) refresh(ctx context.Context, of *Session, issuer Refresher) (string, error) {
	earlier, err := s.TokensOf(ctx, of)
	if err != nil {
		return "", err
	}
	made, err := issuer.Refresh(ctx, earlier.Refresh)
	switch {
	case errors.Is(err, signin.ErrGrant):
		if err := s.End(ctx, of); err != nil {
			return "", err
		}
		return "", ErrNone
	case err != nil:
		// The next request tries again at once. If this write fails, it waits for the end of the lease.
		_ = s.Change(ctx, of, func(c *Session) { c.LeaseEndsAt = time.Time{} })
		return "", errs.Wrap(err, errs.ProviderUnavailable, "%s", errRefresh.Message)
	}
	made.Refresh = cmp.Or(made.Refresh, earlier.Refresh)
	if err := s.keep(ctx, of, made); err != nil {
		return "", err
	}
	sealed, ends := of.Tokens, of.TokenEndsAt
	return made.Access, s.Change(ctx, of, func(c *Session) {
		c.Tokens, c.TokenEndsAt, c.LeaseEndsAt = sealed, ends, time.Time{}
	})
}

// GuessWindow is the time in which wrong codes and links count together.
const GuessWindow = 5 * time.Minute

// ErrGuesses is returned if a network has sent too many wrong codes or links of a kind.
var ErrGuesses = errors.New("session: too many wrong codes")

// A kind of codes or links that somebody could guess, with the wrong ones that one network may send in GuessWindow.
// People mistype, and share their network with others; a service that runs programs has the expired tokens of all.
type guessable struct {
	name string
	most int64
}

// The kinds of codes and links. All are too long to be guessed; what is counted tells who tries.
var (
	SetupLinks    = guessable{"setup", 100}
	CommandCodes  = guessable{"cli", 100}
	ProgramTokens = guessable{"token", 1000}
)

func (s *Store) guessKey(of guessable, address string) store.Key {
	if a, err := netip.ParseAddr(address); err == nil {
		if a = a.Unmap().WithZone(""); a.Is6() {
			address = netip.PrefixFrom(a, 64).Masked().String() // what one line has
		} else {
			address = a.String()
		}
	}
	return store.IDKey(fmt.Sprintf("guesses#%s#%s#%d", of.name, web.HashBearer(address),
		s.now().Unix()/int64(GuessWindow.Seconds())))
}

// MayGuess returns ErrGuesses if the network of an address has sent too many wrong ones. It is asked before a code is
// looked at, so that a right one after them does not count either.
func (s *Store) MayGuess(ctx context.Context, of guessable, address string) error {
	it, err := s.db.Get(ctx, s.guessKey(of, address))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("session: read guesses: %w", err)
	case it.Count() >= of.most:
		return ErrGuesses
	}
	return nil
}

// CountGuess counts a wrong one.
func (s *Store) CountGuess(ctx context.Context, of guessable, address string) error {
	tx := &store.Tx{}
	tx.CountUntil(s.guessKey(of, address), 1, of.most, s.now().Add(2*GuessWindow), ErrGuesses)
	if err := s.db.Commit(ctx, tx); err != nil && !errors.Is(err, ErrGuesses) {
		return fmt.Errorf("session: count guess: %w", err)
	}
	return nil
}

// GuessesEnd returns the time after which the network may try again.
func (s *Store) GuessesEnd() time.Duration {
	now := s.now()
	return now.Truncate(GuessWindow).Add(GuessWindow).Sub(now)
}

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
	Challenge  string    `json:"challenge"`
	EndsAt     time.Time `json:"ends_at"`
	SealedData []byte    `json:"sealed"`
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
	text, err := box.Open(kept.SealedData, hash)
	if err != nil {
		return h, fmt.Errorf("session: open handover: %w", err)
	}
	return h, json.Unmarshal(text, &h)
}
