package social

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Purpose is what a call of a platform is for. A right that the owner of the account has not granted ends the account
// only if the account cannot publish without it.
type Purpose int

// The purposes.
const (
	ForPublishing Purpose = iota
	// ForChanging is a change of a post, or its deletion.
	ForChanging
	// ForReading is the reading of figures or of earlier posts.
	ForReading
	// ForComments is a call about comments.
	ForComments
)

// Concerns reports whether the error of a call says something about the account itself, which Note then adds to it.
func (p Purpose) Concerns(err error) bool {
	kind := platform.KindOf(err)
	denied := platform.Denied(err)
	return kind == platform.Expired || kind == platform.Reconnect && (!denied || p == ForPublishing) ||
		denied && (p == ForReading || p == ForComments)
}

// Note adds to the transaction what the error of a call says about the account: that its token has ended, that the
// access is lost, or that it lacks the right for the purpose. It does nothing if the account has a different token by
// now. The item is the present one, and used is the count of tokens in the record from which the token of the call
// came.
func (p Purpose) Note(tx *store.Tx, now time.Time, it store.Item, used int, err error) error {
	kind := platform.KindOf(err)
	switch denied := platform.Denied(err); {
	case kind == platform.Expired:
		return Expired(tx, now, it, used, err)
	case kind == platform.Reconnect && (!denied || p == ForPublishing):
		return Lose(tx, now, it, used, err)
	case denied:
		return p.bar(tx, now, it, used)
	}
	return nil
}

// Lose adds to the transaction that the platform has refused the token of an account for good, with the event. It does
// nothing if the account has a different token by now. The item is the present one, used is the count of tokens in the
// record from which the refused token came, and cause is the refusal.
func Lose(tx *store.Tx, now time.Time, it store.Item, used int, cause error) error {
	r, err := Decode(&it)
	if err != nil || !r.Usable() || r.Tokens != used {
		return err
	}
	r.State, r.TokenExpiresAt, r.ReconnectDueAt, r.Failure = NeedsReconnect, nil, nil, lossOf(cause)
	return r.Replace(tx, now, it, event.SocialAccountNeedsReconnect)
}

// lossOf returns why an account was lost.
func lossOf(cause error) *Loss {
	var e *platform.Error
	if !errors.As(cause, &e) {
		e = platform.Disconnected()
	}
	return &Loss{Code: string(e.Code), Message: e.Message, PlatformMessage: resource.OrNil(e.Words)}
}

// bar adds to the transaction that the owner of an account has not granted the right for the purpose. The account still
// publishes.
func (p Purpose) bar(tx *store.Tx, now time.Time, it store.Item, used int) error {
	r, err := Decode(&it)
	if err != nil || !r.Usable() || r.Tokens != used {
		return err
	}
	switch {
	case p == ForReading && !r.FiguresBarred:
		r.FiguresBarred = true
	case p == ForComments && !r.Barred:
		r.Barred = true
	default:
		return nil
	}
	return r.Replace(tx, now, it, "")
}

// Replace adds the changed record to the transaction, with an event of the type unless the type is empty.
func (r *Record) Replace(tx *store.Tx, now time.Time, it store.Item, t event.Type) error {
	r.Touch(now)
	if r.State != Pending {
		quota.Free(tx, now, it)
	}
	if err := r.WriteTo(&it); err != nil {
		return err
	}
	tx.Replace(it)
	if t == "" {
		return nil
	}
	e, err := event.New(now, it.Owner, t, r.View(), nil)
	if err != nil {
		return err
	}
	tx.Create(e, nil)
	return nil
}

// Fresh is the age of a token below which its refusal means that another refresh is of no use, if the token before it
// was refused, too.
const Fresh = 15 * time.Minute

// Expired handles the platform's answer that the token of an account has ended. It adds to the transaction an immediate
// refresh. If the token cannot be refreshed, or has just been because of the same answer, it adds that the account has
// to be connected again: otherwise, refreshes and refusals would follow each other for ever. The caller repeats its own
// step once the account has another token.
func Expired(tx *store.Tx, now time.Time, it store.Item, used int, cause error) error {
	r, err := Decode(&it)
	switch {
	case err != nil || !r.Usable() || r.Tokens != used:
		return err
	case r.TokenExpiresAt == nil, r.RefusedToken == used-1 && used > 1 && now.Sub(r.RefreshedAt) < Fresh:
		return Lose(tx, now, it, used, platform.Disconnected().Saying(platform.WordsOf(cause)))
	case r.refused():
		return nil // its refresh is under way
	}
	r.RefusedToken = used
	if err := r.Replace(tx, now, it, ""); err != nil {
		return err
	}
	return task.Wake(tx, now, refreshMessage(it.Owner, &r))
}

// Both returns the Outcome.Join that does both. The first may be nil.
func Both(one, other func(context.Context, *store.Tx) error) func(context.Context, *store.Tx) error {
	if one == nil {
		return other
	}
	return func(ctx context.Context, tx *store.Tx) error {
		if err := one(ctx, tx); err != nil {
			return err
		}
		return other(ctx, tx)
	}
}

// RefreshTime is the approximate duration of a refresh.
const RefreshTime = 5 * time.Second

// Refresh is the kind of the task that refreshes the token of an account before it ends.
const Refresh task.Kind = "social.refresh"

func refreshMessage(o tenant.Owner, r *Record) task.Message {
	return task.Message{ID: task.ID(Refresh, r.ID, r.Connection), Kind: Refresh, Queue: topology.Publish,
		Subject: r.ID, Owner: o}
}

// Connect adds to the transaction that an account is connected: its record, its event, and the tasks
// that refresh the token and read the figures of the account. The caller has filled in the record and
// sealed its token. The version of the item is 0 if the record is new.
func (r *Record) Connect(tx *store.Tx, now time.Time, it store.Item, token platform.Token) error {
	r.State, r.Consent, r.AuthorizationURL, r.ConnectedAs, r.TokenExpiresAt, r.ReconnectDueAt, r.Failure = Connected,
		nil, nil, nil, nil, nil, nil
	r.Connection++
	r.Barred, r.FiguresBarred, r.RefusedToken = false, false, 0
	r.stored(now, token)
	if r.TokenExpiresAt != nil {
		t := task.Task{Message: refreshMessage(it.Owner, r), DueAt: now.Add(r.pause(now))}
		if err := task.Create(tx, now, t, Refreshing{Connection: r.Connection}); err != nil {
			return err
		}
	}
	if err := r.StartMeasure(tx, now, it.Owner); err != nil {
		return err
	}
	if it.Version > 0 {
		return r.Replace(tx, now, it, event.SocialAccountConnected)
	}
	if err := r.WriteTo(&it); err != nil {
		return err
	}
	tx.Create(it, nil)
	e, err := event.New(now, it.Owner, event.SocialAccountConnected, r.View(), nil)
	if err != nil {
		return err
	}
	tx.Create(e, nil)
	return nil
}

// stored notes in the record that a token was stored.
func (r *Record) stored(now time.Time, token platform.Token) {
	r.Tokens++
	r.RefreshedAt = now
	before := r.ReconnectDueAt
	r.ReconnectDueAt = instant(token.EndsAt)
	r.TokenExpiresAt = instant(token.ExpiresAt)
	if r.TokenExpiresAt == nil || r.ReconnectDueAt != nil && r.ReconnectDueAt.Before(r.TokenExpiresAt.Time) {
		r.TokenExpiresAt = r.ReconnectDueAt
	}
	if before == nil || r.ReconnectDueAt == nil || r.ReconnectDueAt.After(before.Add(notice)) {
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

// notice is the time between the event that the owner has to connect the account again and the end of the access.
const notice = 14 * 24 * time.Hour

// pause returns the time until the next action for the token: its refresh, the event, or the end of the access.
func (r *Record) pause(now time.Time) time.Duration {
	ends := r.ReconnectDueAt
	next := r.RefreshedAt.Add(ahead(r.TokenExpiresAt.Sub(r.RefreshedAt)))
	switch {
	case ends == nil:
	case !r.Told:
		if tell := ends.Add(-notice); tell.Before(next) || !r.TokenExpiresAt.Before(ends.Time) {
			next = tell
		}
	case !r.TokenExpiresAt.Before(ends.Time) || ends.Before(next):
		next = ends.Time // no refresh extends it
	}
	return max(0, next.Sub(now))
}

// ahead returns the part of a token's life after which the token is refreshed. It leaves the last
// sixth for failures, but at least five minutes and at most seven days.
func ahead(life time.Duration) time.Duration {
	return max(life-min(max(life/6, 5*time.Minute), 7*24*time.Hour), life/2)
}
