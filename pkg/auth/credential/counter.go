package credential

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// Counter counts calls.
type Counter struct {
	db  *store.DB
	now func() time.Time
}

// NewCounter returns a counter of the credentials in a table.
func NewCounter(db *store.DB, now func() time.Time) *Counter { return &Counter{db, now} }

// Count looks a credential up by its hash and counts one call in the given window (a number that grows by one each
// minute). In the steady state this is one round trip. The first call of a window takes three, every twentieth part of
// the limit one more, and so does a replaced secret. A secret that a person has lent takes one more, to read the
// person: it ends with them at once. A credential that has ended is returned without being counted. Count returns
// store.ErrNotFound for an unknown one.
func (c *Counter) Count(ctx context.Context, hash string, window int64, ip string) (*Credential, error) {
	return c.find(ctx, hash, func(hash string) (*Credential, error) { return c.count(ctx, hash, window, ip) })
}

// find looks a credential up, and the one that has replaced it.
func (c *Counter) find(ctx context.Context, hash string, look func(hash string) (*Credential, error)) (*Credential,
	error) {
	found, err := look(hash)
	if err != nil || found.MovedTo == "" || found.Ended(c.now()) {
		return found, err
	}
	var may []auth.Scope
	if found.LentBy != "" {
		if may, err = c.lender(ctx, found); err != nil {
			return nil, err
		}
		if may == nil {
			found.Revoked = true
			return found, nil
		}
	}
	current, err := look(found.MovedTo)
	if err != nil {
		return nil, err
	}
	current.UntilAt, current.LentBy = found.UntilAt, found.LentBy
	if may != nil {
		current.Scopes = slices.DeleteFunc(current.Scopes, func(s string) bool {
			return !slices.Contains(may, auth.Scope(s))
		})
	}
	return current, nil
}

// lender returns the scopes of the person who has lent a secret, or nil if the person has no access any more.
func (c *Counter) lender(ctx context.Context, lent *Credential) ([]auth.Scope, error) {
	it, err := c.db.Get(ctx, KeyOf(lent.Account, lent.LentBy))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("credential: read lender: %w", err)
	}
	var person struct {
		State string    `json:"state"`
		Role  auth.Role `json:"role"`
	}
	if err := it.Decode(&person); err != nil || person.State != activePerson {
		return nil, err
	}
	return person.Role.Scopes(), nil
}

// activePerson is the state of a person who has access, see person.Active.
const activePerson = "active"

// maxTries bounds the tries of a count that meets the opening of a window.
const maxTries = 6

var errBusy = errs.New(errs.ProviderUnavailable, "The service is busy with other calls of the same key. Repeat the "+
	"request in a second.")

func (c *Counter) count(ctx context.Context, hash string, open int64, ip string) (*Credential, error) {
	now := c.now()
	// A token identifies the last counted call, so that a retry after a lost answer does not count it again.
	token := rand.Text()
	one := expression.Set(store.Number(calls),
		store.Number(calls).Plus(expression.Value(1))).Set(store.Attribute(lastCall), expression.Value(token))
	for try := range maxTries {
		if err := backoff.Wait(ctx, try, 10*time.Millisecond, 320*time.Millisecond); err != nil {
			return nil, err
		}
		it, err := c.db.Update(ctx, key(hash), one, expression.And(
			store.Number(window).Equal(expression.Value(open)),
			expression.Or(store.Attribute(lastCall).AttributeNotExists(),
				store.Attribute(lastCall).NotEqual(expression.Value(token))),
			store.Attribute(revoked).AttributeNotExists(), store.Attribute(movedTo).AttributeNotExists(),
			expression.Or(store.Number(expires).AttributeNotExists(),
				store.Number(expires).GreaterThan(expression.Value(now.UnixMilli()))),
		))
		if err == nil {
			found := read(hash, it)
			return found, c.share(ctx, found, open)
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
				found.Count = 0 // the count of an earlier window
			}
			return found, nil
		}
		// Only the window differs. If another machine's clock is ahead, its window counts. Otherwise this is the first
		// call of a new window.
		if latest := it.Numbers[window]; latest > open {
			open = latest
			continue
		}
		found.Count, found.OverFrom = 0, 0
		if it.Numbers[window] == 0 && found.From != "" {
			if open, it, err = c.carry(ctx, found, open); err != nil {
				return nil, err
			}
		}
		found.Count++
		switch err := c.open(ctx, found, &it, open, ip); {
		case err == nil:
			return found, c.share(ctx, found, open)
		case !errors.Is(err, store.ErrConflict):
			return nil, err
		}
		// Another call opened the window in between: count this one in it.
	}
	return nil, errBusy
}

// maxChain bounds the number of rotations in one minute that are followed back.
const maxChain = 8

// carry sets the count of a new secret to the count of the secrets that it has replaced in the window. It returns the
// window, and the item that has counted the window before. A replaced secret no longer counts, so that no call is lost.
// This takes reads, but only for the first call after a rotation.
func (c *Counter) carry(ctx context.Context, to *Credential, open int64) (int64, store.Item, error) {
	hash := to.From
	for range maxChain {
		it, err := c.db.Get(ctx, key(hash))
		if errors.Is(err, store.ErrNotFound) {
			return open, store.Item{}, nil // it ended so long ago that it has counted nothing
		}
		if err != nil {
			return 0, it, fmt.Errorf("credential: read replaced secret: %w", err)
		}
		if counted := it.Numbers[window]; counted >= open {
			earlier := read(hash, it)
			to.Count, to.OverFrom = earlier.Count, earlier.OverFrom
			return counted, store.Item{}, nil
		} else if counted != 0 {
			return open, it, nil
		}
		if hash = it.Attributes[from]; hash == "" {
			return open, store.Item{}, nil
		}
	}
	to.Count = to.Limit // after so many rotations in a minute, calls wait for the next one
	return open, store.Item{}, nil
}

// open begins a new window with the count of the credential, adds the calls of the window before to the usage of the
// key, and notes the use on the key's own item. Calls that are counted in the window before at the same moment may be
// missing from the usage.
func (c *Counter) open(ctx context.Context, of *Credential, before *store.Item, n int64, ip string) error {
	tx := &store.Tx{}
	u := expression.Set(store.Number(window), expression.Value(n)).Set(store.Number(calls),
		expression.Value(of.Count)).Remove(store.Number(refused))
	if of.OverFrom > 0 {
		u = u.Set(store.Number(over), expression.Value(n)).Set(store.Number(overFrom), expression.Value(of.OverFrom))
	}
	if of.TicketKey == "" {
		of.TicketKey = rand.Text()
		u = u.Set(store.Attribute(ticketKey), expression.Value(of.TicketKey))
	}
	tx.Update(key(of.Hash), u, expression.And(
		store.Exists, store.Attribute(revoked).AttributeNotExists(), store.Attribute(movedTo).AttributeNotExists(),
		expression.Or(store.Number(window).AttributeNotExists(), store.Number(window).LessThan(expression.Value(n))),
	), store.Conflict)
	used := expression.Set(store.Attribute(lastUsedAt),
		expression.Value(c.now().UTC().Format(time.RFC3339))).Set(store.Attribute(lastUsedIP), expression.Value(ip))
	tx.Update(KeyOf(of.Account, of.KeyID), used, store.Exists, func(store.Item) error {
		return fmt.Errorf("credential: key %s has a secret but no item", of.KeyID)
	})
	addUsage(tx, of.KeyID, before.Numbers[window], tally(before))
	return c.db.Commit(ctx, tx)
}

// CountDenied counts a call that Count has returned as refused, and returns the number of such calls in the window,
// including this one. Calls beyond a rate limit need not be counted: Credential.Excess returns their number. Calls with
// a secret that has ended are counted separately, since nothing else opens its windows.
func (c *Counter) CountDenied(ctx context.Context, of *Credential, open int64) (int, error) {
	in, number := window, refused
	if of.Ended(c.now()) {
		in, number = turnedWindow, turned
	}
	for try := range maxTries {
		if err := backoff.Wait(ctx, try, 10*time.Millisecond, 320*time.Millisecond); err != nil {
			return 0, err
		}
		one := expression.Add(store.Number(number), expression.Value(1))
		it, err := c.db.Update(ctx, key(of.Hash), one, store.Number(in).GreaterThanEqual(expression.Value(open)))
		if err == nil {
			return int(it.Numbers[number]), nil
		}
		met, known := store.ConflictOf(err)
		if !known {
			return 0, fmt.Errorf("credential: count refused call: %w", err)
		}
		tx := &store.Tx{}
		tx.Update(key(of.Hash), expression.Set(store.Number(in), expression.Value(open)).Set(store.Number(number),
			expression.Value(1)), expression.And(
			store.Exists, expression.Or(store.Number(in).AttributeNotExists(),
				store.Number(in).LessThan(expression.Value(open))),
		), store.Conflict)
		addUsage(tx, of.KeyID, met.Numbers[turnedWindow], Calls{met.Numbers[turned], met.Numbers[turned]})
		if err = c.db.Commit(ctx, tx); err == nil {
			return 1, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return 0, err
		}
	}
	return 0, errBusy
}

// Excess returns the number of calls of the window that were refused for a rate limit, including this one, and reports
// whether that limit is the ceiling of the account.
func (c *Credential) Excess() (n int, ceiling bool) {
	if c.OverFrom > 0 {
		return max(c.Count-c.OverFrom+1, 0), true
	}
	return max(c.Count-c.Limit, 0), false
}

// Ceiling is the ceiling of an account.
const Ceiling = auth.Ceiling

// Each key adds its calls to the account's counter in blocks of a twentieth of its limit, so up to one block less a
// call may not be counted yet. So n keys exceed the ceiling by less than n twentieths of the limit.
const blocks = 20

// due returns the number of calls to add to the account's counter when a key counts its k-th call. The first call is
// added at once: a key that begins after the ceiling was reached makes no call.
func due(k, limit int) int {
	block := max(limit/blocks, 1)
	switch {
	case k > limit:
		return 0
	case k == 1:
		return 1
	case k%block != 0:
		return 0
	case k == block:
		return block - 1
	default:
		return block
	}
}

// share adds the calls of a key to the account's counter of the window when a block of them is full. If the account's
// ceiling is reached, it notes that on the credential, so that the next calls find it.
func (c *Counter) share(ctx context.Context, of *Credential, open int64) error {
	n := due(of.Count, of.Limit)
	if n == 0 || of.OverFrom > 0 {
		return nil
	}
	at := store.IDKey(Counts(of.Owner.String() + "#" + strconv.FormatInt(open, 10)))
	add := store.Expires(expression.Add(store.Number(calls), expression.Value(n)), begin(open).Add(time.Hour))
	_, err := c.db.Update(ctx, at, add, expression.Or(
		store.Number(calls).AttributeNotExists(),
		store.Number(calls).LessThanEqual(expression.Value(Ceiling*of.Limit-n)),
	))
	if _, full := store.ConflictOf(err); !full {
		return err
	}
	of.OverFrom = of.Count
	mark := expression.Set(store.Number(over), expression.Value(open)).Set(store.Number(overFrom),
		expression.Value(of.OverFrom))
	_, err = c.db.Update(ctx, key(of.Hash), mark, expression.And(
		store.Number(window).Equal(expression.Value(open)),
		expression.Or(store.Number(over).AttributeNotExists(), store.Number(over).LessThan(expression.Value(open))),
	))
	if _, marked := store.ConflictOf(err); marked {
		return nil
	}
	return err
}

// begin returns the time at which a window begins.
func begin(window int64) time.Time { return time.Unix(window*60, 0).UTC() }
