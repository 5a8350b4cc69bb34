package quota

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// kind is the kind of the item that counts attempts.
const kind = "attempts"

// maxTries bounds the tries to count an attempt while other calls count theirs.
const maxTries = 20

// Limit is the largest number of attempts in a period.
type Limit struct {
	Name   string
	Most   int
	Window time.Duration
	// Message is the public message of a refusal.
	Message string
}

// Attempt is a counted attempt.
type Attempt struct {
	db    *store.DB
	limit Limit
	owner tenant.Owner
	key   store.Key
	attemptsCounted
}

// document is the document of the item. It has the attempts that count, oldest first.
type document struct {
	Attempts []attemptsCounted `json:"attempts"`
}

// attemptsCounted is a counted attempt. Its id makes each version of the document unique: the table takes two equal
// writes for one whose response was lost.
type attemptsCounted struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// Begin counts an attempt of an owner at a subject, or returns rate_limited with the time after which the next attempt
// is permitted.
func (l Limit) Begin(ctx context.Context, db *store.DB, now time.Time, o tenant.Owner,
	subject string) (*Attempt, error) {
	sum := sha256.Sum256([]byte(subject))
	a := &Attempt{db, l, o, store.IDKey(fmt.Sprintf("attempts#%s#%s#%s", l.Name, o,
		base64.RawURLEncoding.EncodeToString(sum[:]))), attemptsCounted{rand.Text(), now.UTC()}}
	return a, a.change(ctx, func(m *document) error {
		if len(m.Attempts) < l.Most {
			m.Attempts = append(m.Attempts, a.attemptsCounted)
			return nil
		}
		e := errs.New(errs.RateLimited, "%s", l.Message).With(errs.RateContext{Limit: l.Most,
			WindowSeconds: int(l.Window.Seconds())})
		e.RetryAfter = m.Attempts[len(m.Attempts)-l.Most].At.Add(l.Window).Sub(now)
		return e
	})
}

// Forget removes the attempt from the count.
func (a *Attempt) Forget(ctx context.Context) error {
	return a.change(ctx, func(m *document) error {
		m.Attempts = slices.DeleteFunc(m.Attempts, func(o attemptsCounted) bool { return o.ID == a.ID })
		return nil
	})
}

// change changes the attempts of the window.
func (a *Attempt) change(ctx context.Context, change func(*document) error) error {
	ctx = tenant.Unconfined(ctx) // all profiles of an account count together
	for try := range maxTries {
		if err := backoff.Wait(ctx, try, 5*time.Millisecond, 100*time.Millisecond); err != nil {
			return err
		}
		it, err := a.db.Lookup(ctx, a.key)
		if err != nil {
			return err
		}
		var m document
		found := it.PK != ""
		if found {
			if err := it.Decode(&m); err != nil {
				return err
			}
		} else {
			it = store.Item{Key: a.key, Kind: kind, Owner: a.owner}
		}
		m.Attempts = slices.DeleteFunc(m.Attempts,
			func(o attemptsCounted) bool { return !o.At.After(a.At.Add(-a.limit.Window)) })
		if err := change(&m); err != nil {
			return err
		}
		it.ExpireAt = a.At.Add(a.limit.Window)
		if err := it.Encode(m); err != nil {
			return err
		}
		tx := &store.Tx{}
		if found {
			tx.Replace(it)
		} else {
			tx.CreateExpiring(it, a.At.Unix(), store.ErrConflict)
		}
		if err := a.db.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	e := errs.New(errs.RateLimited, "%s", a.limit.Message)
	e.RetryAfter = time.Second
	return e
}
