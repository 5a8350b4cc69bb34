package store_test

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// window is the window of the tests' first calls.
const window = 100

// secret makes the secret of a key that may do everything.
func secret(hash string) store.Secret {
	return store.Secret{
		Hash: hash, KeyID: "key_1", Account: "acc_1", Mode: "test", Plan: "enterprise",
		Scopes: []string{"content:read", "content:write"}, KeyIPs: []string{"10.0.0.0/8"}, AccountIPs: []string{"10.1.0.0/16", "2001:db8::/32"},
		Limit: 60,
	}
}

// key puts the item of the key key_1 into the table, and secrets of it.
func key(t testing.TB, db *store.DB, secrets ...store.Secret) {
	t.Helper()
	it, err := store.NewItem("api_key", "acc_1", "", "key_1", doc{"key"})
	if err != nil {
		t.Fatal(err)
	}
	it.Key = store.APIKeyKey("acc_1", "key_1")
	commit(t, db, func(tx *store.Tx) {
		tx.Create(it, nil)
		for _, s := range secrets {
			tx.CreateSecret(s)
		}
	})
}

// call counts a call that must be known, and gives what is known.
func call(t testing.TB, db *store.DB, hash string, window int64) *store.Secret {
	t.Helper()
	s, err := db.CountCall(t.Context(), hash, window, "198.51.100.7")
	if err != nil {
		t.Fatalf("%s: %v", hash, err)
	}
	return s
}

// lastUsed reads when and from where the key was last used.
func lastUsed(t testing.TB, db *store.DB) (time.Time, string) {
	t.Helper()
	it, err := db.Get(t.Context(), store.APIKeyKey("acc_1", "key_1"))
	if err != nil {
		t.Fatal(err)
	}
	return store.LastUsed(&it)
}

func TestACallIsCountedInOneRoundTrip(t *testing.T) {
	db, faults, _ := faulty(t)
	key(t, db, secret("hash"))
	faults.Reset()
	want := secret("hash")
	want.Count = 1
	if got := call(t, db, "hash", window); !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	if got := faults.Operations(); got != "UpdateItem TransactWriteItems" {
		t.Errorf("the first call of a window took %s", got)
	}
	faults.Reset()
	want.Count = 2
	if got := call(t, db, "hash", window); !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	if got := faults.Operations(); got != "UpdateItem" {
		t.Errorf("the second call took %s", got)
	}
	for want := 3; want < 70; want++ { // counting does not end at the limit
		if got := call(t, db, "hash", window); got.Count != want {
			t.Fatalf("counted %d, want %d", got.Count, want)
		}
	}
	if got := call(t, db, "hash", window+1); got.Count != 1 {
		t.Errorf("the new window began with %d", got.Count)
	}
}

func TestOnlyTheFirstCallOfAWindowIsNotedOnTheKey(t *testing.T) {
	db, _, clock := faulty(t)
	key(t, db, secret("hash"))
	if at, ip := lastUsed(t, db); !at.IsZero() || ip != "" {
		t.Errorf("before its first call it was used at %v from %s", at, ip)
	}
	first := clock.Now()
	for _, ip := range []string{"198.51.100.7", "203.0.113.9"} {
		if _, err := db.CountCall(t.Context(), "hash", window, ip); err != nil {
			t.Fatal(err)
		}
		clock.Add(10 * time.Second)
		if at, ip := lastUsed(t, db); !at.Equal(first) || ip != "198.51.100.7" {
			t.Errorf("it was used at %v from %s", at, ip)
		}
	}
	second := clock.Now()
	if _, err := db.CountCall(t.Context(), "hash", window+1, "203.0.113.9"); err != nil {
		t.Fatal(err)
	}
	if at, ip := lastUsed(t, db); !at.Equal(second) || ip != "203.0.113.9" {
		t.Errorf("it was used at %v from %s", at, ip)
	}
	// It is no change of the key: whoever has read it may still write it.
	it, err := db.Get(t.Context(), store.APIKeyKey("acc_1", "key_1"))
	if err != nil || it.Version != 1 {
		t.Errorf("the key has version %d, %v", it.Version, err)
	}
}

func TestAnUnknownSecret(t *testing.T) {
	db, faults, _ := faulty(t)
	unchanged(t, db, func() {
		_, err := db.CountCall(t.Context(), "hash", window, "")
		is(t, "the call", err, store.ErrNotFound)
	})
	if got := faults.Operations(); got != "UpdateItem" {
		t.Errorf("it took %s", got)
	}
}

func TestASecretThatHasEndedIsKnownButNotCounted(t *testing.T) {
	db, faults, clock := faulty(t)
	ends := secret("ends")
	ends.ExpiresAt = clock.Now().Add(time.Minute)
	key(t, db, secret("hash"), ends)
	for _, hash := range []string{"hash", "ends"} {
		for want := 1; want <= 2; want++ {
			if s := call(t, db, hash, window); s.Count != want || s.Ended(clock.Now()) {
				t.Errorf("%s: %+v", hash, *s)
			}
		}
	}
	commit(t, db, func(tx *store.Tx) { tx.RevokeSecret("hash") })
	clock.Add(time.Minute - time.Millisecond)
	if s := call(t, db, "ends", window); s.Count != 3 || s.Ended(clock.Now()) {
		t.Errorf("just before its end: %+v", *s)
	}
	clock.Add(time.Millisecond)
	faults.Reset()
	unchanged(t, db, func() {
		for _, hash := range []string{"hash", "ends"} {
			for _, w := range []int64{window, window + 1} {
				s := call(t, db, hash, w)
				if !s.Ended(clock.Now()) || s.KeyID != "key_1" || s.Revoked != (hash == "hash") {
					t.Errorf("%s: %+v", hash, *s)
				}
				if w > window && s.Count != 0 {
					t.Errorf("%s: the new window has seen %d calls", hash, s.Count)
				}
			}
		}
	})
	if got := faults.Operations(); got != "UpdateItem UpdateItem UpdateItem UpdateItem" {
		t.Errorf("they took %s", got)
	}
	clock.Add(time.Millisecond) // of the window that counted before the end
	unchanged(t, db, func() {
		if s := call(t, db, "ends", window); !s.Ended(clock.Now()) {
			t.Errorf("after its end: %+v", *s)
		}
	})
}

func TestAMovedSecretLeadsToTheNewOne(t *testing.T) {
	db, faults, clock := faulty(t)
	until := clock.Now().Add(time.Hour)
	stronger := secret("new")
	stronger.Scopes = []string{"content:read", "studio:use"}
	key(t, db, secret("old"), stronger)
	commit(t, db, func(tx *store.Tx) { tx.MoveSecret("old", "new", until) })
	if s := call(t, db, "old", window); s.Count != 1 || s.Hash != "new" || !slices.Equal(s.Scopes, stronger.Scopes) || !s.UntilAt.Equal(until) {
		t.Errorf("the first call with the old secret: %+v", *s)
	}
	if s := call(t, db, "new", window); s.Count != 2 || !s.UntilAt.IsZero() {
		t.Errorf("the second call, with the new one: %+v", *s)
	}
	faults.Reset()
	if s := call(t, db, "old", window); s.Count != 3 {
		t.Errorf("the third call, with the old one: %+v", *s)
	}
	if got := faults.Operations(); got != "UpdateItem UpdateItem" {
		t.Errorf("it took %s", got)
	}
	clock.Add(time.Hour)
	unchanged(t, db, func() {
		if s := call(t, db, "old", window); !s.Ended(clock.Now()) || s.Revoked {
			t.Errorf("after its overlap: %+v", *s)
		}
	})
	if s := call(t, db, "new", window); s.Count != 4 || s.Ended(clock.Now()) {
		t.Errorf("the new one then: %+v", *s)
	}
}

func TestAMovedSecretEndsWithTheNewOne(t *testing.T) {
	db, _, clock := faulty(t)
	key(t, db, secret("old"), secret("new"))
	commit(t, db, func(tx *store.Tx) { tx.MoveSecret("old", "new", clock.Now().Add(time.Hour)) })
	commit(t, db, func(tx *store.Tx) { tx.RevokeSecret("new") })
	unchanged(t, db, func() {
		if s := call(t, db, "old", window); !s.Ended(clock.Now()) || !s.Revoked {
			t.Errorf("%+v", *s)
		}
	})
}

func TestConcurrentFirstCallsAreCountedExactly(t *testing.T) {
	db, _, _ := faulty(t)
	key(t, db, secret("hash"))
	for w := int64(window); w < window+3; w++ {
		const n = 5
		counts := make([]int, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				if s, err := db.CountCall(t.Context(), "hash", w, ""); err != nil {
					t.Error(err)
				} else {
					counts[i] = s.Count
				}
			})
		}
		all.Wait()
		slices.Sort(counts)
		if !slices.Equal(counts, []int{1, 2, 3, 4, 5}) {
			t.Errorf("window %d counted %v", w, counts)
		}
	}
}

func TestAnotherCallOpensTheWindow(t *testing.T) {
	db, faults, _ := faulty(t)
	key(t, db, secret("hash"))
	faults.Before("TransactWriteItems", func() {
		if s := call(t, db, "hash", window); s.Count != 1 {
			t.Errorf("the other call was counted as %d", s.Count)
		}
	})
	if s := call(t, db, "hash", window); s.Count != 2 {
		t.Errorf("our call was counted as %d", s.Count)
	}
}

func TestASecretIsRevokedWhileItsWindowOpens(t *testing.T) {
	db, faults, clock := faulty(t)
	key(t, db, secret("hash"))
	faults.Before("TransactWriteItems", func() {
		commit(t, db, func(tx *store.Tx) { tx.RevokeSecret("hash") })
	})
	if s := call(t, db, "hash", window); !s.Ended(clock.Now()) {
		t.Errorf("%+v", *s)
	}
	if at, _ := lastUsed(t, db); !at.IsZero() {
		t.Error("the refused call is noted as a use")
	}
}

func TestAClockThatIsAhead(t *testing.T) {
	db, faults, clock := faulty(t)
	key(t, db, secret("hash"))
	call(t, db, "hash", window+1)
	at, _ := lastUsed(t, db)
	clock.Add(time.Second)
	faults.Reset()
	if s := call(t, db, "hash", window); s.Count != 2 {
		t.Errorf("the call of the clock behind was counted as %d", s.Count)
	}
	if got := faults.Operations(); got != "UpdateItem UpdateItem" {
		t.Errorf("it took %s", got)
	}
	if again, _ := lastUsed(t, db); !again.Equal(at) {
		t.Error("it was noted as the first call of a window")
	}
	if s := call(t, db, "hash", window+1); s.Count != 3 {
		t.Errorf("the next call was counted as %d", s.Count)
	}
}

func TestContentionOfACountedCall(t *testing.T) {
	db, faults, _ := faulty(t)
	key(t, db, secret("hash"))
	call(t, db, "hash", window)
	faults.Reset()
	faults.Refuse("UpdateItem", "TransactionConflictException", 3)
	if s := call(t, db, "hash", window); s.Count != 2 {
		t.Errorf("counted %d", s.Count)
	}
	faults.Reset()
	faults.Refuse("UpdateItem", "TransactionConflictException", 1000)
	if s, err := db.CountCall(t.Context(), "hash", window, ""); err == nil {
		t.Errorf("without an end it gives %+v", *s)
	}
	if n := len(faults.Calls()); n != mostTries {
		t.Errorf("there were %d tries", n)
	}
	faults.Reset()
	// The transaction that opens a window meets another one.
	faults.Cancel(2, "TransactionConflict", "None")
	if s := call(t, db, "hash", window+1); s.Count != 1 {
		t.Errorf("counted %d", s.Count)
	}
}

func TestACallWhoseAnswerWasLostIsCountedOnce(t *testing.T) {
	db, faults, _ := faulty(t)
	key(t, db, secret("hash"))
	for _, w := range []int64{window, window, window + 1, window + 1} {
		call(t, db, "hash", w)
		before := call(t, db, "hash", w).Count
		faults.Reset()
		faults.Lose("UpdateItem", 1)
		if s := call(t, db, "hash", w); s.Count != before+1 {
			t.Errorf("the call after %d others was counted as %d", before, s.Count)
		}
		if got := faults.Operations(); got != "UpdateItem UpdateItem" {
			t.Errorf("it took %s", got)
		}
		faults.Reset()
		if s := call(t, db, "hash", w); s.Count != before+2 {
			t.Errorf("the next call was counted as %d", s.Count)
		}
	}
}

func TestACallThatCannotBeCountedIsAnError(t *testing.T) {
	db, faults, _ := faulty(t)
	key(t, db, secret("hash"))
	for name, fault := range map[string]func(){
		"throttled":     func() { faults.Refuse("UpdateItem", "ThrottlingException", 1000) },
		"no permission": func() { faults.Refuse("UpdateItem", "AccessDeniedException", 1000) },
		"no table":      func() { faults.Refuse("UpdateItem", "ResourceNotFoundException", 1000) },
		"no window":     func() { faults.Refuse("TransactWriteItems", "AccessDeniedException", 1000) },
	} {
		faults.Reset()
		fault()
		if s, err := db.CountCall(t.Context(), "hash", window, ""); err == nil || s != nil || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	faults.Reset()
	orphan := secret("orphan")
	orphan.KeyID = "key_2"
	commit(t, db, func(tx *store.Tx) { tx.CreateSecret(orphan) })
	if s, err := db.CountCall(t.Context(), "orphan", window, ""); err == nil {
		t.Errorf("a secret without its key gives %+v", *s)
	}
}

func TestASecretIsCreatedOnceAndChangedOnlyWhereItIs(t *testing.T) {
	db, _, clock := faulty(t)
	key(t, db, secret("hash"))
	other := secret("hash")
	other.Limit = 1000
	unchanged(t, db, func() {
		for what, fill := range map[string]func(*store.Tx){
			"a second create":                  func(tx *store.Tx) { tx.CreateSecret(other) },
			"a change of nothing":              func(tx *store.Tx) { tx.ChangeSecret(secret("nothing")) },
			"a revocation of nothing":          func(tx *store.Tx) { tx.RevokeSecret("nothing") },
			"a move of nothing":                func(tx *store.Tx) { tx.MoveSecret("nothing", "hash", clock.Now()) },
			"a change of nothing's account":    func(tx *store.Tx) { tx.ChangeSecretAccount("nothing", "x", nil, 1) },
			"a change of account with nothing": func(tx *store.Tx) { tx.ChangeSecretAccount("nothing", "x", []string{"::/0"}, 1) },
		} {
			is(t, what, try(t.Context(), db, fill), store.ErrConflict)
		}
	})
}

func TestAChangeOfASecretKeepsItsCount(t *testing.T) {
	db, _, clock := faulty(t)
	key(t, db, secret("hash"))
	call(t, db, "hash", window)
	want := store.Secret{
		Hash: "hash", KeyID: "key_1", Account: "acc_1", Mode: "test", Plan: "enterprise",
		Scopes: []string{"account:read"}, KeyIPs: []string{}, AccountIPs: []string{}, Limit: 7,
		ExpiresAt: clock.Now().Add(time.Hour),
	}
	commit(t, db, func(tx *store.Tx) { tx.ChangeSecret(want) })
	want.Count = 2
	if got := call(t, db, "hash", window); !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	commit(t, db, func(tx *store.Tx) {
		tx.ChangeSecretAccount("hash", "starter", []string{"192.0.2.0/24"}, 9)
	})
	want.Plan, want.AccountIPs, want.Limit, want.Count = "starter", []string{"192.0.2.0/24"}, 9, 3
	if got := call(t, db, "hash", window); !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	commit(t, db, func(tx *store.Tx) { tx.ChangeSecretAccount("hash", "starter", nil, 9) })
	want.AccountIPs, want.Count = []string{}, 4
	if got := call(t, db, "hash", window); !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
}
