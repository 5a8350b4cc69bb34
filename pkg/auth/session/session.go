// Package session stores the sessions of people who are signed in to the account area. The browser has a random token,
// and the table has its hash. The tokens of the issuer are sealed and never reach the browser. Start with Store in
// session.go.
package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/auth/signin"
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
