// Package credential keeps what the authorizer must know about an API key, found
// by the hash of its secret, and counts the calls of each minute.
package credential

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// Credential is a secret's record. What belongs to the account is copied into it,
// so that one round trip answers everything; a change of the account rewrites the
// copies.
type Credential struct {
	Hash  string
	KeyID string
	tenant.Owner
	Plan   string
	Scopes []string
	// KeyIPs and AccountIPs are CIDRs; an empty list permits every address.
	KeyIPs, AccountIPs []string
	// Limit is the number of calls a minute.
	Limit int
	// SpendLimit is the number of credits a calendar month; nil: no limit.
	SpendLimit *int64
	// ExpiresAt is when the key ends; zero: never.
	ExpiresAt time.Time
	// Revoked keys are kept, so that calls with them are known and audited.
	Revoked bool
	// MovedTo is the hash of the key's new secret after a rotation. The old secret
	// counts and may do what the new one does, until UntilAt.
	MovedTo string
	UntilAt time.Time
	// Count is how many calls the current minute has seen, this one included.
	Count int
}

// Ended reports whether the secret may no longer be used at the given time.
func (c *Credential) Ended(now time.Time) bool {
	ended := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	return c.Revoked || ended(c.ExpiresAt) || ended(c.UntilAt)
}

const (
	kind = "secret"

	// Attributes of a credential's item.
	keyID      = "key_id"
	plan       = "plan"
	scopes     = "scopes"
	keyIPs     = "key_ips"
	accountIPs = "account_ips"
	revoked    = "revoked"
	movedTo    = "moved_to"
	lastCall   = "last_call"
	// Numbers of it; times are in milliseconds since 1970.
	limit   = "limit"
	spend   = "spend_limit"
	expires = "expires"
	until   = "until"
	window  = "window"
	calls   = "calls"

	// Attributes of the key's own item that the first call of a minute writes.
	lastUsedAt = "used_at"
	lastUsedIP = "used_ip"
)

// LastUsed reads from a key's item when and from where it was last used, exact
// to the minute: only the first call of a minute is written there.
func LastUsed(it *store.Item) (at time.Time, ip string) {
	at, _ = time.Parse(time.RFC3339, it.Attributes[lastUsedAt])
	return at, it.Attributes[lastUsedIP]
}

// KeyOf is the key of an API key's own item. All keys of an account share a
// partition, so that a change of the account finds each of them for certain.
func KeyOf(account tenant.Account, keyID string) store.Key {
	return store.Key{PK: Keys(account), SK: keyID}
}

// Keys is the partition of store.Table that lists an account's API keys.
func Keys(account tenant.Account) string { return "keys#" + string(account) }

func key(hash string) store.Key { return store.IDKey("secret#" + hash) }

// texts and numbers are the members that are kept of a credential; those that are
// empty are not written.
func (c *Credential) texts() map[string]string {
	ended := ""
	if c.Revoked {
		ended = "true"
	}
	return map[string]string{
		keyID: c.KeyID, plan: c.Plan, movedTo: c.MovedTo, revoked: ended, scopes: strings.Join(c.Scopes, " "),
		keyIPs: strings.Join(c.KeyIPs, " "), accountIPs: strings.Join(c.AccountIPs, " "),
	}
}

func (c *Credential) numbers() map[string]int64 {
	n := map[string]int64{limit: int64(c.Limit)}
	if c.SpendLimit != nil {
		n[spend] = *c.SpendLimit
	}
	for name, at := range map[string]time.Time{expires: c.ExpiresAt, until: c.UntilAt} {
		if !at.IsZero() {
			n[name] = at.UnixMilli()
		}
	}
	return n
}

// Create adds a new credential to the transaction.
func Create(tx *store.Tx, c Credential) {
	it := store.Item{Key: key(c.Hash), Kind: kind, Owner: c.Owner, Attributes: map[string]string{}, Numbers: c.numbers()}
	for name, value := range c.texts() {
		if value != "" {
			it.Attributes[name] = value
		}
	}
	tx.Create(it, nil)
}

// Change writes all that a credential says, except its count of calls.
func Change(tx *store.Tx, c Credential) {
	var u expression.UpdateBuilder
	for name, value := range c.texts() {
		u = set(u, store.Attribute(name), value)
	}
	numbers := c.numbers()
	for _, name := range []string{limit, spend, expires, until} {
		if value, ok := numbers[name]; ok {
			u = u.Set(store.Number(name), expression.Value(value))
		} else {
			u = u.Remove(store.Number(name))
		}
	}
	tx.Update(key(c.Hash), u, store.Exists, store.Conflict)
}

// set sets a text, or removes it where it is empty.
func set(u expression.UpdateBuilder, name expression.NameBuilder, value string) expression.UpdateBuilder {
	if value == "" {
		return u.Remove(name)
	}
	return u.Set(name, expression.Value(value))
}

// Revoke ends a credential at once. It stays known, for the audit.
func Revoke(tx *store.Tx, hash string) {
	tx.Update(key(hash), expression.Set(store.Attribute(revoked), expression.Value("true")), store.Exists, store.Conflict)
}

// Move makes a credential stand for another one until the given time.
func Move(tx *store.Tx, hash, to string, at time.Time) {
	u := expression.Set(store.Attribute(movedTo), expression.Value(to)).Set(store.Number(until), expression.Value(at.UnixMilli()))
	tx.Update(key(hash), u, store.Exists, store.Conflict)
}

// ChangeAccount rewrites a credential's copy of what its account says.
func ChangeAccount(tx *store.Tx, hash, accountPlan string, ips []string, callsPerMinute int) {
	u := expression.Set(store.Attribute(plan), expression.Value(accountPlan)).Set(store.Number(limit), expression.Value(callsPerMinute))
	tx.Update(key(hash), set(u, store.Attribute(accountIPs), strings.Join(ips, " ")), store.Exists, store.Conflict)
}

func read(hash string, it store.Item) *Credential {
	at := func(name string) (t time.Time) {
		if ms := it.Numbers[name]; ms != 0 {
			t = time.UnixMilli(ms).UTC()
		}
		return t
	}
	a := it.Attributes
	var spendLimit *int64
	if n, ok := it.Numbers[spend]; ok {
		spendLimit = &n
	}
	return &Credential{
		Hash: hash, KeyID: a[keyID], Owner: it.Owner, Plan: a[plan], Scopes: strings.Fields(a[scopes]),
		KeyIPs: strings.Fields(a[keyIPs]), AccountIPs: strings.Fields(a[accountIPs]), Limit: int(it.Numbers[limit]), SpendLimit: spendLimit,
		ExpiresAt: at(expires), Revoked: a[revoked] != "", MovedTo: a[movedTo], UntilAt: at(until), Count: int(it.Numbers[calls]),
	}
}

// Counter counts calls.
type Counter struct {
	db  *store.DB
	now func() time.Time
}

// NewCounter returns a counter of the credentials in a table.
func NewCounter(db *store.DB, now func() time.Time) *Counter { return &Counter{db, now} }

// Count looks a credential up by its hash and counts one call in the given window
// (a number that grows by one a minute). In the steady state this is one round
// trip; the first call of a window takes two, and a replaced secret one more. A
// credential that has ended is returned without being counted. It returns
// store.ErrNotFound for an unknown one.
func (c *Counter) Count(ctx context.Context, hash string, window int64, ip string) (*Credential, error) {
	found, err := c.count(ctx, hash, window, ip)
	if err != nil || found.MovedTo == "" || found.Ended(c.now()) {
		return found, err
	}
	current, err := c.count(ctx, found.MovedTo, window, ip)
	if err != nil {
		return nil, err
	}
	current.UntilAt = found.UntilAt
	return current, nil
}

// maxTries bounds how often a count is tried that meets the opening of a window.
const maxTries = 6

func (c *Counter) count(ctx context.Context, hash string, open int64, ip string) (*Credential, error) {
	now := c.now()
	// The last call counted is known by a token, so that a try whose answer was lost
	// does not count it again.
	token := rand.Text()
	one := expression.Set(store.Number(calls), store.Number(calls).Plus(expression.Value(1))).Set(store.Attribute(lastCall), expression.Value(token))
	for try := range maxTries {
		if err := backoff.Wait(ctx, try, 10*time.Millisecond, 320*time.Millisecond); err != nil {
			return nil, err
		}
		it, err := c.db.Update(ctx, key(hash), one, expression.And(
			store.Number(window).Equal(expression.Value(open)),
			expression.Or(store.Attribute(lastCall).AttributeNotExists(), store.Attribute(lastCall).NotEqual(expression.Value(token))),
			store.Attribute(revoked).AttributeNotExists(), store.Attribute(movedTo).AttributeNotExists(),
			expression.Or(store.Number(expires).AttributeNotExists(), store.Number(expires).GreaterThan(expression.Value(now.UnixMilli()))),
		))
		if err == nil {
			return read(hash, it), nil
		}
		met, refused := store.ConflictOf(err)
		if !refused {
			return nil, fmt.Errorf("credential: count call: %w", err)
		}
		it = met
		if it.Kind == "" {
			return nil, store.ErrNotFound
		}
		found := read(hash, it)
		if it.Attributes[lastCall] == token {
			return found, nil
		}
		if found.MovedTo != "" || found.Ended(now) {
			if it.Numbers[window] != open {
				found.Count = 0 // what an earlier window counted
			}
			return found, nil
		}
		// Only the window was another one. Where another machine's clock is ahead, its
		// window counts; otherwise this is the first call of a new window.
		if latest := it.Numbers[window]; latest > open {
			open = latest
			continue
		}
		switch err := c.open(ctx, found, open, ip); {
		case err == nil:
			found.Count = 1
			return found, nil
		case !errors.Is(err, store.ErrConflict):
			return nil, err
		}
		// Another call opened the window in between: count this one in it.
	}
	return nil, errs.New(errs.ProviderUnavailable, "The service is busy with other calls of the same key. Repeat the request in a second.")
}

// open sets the count of a new window to one and notes on the key's own item that
// it was used.
func (c *Counter) open(ctx context.Context, of *Credential, n int64, ip string) error {
	tx := &store.Tx{}
	tx.Update(key(of.Hash), expression.Set(store.Number(window), expression.Value(n)).Set(store.Number(calls), expression.Value(1)), expression.And(
		store.Exists, store.Attribute(revoked).AttributeNotExists(), store.Attribute(movedTo).AttributeNotExists(),
		expression.Or(store.Number(window).AttributeNotExists(), store.Number(window).LessThan(expression.Value(n))),
	), store.Conflict)
	used := expression.Set(store.Attribute(lastUsedAt), expression.Value(c.now().UTC().Format(time.RFC3339))).Set(store.Attribute(lastUsedIP), expression.Value(ip))
	tx.Update(KeyOf(of.Account, of.KeyID), used, store.Exists, func(store.Item) error {
		return fmt.Errorf("credential: key %s has a secret but no item", of.KeyID)
	})
	return c.db.Commit(ctx, tx)
}
