// Package quota bounds the number of resources of a kind that an owner has, or that an account makes in a day. A
// resource that counts says so, so that those that were made before the bound do not. Limit.Begin counts an attempt;
// Bound.Take counts resources.
package quota

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// counted is the attribute of items that count. Its value tells where: with their owner, with their account, or with
// their account on a day, which it names.
const (
	counted   = "counted"
	byOwner   = "yes"
	byAccount = "account"
)

// key is the key of the count of a kind of an owner: of an account and mode, or of a profile in it.
func key(kind string, o tenant.Owner) store.Key {
	name := "quota#" + kind + "#" + o.String()
	if o.Profile != "" {
		name += "#" + string(o.Profile)
	}
	return store.IDKey(name)
}

// dayKey is the key of the count of a kind on a day of an account and mode.
func dayKey(kind string, o tenant.Owner, day string) store.Key {
	return store.IDKey("quota#" + kind + "#" + o.String() + "#" + day)
}

// wide returns the owner without its profile.
func wide(o tenant.Owner) tenant.Owner { return o.Of("") }

// keepDay is the time from the beginning of a day to the end of its count. It is more than a day, because an item may
// be counted and taken back in the last moment, by functions whose clocks differ.
const keepDay = 48 * time.Hour

// Take counts a new item, which the caller creates afterwards in the same transaction. If its owner has the most
// already, the commit is refused. Name is the plural of the kind.
func Take(tx *store.Tx, it *store.Item, most int64, name string) {
	mark(it, byOwner)
	tx.Count(key(it.Kind, it.Owner), 1, most, errs.New(errs.InvalidState, "There are already %d %s in this mode or "+
		"profile, which is the maximum. Delete one first.", most, name))
}

// Take counts a new item, as the function Take does, with the account and mode of its owner.
func (b Bound) Take(tx *store.Tx, now time.Time, it *store.Item) {
	most, where := b.Live, "The account"
	if it.Owner.Mode == tenant.Test {
		most, where = b.Test, "The sandbox"
	}
	if !b.Daily {
		mark(it, byAccount)
		tx.Count(key(it.Kind, wide(it.Owner)), 1, most, errs.New(errs.InvalidState, "%s already has %d %s, which is "+
			"the maximum. %s.", where, most, b.Name, b.Remedy))
		return
	}
	day := now.UTC().Truncate(24 * time.Hour)
	name := day.Format(time.DateOnly)
	mark(it, name)
	tx.CountUntil(dayKey(it.Kind, it.Owner, name), 1, most, day.Add(keepDay), errs.New(errs.InvalidState, "%s already "+
		"has %d %s of today (UTC), which is the maximum. %s, or wait until tomorrow.", where, most, b.Name, b.Remedy))
}

func mark(it *store.Item, where string) {
	if it.Attributes == nil {
		it.Attributes = map[string]string{}
	}
	it.Attributes[counted] = where
}

// Free counts an item no more. The caller deletes it in the same transaction, or replaces it by what is left of it.
func Free(tx *store.Tx, now time.Time, it store.Item) {
	var at store.Key
	switch where := it.Attributes[counted]; where {
	case "":
		return
	case byOwner:
		at = key(it.Kind, it.Owner)
	case byAccount:
		at = key(it.Kind, wide(it.Owner))
	case now.UTC().Format(time.DateOnly):
		at = dayKey(it.Kind, it.Owner, where)
	}
	delete(it.Attributes, counted)
	if at != (store.Key{}) { // an earlier day is over, and with it its count
		tx.Count(at, -1, math.MaxInt64, store.ErrConflict)
	}
}

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

// A Bound is the most resources of a kind that an account has, or makes in a day, with those of its profiles. It bounds
// what costs nothing to make, so that nobody fills the table for free. Live and sandbox count apart.
type Bound struct {
	// Name is the plural of the kind, and Remedy the sentence that says what makes room, without its full stop.
	Name, Remedy string
	Live, Test   int64
	// Daily bounds those of a day (UTC). It is for kinds that end by themselves, which no transaction counts.
	Daily bool
}

// mostInSandbox bounds the resources of a kind in a sandbox, which is free: a test of an agency that is set up in full
// has room.
const mostInSandbox = 500

// The bounds of live accounts. They are some times what the largest agencies have.
const (
	// A profile is a client of an agency.
	mostProfiles = 5000
	// These are four for each client.
	mostFactories = 20_000
	// Each client of an agency may have a design of its own.
	mostTemplates = 5000
	// A link is for a client's posts of some days: each client may have one a day.
	mostReviewLinks = 5000
	// Most accounts are connected within minutes, and then count no more.
	mostPendingAccounts = 2000
	// A chat costs nothing before its first message, and is never deleted: so a day has what people begin by hand.
	mostChats = 2000
	// A chat of the sandbox may have 300 KB for nothing.
	mostChatsInSandbox = 200
	// An experiment is never deleted, and runs for days: so a day has what a caller begins for some hundred factories.
	mostExperiments = 500
	// An export of a profile each: more read the account over and over.
	mostTransfers = 500
	// Each has a copy of all files, which is kept for days.
	mostWholeExports = 20
	// A rehearsal and a quote cost nothing, and are kept for days: so a day has what people try, and what programs ask
	// before each plan of some hundred factories.
	mostRehearsals = 2000
)

// WholeExport counts an export of an account as a whole, in addition to those of its profiles. The commit is refused if
// the account has begun the most of today.
func WholeExport(tx *store.Tx, now time.Time, o tenant.Owner) {
	day := now.UTC().Truncate(24 * time.Hour)
	tx.CountUntil(dayKey("export#whole", o, day.Format(time.DateOnly)), 1, mostWholeExports, day.Add(keepDay),
		errs.New(errs.InvalidState, "The account already has %d exports of the whole account of today (UTC), which is "+
			"the maximum. Fetch the parts of an earlier one, export single profiles, or wait until tomorrow.",
			mostWholeExports))
}

// The bounds. pkg/service/docs/guides/limits.md tells them to callers.
var (
	Profiles = Bound{Name: "profiles", Remedy: "Delete one first", Live: mostProfiles, Test: mostInSandbox}

	Factories = Bound{Name: "factories", Remedy: "Delete one first", Live: mostFactories, Test: mostInSandbox}

	Templates = Bound{Name: "templates", Remedy: "Delete one first", Live: mostTemplates, Test: mostInSandbox}

	ReviewLinks = Bound{Name: "review links", Remedy: "Delete one of them first", Live: mostReviewLinks,
		Test: mostInSandbox, Daily: true}

	PendingAccounts = Bound{Name: "pending social accounts", Remedy: "Connect or disconnect one of them first",
		Live: mostPendingAccounts, Test: mostInSandbox, Daily: true}

	Experiments = Bound{Name: "experiments", Remedy: "Start one of the drafts", Live: mostExperiments,
		Test: mostInSandbox, Daily: true}

	PostImports = Bound{Name: "imports of posts", Remedy: "Read the posts of an earlier one", Live: mostPendingAccounts,
		Test: mostInSandbox, Daily: true}

	Exports = Bound{Name: "exports", Remedy: "Fetch the parts of an earlier one", Live: mostTransfers,
		Test: mostInSandbox, Daily: true}

	Rehearsals = Bound{Name: "rehearsals", Remedy: "Use one of them", Live: mostRehearsals, Test: mostInSandbox,
		Daily: true}

	Quotes = Bound{Name: "quotes", Remedy: "Use one of them", Live: mostRehearsals, Test: mostInSandbox, Daily: true}

	Imports = Bound{Name: "imports", Remedy: "Read the map of an earlier one", Live: mostTransfers,
		Test: mostInSandbox, Daily: true}

	Chats = Bound{Name: "chats", Remedy: "Continue one of them", Live: mostChats, Test: mostChatsInSandbox, Daily: true}
)

// BytesKind is the kind of the item that says how many bytes are counted for the files of a resource.
const BytesKind = "stored_bytes"

// heldBytes is the document of such an item.
type heldBytes struct {
	Bytes int64 `json:"bytes"`
}

// BytesKey is the key of the count of the bytes that an owner stores.
func BytesKey(o tenant.Owner) store.Key { return store.IDKey("media-bytes#" + o.String()) }

// heldKey is the key of the item with the bytes of a resource.
func heldKey(subject string) store.Key { return store.IDKey("bytes#" + subject) }

// HoldBytes adds to the transaction that an owner stores more bytes, for a resource. The commit fails with the error if
// they would be more than most.
func HoldBytes(tx *store.Tx, o tenant.Owner, subject string, bytes, most int64, failed error) error {
	it := store.Item{Key: heldKey(subject), Kind: BytesKind, Owner: o}
	if err := it.Encode(heldBytes{bytes}); err != nil {
		return err
	}
	tx.Create(it, nil)
	tx.Count(BytesKey(o), bytes, most, failed)
	return nil
}

// FreeBytes adds to the transaction that the bytes that are held for a resource are free again, if there are any.
func FreeBytes(ctx context.Context, db *store.DB, tx *store.Tx, subject string) error {
	it, err := db.Lookup(ctx, heldKey(subject))
	if err != nil || it.Kind != BytesKind {
		return err
	}
	var held heldBytes
	if err := it.Decode(&held); err != nil {
		return err
	}
	tx.Delete(it)
	tx.Count(BytesKey(it.Owner), -held.Bytes, math.MaxInt64, store.ErrConflict)
	return nil
}

// The most reads of feeds and pages of one host that an account has the service make in a day: of 25 feeds every 15
// minutes, and of five in the sandbox, which is free.
const (
	MostOfHost        = 2400
	MostOfHostSandbox = 480
)

var errHost = errors.New("attempts: the host was read too often today")

// OfHost counts a read of an address of somebody else, and reports whether the account may make it: its host is read so
// often in a day only. All profiles of an account count together.
func OfHost(ctx context.Context, db *store.DB, now time.Time, o tenant.Owner, address string) (bool, error) {
	u, err := url.Parse(address)
	if err != nil {
		return true, nil // it is never called
	}
	most, day := int64(MostOfHost), now.UTC().Format(time.DateOnly)
	if o.Mode == tenant.Test {
		most = MostOfHostSandbox
	}
	sum := sha256.Sum256([]byte(strings.ToLower(u.Hostname())))
	tx := &store.Tx{}
	tx.CountUntil(store.IDKey(fmt.Sprintf("hostreads#%s#%s#%s", o, day, hex.EncodeToString(sum[:12]))), 1, most,
		now.Add(2*24*time.Hour), errHost)
	if err = db.Commit(tenant.Unconfined(ctx), tx); errors.Is(err, errHost) {
		return false, nil
	}
	return err == nil, err
}
