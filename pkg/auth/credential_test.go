package auth_test

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// window is the window of the tests' first calls.
const window = 100

// mostTries is how often a call is tried that meets others.
const mostTries = 6

// credentialWorld is a table of credentials with a clock and faults.
type credentialWorld struct {
	*servicetest.World
	counter *credential.Counter
}

// newWorld opens a table with the key key_1 and credentials of it.
func newCredentialWorld(t *testing.T, all ...credential.Credential) *credentialWorld {
	t.Helper()
	w := &credentialWorld{World: servicetest.New(t)}
	w.counter = credential.NewCounter(w.DB, w.Clock.Now)
	it, err := store.NewItem("api_key", owner, "key_1", map[string]string{"name": "key"})
	if err != nil {
		t.Fatal(err)
	}
	it.Key = credential.KeyOf(owner.Account, "key_1")
	w.commit(func(tx *store.Tx) {
		tx.Create(it, nil)
		for _, c := range all {
			credential.Create(tx, c)
		}
	})
	w.Faults.Reset()
	return w
}

// commit carries out a transaction that must hold.
func (w *credentialWorld) commit(fill func(*store.Tx)) {
	w.T.Helper()
	w.is("the commit", w.try(fill), nil)
}

func (w *credentialWorld) try(fill func(*store.Tx)) error {
	tx := &store.Tx{}
	fill(tx)
	return w.DB.Commit(w.T.Context(), tx)
}

// is checks an error.
func (w *credentialWorld) is(what string, err, want error) {
	w.T.Helper()
	if !errors.Is(err, want) {
		w.T.Errorf("%s returns %v, want %v", what, err, want)
	}
}

// unchanged checks that a call of do leaves the table as it is.
func (w *credentialWorld) unchanged(do func()) {
	w.T.Helper()
	before := storetest.Snapshot(w.T, w.DB)
	do()
	if after := storetest.Snapshot(w.T, w.DB); after != before {
		w.T.Errorf("the table has changed from\n%s\nto\n%s", before, after)
	}
}

// owner is the owner of the key.
var owner = tenant.Of("acc_1", tenant.Test)

var spendLimit int64 = 5000

// credentialSecret makes the credential of a key that may do everything.
func credentialSecret(hash string) credential.Credential {
	return credential.Credential{
		Hash: hash, KeyID: "key_1", Owner: owner, Plan: "enterprise",
		Scopes: []string{"content:read", "content:write"}, KeyIPs: []string{"10.0.0.0/8"},
		AccountIPs: []string{"10.1.0.0/16", "2001:db8::/32"},
		Limit:      60, SpendLimit: &spendLimit,
		Makers: []auth.KeyLimit{{Key: "key_0", Limit: &spendLimit}, {Key: "key_00"}},
	}
}

// call counts a call with a known key, and returns the credential.
func (w *credentialWorld) call(hash string, window int64) *credential.Credential {
	w.T.Helper()
	c, err := w.counter.Count(w.T.Context(), hash, window, "198.51.100.7")
	if err != nil {
		w.T.Fatalf("%s: %v", hash, err)
	}
	return c
}

// lastUsed reads when and from where the key was last used.
func (w *credentialWorld) lastUsed() (time.Time, string) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), credential.KeyOf(owner.Account, "key_1"))
	if err != nil {
		w.T.Fatal(err)
	}
	return credential.LastUsed(&it)
}

func TestACallIsCountedInOneRoundTrip(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	w.Faults.Reset()
	want := credentialSecret("hash")
	want.Count = 1
	if got := w.call("hash", window); !same(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	if got := w.Faults.Operations(); got != "UpdateItem TransactWriteItems UpdateItem" {
		t.Errorf("the first call of a window took %s", got)
	}
	w.Faults.Reset()
	want.Count = 2
	if got := w.call("hash", window); !same(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	if got := w.Faults.Operations(); got != "UpdateItem" {
		t.Errorf("the second call took %s", got)
	}
	for want := 3; want < 70; want++ { // counting does not end at the limit
		if got := w.call("hash", window); got.Count != want {
			t.Fatalf("counted %d, want %d", got.Count, want)
		}
	}
	if got := w.call("hash", window+1); got.Count != 1 {
		t.Errorf("the new window began with %d", got.Count)
	}
}

func TestOnlyTheFirstCallOfAWindowIsNotedOnTheKey(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	if at, ip := w.lastUsed(); !at.IsZero() || ip != "" {
		t.Errorf("before its first call it was used at %v from %s", at, ip)
	}
	first := w.Clock.Now()
	for _, ip := range []string{"198.51.100.7", "203.0.113.9"} {
		if _, err := w.counter.Count(t.Context(), "hash", window, ip); err != nil {
			t.Fatal(err)
		}
		w.Clock.Add(10 * time.Second)
		if at, ip := w.lastUsed(); !at.Equal(first) || ip != "198.51.100.7" {
			t.Errorf("it was used at %v from %s", at, ip)
		}
	}
	second := w.Clock.Now()
	if _, err := w.counter.Count(t.Context(), "hash", window+1, "203.0.113.9"); err != nil {
		t.Fatal(err)
	}
	if at, ip := w.lastUsed(); !at.Equal(second) || ip != "203.0.113.9" {
		t.Errorf("it was used at %v from %s", at, ip)
	}
	// This does not change the version: a write based on an earlier read succeeds.
	it, err := w.DB.Get(t.Context(), credential.KeyOf(owner.Account, "key_1"))
	if err != nil || it.Version != 1 {
		t.Errorf("the key has version %d, %v", it.Version, err)
	}
}

func TestAnUnknownSecret(t *testing.T) {
	w := newCredentialWorld(t)
	w.unchanged(func() {
		_, err := w.counter.Count(t.Context(), "hash", window, "")
		w.is("the call", err, store.ErrNotFound)
	})
	if got := w.Faults.Operations(); got != "UpdateItem" {
		t.Errorf("it took %s", got)
	}
}

func TestASecretThatHasEndedIsKnownButNotCounted(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	ends := credentialSecret("ends")
	ends.ExpiresAt = w.Clock.Now().Add(time.Minute)
	w.commit(func(tx *store.Tx) { credential.Create(tx, ends) })
	for _, hash := range []string{"hash", "ends"} {
		for want := 1; want <= 2; want++ {
			if s := w.call(hash, window); s.Count != want || s.Ended(w.Clock.Now()) {
				t.Errorf("%s: %+v", hash, *s)
			}
		}
	}
	w.commit(func(tx *store.Tx) { credential.Revoke(tx, "hash", w.Clock.Now()) })
	w.Clock.Add(time.Minute - time.Millisecond)
	if s := w.call("ends", window); s.Count != 3 || s.Ended(w.Clock.Now()) {
		t.Errorf("just before its end: %+v", *s)
	}
	w.Clock.Add(time.Millisecond)
	w.Faults.Reset()
	w.unchanged(func() {
		for _, hash := range []string{"hash", "ends"} {
			for _, n := range []int64{window, window + 1} {
				s := w.call(hash, n)
				if !s.Ended(w.Clock.Now()) || s.KeyID != "key_1" || s.Revoked != (hash == "hash") {
					t.Errorf("%s: %+v", hash, *s)
				}
				if n > window && s.Count != 0 {
					t.Errorf("%s: the new window has seen %d calls", hash, s.Count)
				}
			}
		}
	})
	if got := w.Faults.Operations(); got != "UpdateItem UpdateItem UpdateItem UpdateItem" {
		t.Errorf("they took %s", got)
	}
	w.Clock.Add(time.Millisecond) // of the window that counted before the end
	w.unchanged(func() {
		if s := w.call("ends", window); !s.Ended(w.Clock.Now()) {
			t.Errorf("after its end: %+v", *s)
		}
	})
}

func TestAMovedSecretLeadsToTheNewOne(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("old"))
	until := w.Clock.Now().Add(time.Hour)
	stronger := credentialSecret("new")
	stronger.Scopes = []string{"content:read", "studio:use"}
	w.commit(func(tx *store.Tx) { credential.Create(tx, stronger) })
	w.commit(func(tx *store.Tx) { credential.Move(tx, "old", "new", until) })
	if s := w.call("old", window); s.Count != 1 || s.Hash != "new" || !slices.Equal(s.Scopes, stronger.Scopes) ||
		!s.UntilAt.Equal(until) {
		t.Errorf("the first call with the old secret: %+v", *s)
	}
	if s := w.call("new", window); s.Count != 2 || !s.UntilAt.IsZero() {
		t.Errorf("the second call, with the new one: %+v", *s)
	}
	w.call("new", window)
	w.Faults.Reset()
	if s := w.call("old", window); s.Count != 4 {
		t.Errorf("the fourth call, with the old one: %+v", *s)
	}
	if got := w.Faults.Operations(); got != "UpdateItem UpdateItem" {
		t.Errorf("it took %s", got)
	}
	w.Clock.Add(time.Hour)
	w.unchanged(func() {
		if s := w.call("old", window); !s.Ended(w.Clock.Now()) || s.Revoked {
			t.Errorf("after its overlap: %+v", *s)
		}
	})
	if s := w.call("new", window); s.Count != 5 || s.Ended(w.Clock.Now()) {
		t.Errorf("the new one then: %+v", *s)
	}
}

func TestAMovedSecretEndsWithTheNewOne(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("old"), credentialSecret("new"))
	w.commit(func(tx *store.Tx) { credential.Move(tx, "old", "new", w.Clock.Now().Add(time.Hour)) })
	w.commit(func(tx *store.Tx) { credential.Revoke(tx, "new", w.Clock.Now()) })
	w.unchanged(func() {
		if s := w.call("old", window); !s.Ended(w.Clock.Now()) || !s.Revoked {
			t.Errorf("%+v", *s)
		}
	})
}

func TestConcurrentFirstCallsAreCountedExactly(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	for at := int64(window); at < window+3; at++ {
		const n = 5
		counts := make([]int, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				if s, err := w.counter.Count(t.Context(), "hash", at, ""); err != nil {
					t.Error(err)
				} else {
					counts[i] = s.Count
				}
			})
		}
		all.Wait()
		slices.Sort(counts)
		if !slices.Equal(counts, []int{1, 2, 3, 4, 5}) {
			t.Errorf("window %d counted %v", at, counts)
		}
	}
}

func TestAnotherCallOpensTheWindow(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	w.Faults.Before("TransactWriteItems", func() {
		if s := w.call("hash", window); s.Count != 1 {
			t.Errorf("the other call was counted as %d", s.Count)
		}
	})
	if s := w.call("hash", window); s.Count != 2 {
		t.Errorf("our call was counted as %d", s.Count)
	}
}

func TestASecretIsRevokedWhileItsWindowOpens(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	w.Faults.Before("TransactWriteItems", func() {
		w.commit(func(tx *store.Tx) { credential.Revoke(tx, "hash", w.Clock.Now()) })
	})
	if s := w.call("hash", window); !s.Ended(w.Clock.Now()) {
		t.Errorf("%+v", *s)
	}
	if at, _ := w.lastUsed(); !at.IsZero() {
		t.Error("the refused call is noted as a use")
	}
}

func TestAClockThatIsAhead(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	w.call("hash", window+1)
	at, _ := w.lastUsed()
	w.Clock.Add(time.Second)
	w.Faults.Reset()
	if s := w.call("hash", window); s.Count != 2 {
		t.Errorf("the call of the clock behind was counted as %d", s.Count)
	}
	if got := w.Faults.Operations(); got != "UpdateItem UpdateItem" {
		t.Errorf("it took %s", got)
	}
	if again, _ := w.lastUsed(); !again.Equal(at) {
		t.Error("it was noted as the first call of a window")
	}
	if s := w.call("hash", window+1); s.Count != 3 {
		t.Errorf("the next call was counted as %d", s.Count)
	}
}

func TestContentionOfACountedCall(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	w.call("hash", window)
	w.Faults.Reset()
	w.Faults.Reject("UpdateItem", "TransactionConflictException", 3)
	if s := w.call("hash", window); s.Count != 2 {
		t.Errorf("counted %d", s.Count)
	}
	w.Faults.Reset()
	w.Faults.Reject("UpdateItem", "TransactionConflictException", 1000)
	if s, err := w.counter.Count(t.Context(), "hash", window, ""); err == nil {
		t.Errorf("without an end it gives %+v", *s)
	}
	if n := len(w.Faults.Calls()); n != mostTries {
		t.Errorf("there were %d tries", n)
	}
	w.Faults.Reset()
	// The transaction that opens a window meets another one.
	w.Faults.Cancel(2, "TransactionConflict", "None")
	if s := w.call("hash", window+1); s.Count != 1 {
		t.Errorf("counted %d", s.Count)
	}
}

func TestACallWhoseAnswerWasLostIsCountedOnce(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	for _, at := range []int64{window, window, window + 1, window + 1} {
		w.call("hash", at)
		before := w.call("hash", at).Count
		w.Faults.Reset()
		w.Faults.Lose("UpdateItem", 1)
		if s := w.call("hash", at); s.Count != before+1 {
			t.Errorf("the call after %d others was counted as %d", before, s.Count)
		}
		if got := w.Faults.Operations(); got != "UpdateItem UpdateItem" {
			t.Errorf("it took %s", got)
		}
		w.Faults.Reset()
		if s := w.call("hash", at); s.Count != before+2 {
			t.Errorf("the next call was counted as %d", s.Count)
		}
	}
}

func TestACallThatCannotBeCountedIsAnError(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	for name, fault := range map[string]func(){
		"throttled":     func() { w.Faults.Reject("UpdateItem", "ThrottlingException", 1000) },
		"no permission": func() { w.Faults.Reject("UpdateItem", "AccessDeniedException", 1000) },
		"no table":      func() { w.Faults.Reject("UpdateItem", "ResourceNotFoundException", 1000) },
		"no window":     func() { w.Faults.Reject("TransactWriteItems", "AccessDeniedException", 1000) },
	} {
		w.Faults.Reset()
		fault()
		if s, err := w.counter.Count(t.Context(), "hash", window, ""); err == nil || s != nil ||
			errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	w.Faults.Reset()
	orphan := credentialSecret("orphan")
	orphan.KeyID = "key_2"
	w.commit(func(tx *store.Tx) { credential.Create(tx, orphan) })
	if s, err := w.counter.Count(t.Context(), "orphan", window, ""); err == nil {
		t.Errorf("a secret without its key gives %+v", *s)
	}
}

func TestASecretIsCreatedOnceAndChangedOnlyWhereItIs(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	other := credentialSecret("hash")
	other.Limit = 1000
	w.unchanged(func() {
		for what, fill := range map[string]func(*store.Tx){
			"a second create":         func(tx *store.Tx) { credential.Create(tx, other) },
			"a change of nothing":     func(tx *store.Tx) { credential.Change(tx, credentialSecret("nothing")) },
			"a revocation of nothing": func(tx *store.Tx) { credential.Revoke(tx, "nothing", w.Clock.Now()) },
			"a move of nothing": func(tx *store.Tx) {
				credential.Move(tx, "nothing", "hash",
					w.Clock.Now())
			},
			"a change of nothing's account": func(tx *store.Tx) {
				credential.ChangeAccount(tx, "nothing",
					"x", nil, 1)
			},
			"a change of account with nothing": func(tx *store.Tx) {
				credential.ChangeAccount(tx, "nothing", "x",
					[]string{"::/0"}, 1)
			},
		} {
			w.is(what, w.try(fill), store.ErrConflict)
		}
	})
}

func TestAChangeOfASecretKeepsItsCount(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	w.call("hash", window)
	want := credential.Credential{
		Hash: "hash", KeyID: "key_1", Owner: owner, Plan: "enterprise",
		Scopes: []string{"account:read"}, KeyIPs: []string{}, AccountIPs: []string{}, Limit: 7, SpendLimit: new(int64),
		ExpiresAt: w.Clock.Now().Add(time.Hour),
	}
	w.commit(func(tx *store.Tx) { credential.Change(tx, want) })
	want.Count, want.Makers = 2, credentialSecret("hash").Makers // which only ChangeMakers changes
	if got := w.call("hash", window); !same(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	w.commit(func(tx *store.Tx) {
		credential.ChangeAccount(tx, "hash", "starter", []string{"192.0.2.0/24"}, 9)
	})
	want.Plan, want.AccountIPs, want.Limit, want.Count = "starter", []string{"192.0.2.0/24"}, 9, 3
	if got := w.call("hash", window); !same(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	w.commit(func(tx *store.Tx) { credential.ChangeAccount(tx, "hash", "starter", nil, 9) })
	want.AccountIPs, want.Count = []string{}, 4
	if got := w.call("hash", window); !same(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	want.Makers, want.Count = []auth.KeyLimit{{Key: "key_0"}, {Key: "key_00", Limit: new(int64)}}, 5
	w.commit(func(tx *store.Tx) { credential.ChangeMakers(tx, "hash", want.Makers) })
	if got := w.call("hash", window); !same(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
}

// A secret that a person has lent to a program ends with the person at once, and follows the role. Other secrets are
// found without a look at anybody.
func TestALentSecretEndsWithItsPerson(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("base"))
	personID := id.New(id.Person, w.Clock.Now())
	it, err := store.NewItem("person", owner, personID, map[string]string{"state": "active", "role": "developer"})
	if err != nil {
		t.Fatal(err)
	}
	it.Key = credential.KeyOf(owner.Account, personID)
	base := credentialSecret("base")
	w.commit(func(tx *store.Tx) {
		tx.Create(it, nil)
		credential.Lend(tx, "lent", &base, w.Clock.Now().Add(time.Hour), personID)
	})
	w.call("base", window)
	w.Faults.Reset()
	w.call("base", window)
	if ops := w.Faults.Operations(); ops != "UpdateItem" {
		t.Errorf("a call with a key took %s", ops)
	}
	change := func(state, role string) {
		it, err := w.DB.Get(t.Context(), it.Key)
		if err != nil {
			t.Fatal(err)
		}
		if err := it.Encode(map[string]string{"state": state, "role": role}); err != nil {
			t.Fatal(err)
		}
		w.commit(func(tx *store.Tx) { tx.Replace(it) })
	}
	if c := w.call("lent", window); c.Ended(w.Clock.Now()) || len(c.Scopes) != 2 {
		t.Errorf("%+v", c)
	}
	change("active", "auditor")
	if c := w.call("lent", window); c.Ended(w.Clock.Now()) || !slices.Equal(c.Scopes, []string{"content:read"}) {
		t.Errorf("as an auditor: %+v", c)
	}
	change("removed", "auditor")
	if c := w.call("lent", window); !c.Ended(w.Clock.Now()) {
		t.Errorf("removed: %+v", c)
	}
	if c := w.call("base", window); c.Ended(w.Clock.Now()) {
		t.Errorf("the key itself has ended: %+v", c)
	}
}

// same reports whether two credentials are alike but for the random key of their tickets.
func same(got, want credential.Credential) bool {
	got.TicketKey = want.TicketKey
	return reflect.DeepEqual(got, want)
}
