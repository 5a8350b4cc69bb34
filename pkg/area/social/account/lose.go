package account

import (
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Lose adds to the transaction that the platform has refused the token of an account for
// good, and the event. It does nothing where the account has another token by now; used
// counts the tokens of the record that the refused one came from, and it is the item as it
// is now.
func Lose(tx *store.Tx, now time.Time, it store.Item, used int) error {
	r, err := Decode(&it)
	if err != nil || !r.Usable() || r.Tokens != used {
		return err
	}
	r.State, r.TokenExpiresAt, r.ReconnectBefore = NeedsReconnect, nil, nil
	return r.Replace(tx, now, it, event.SocialAccountNeedsReconnect)
}

// Replace adds the changed record to the transaction, and an event of the type where it is
// not empty.
func (r *Record) Replace(tx *store.Tx, now time.Time, it store.Item, t event.Type) error {
	r.Touch(now)
	if err := r.WriteTo(&it); err != nil {
		return err
	}
	tx.Replace(it)
	if t == "" {
		return nil
	}
	e, err := event.New(now, it.Owner, t, r.View(now), nil)
	if err != nil {
		return err
	}
	tx.Create(e, nil)
	return nil
}

// Expired adds to the transaction what follows where a platform says that the token of an
// account has ended: its refresh, at once; or that the account has to be connected again,
// where the token cannot be refreshed. The caller repeats its own step after RefreshTime.
func Expired(tx *store.Tx, now time.Time, it store.Item, used int) error {
	r, err := Decode(&it)
	switch {
	case err != nil || !r.Usable() || r.Tokens != used:
		return err
	case r.TokenExpiresAt == nil:
		return Lose(tx, now, it, used)
	}
	return task.Wake(tx, now, refreshMessage(it.Owner, &r))
}

// RefreshTime is about how long a refresh takes.
const RefreshTime = 5 * time.Second

// Refresh is the kind of the task that refreshes the token of an account, ahead of its end.
const Refresh task.Kind = "social.refresh"

func refreshMessage(o tenant.Owner, r *Record) task.Message {
	return task.Message{ID: task.ID(Refresh, r.ID, r.Connection), Kind: Refresh, Queue: topology.Publish,
		Subject: r.ID, Owner: o}
}

// Connect adds to the transaction that an account is connected: its record, which the caller
// has filled in and sealed the token of, its event, and the task that refreshes the token.
// The item has version 0 where the record is new.
func (r *Record) Connect(tx *store.Tx, now time.Time, it store.Item, token platform.Token) error {
	r.State, r.Consent, r.AuthorizationURL, r.ConnectedAs, r.TokenExpiresAt, r.ReconnectBefore = Connected, nil, nil,
		nil, nil, nil
	r.Connection++
	r.stored(now, token)
	if r.TokenExpiresAt != nil {
		t := task.Task{Message: refreshMessage(it.Owner, r), DueAt: now.Add(r.pause(now))}
		if err := task.Create(tx, now, t, refreshing{Connection: r.Connection}); err != nil {
			return err
		}
	}
	if it.Version > 0 {
		return r.Replace(tx, now, it, event.SocialAccountConnected)
	}
	if err := r.WriteTo(&it); err != nil {
		return err
	}
	tx.Create(it, nil)
	e, err := event.New(now, it.Owner, event.SocialAccountConnected, r.View(now), nil)
	if err != nil {
		return err
	}
	tx.Create(e, nil)
	return nil
}

// stored notes that a token was stored.
func (r *Record) stored(now time.Time, token platform.Token) {
	r.Tokens++
	r.RefreshedAt = now
	before := r.ReconnectBefore
	r.ReconnectBefore = instant(token.EndsAt)
	r.TokenExpiresAt = instant(token.ExpiresAt)
	if r.TokenExpiresAt == nil || r.ReconnectBefore != nil && r.ReconnectBefore.Before(r.TokenExpiresAt.Time) {
		r.TokenExpiresAt = r.ReconnectBefore
	}
	if before == nil || r.ReconnectBefore == nil || r.ReconnectBefore.After(before.Add(notice)) {
		r.Told = false
	}
}

func instant(t time.Time) *resource.Time {
	if t.IsZero() {
		return nil
	}
	at := resource.Instant(t)
	return &at
}

// notice is how long before the end of the access the event says that the owner has to
// connect the account again.
const notice = 14 * 24 * time.Hour

// pause returns how long it is until something is to be done for the token: its refresh,
// the event, or the end of the access.
func (r *Record) pause(now time.Time) time.Duration {
	ends := r.ReconnectBefore
	next := r.RefreshedAt.Add(ahead(r.TokenExpiresAt.Sub(r.RefreshedAt)))
	switch {
	case ends == nil:
	case !r.Told:
		if tell := ends.Add(-notice); tell.Before(next) || !r.TokenExpiresAt.Before(ends.Time) {
			next = tell
		}
	case !r.TokenExpiresAt.Before(ends.Time) || ends.Before(next):
		next = ends.Time // no refresh puts it off
	}
	return max(0, next.Sub(now))
}

// ahead returns after what part of its life a token is refreshed: the last sixth is left
// for what may go wrong, at least five minutes of it and at most seven days.
func ahead(life time.Duration) time.Duration {
	return max(life-min(max(life/6, 5*time.Minute), 7*24*time.Hour), life/2)
}
