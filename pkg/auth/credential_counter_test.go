package auth_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/store"
)

// rotate makes a new secret that takes the place of another one.
func (w *credentialWorld) rotate(old, hash string, overlap time.Duration) {
	w.T.Helper()
	fresh := credentialSecret(hash)
	fresh.From = old
	w.commit(func(tx *store.Tx) { credential.Create(tx, fresh) })
	w.commit(func(tx *store.Tx) {
		if overlap > 0 {
			credential.Move(tx, old, hash, w.Clock.Now().Add(overlap))
		} else {
			credential.Revoke(tx, old, w.Clock.Now())
		}
	})
}

func TestARotationDoesNotResetTheCount(t *testing.T) {
	for _, overlap := range []time.Duration{0, time.Hour} {
		w := newCredentialWorld(t, credentialSecret("0"))
		for range 7 {
			w.call("0", window)
		}
		w.rotate("0", "1", overlap)
		w.rotate("1", "2", overlap) // without a call in between
		if s := w.call("2", window); s.Count != 8 {
			t.Errorf("overlap %v: the first call after two rotations was counted as %d", overlap, s.Count)
		}
		// Calls that are refused with a secret that has ended change nothing about that.
		w.rotate("2", "3", 0)
		if _, err := w.counter.CountDenied(t.Context(), w.call("2", window), window); err != nil {
			t.Fatal(err)
		}
		if s := w.call("3", window); s.Count != 9 {
			t.Errorf("overlap %v: the call after a refused one was counted as %d", overlap, s.Count)
		}
		w.rotate("3", "4", overlap)
		if s := w.call("4", window+1); s.Count != 1 {
			t.Errorf("overlap %v: the next window begins with %d", overlap, s.Count)
		}
	}
	// A clock behind counts in the window of the one ahead.
	w := newCredentialWorld(t, credentialSecret("0"))
	w.call("0", window+1)
	w.rotate("0", "1", 0)
	if s := w.call("1", window); s.Count != 2 {
		t.Errorf("counted as %d", s.Count)
	}
}

func TestManyRotationsInAMinuteWaitForTheNext(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("0"))
	w.call("0", window)
	for i := range 9 {
		w.rotate(fmt.Sprint(i), fmt.Sprint(i+1), 0)
	}
	if s := w.call("9", window); s.Count <= s.Limit {
		t.Errorf("counted as %d of %d", s.Count, s.Limit)
	}
	if s := w.call("9", window+1); s.Count != 1 {
		t.Errorf("the next window begins with %d", s.Count)
	}
}

// calls makes calls with each of the keys in turn until the window has no room for any,
// and returns how many were permitted.
func (w *credentialWorld) calls(keys int, each int) (permitted int) {
	w.T.Helper()
	for range each {
		for k := range keys {
			s := w.call(fmt.Sprint("hash", k), window)
			if n, _ := s.Excess(); n == 0 {
				permitted++
			}
		}
	}
	return permitted
}

func TestAnAccountHasTenTimesTheCallsOfAKey(t *testing.T) {
	for _, keys := range []int{10, 24} {
		var all []credential.Credential
		for k := range keys {
			all = append(all, credentialSecret(fmt.Sprint("hash", k)))
		}
		w := newCredentialWorld(t, all...)
		got := w.calls(keys, 61)
		// Each key may exceed by less than a twentieth of its limit: by two of 60.
		if most := 600 + keys*2; got < 600 || got > most || keys <= 10 && got != 600 {
			t.Errorf("%d keys made %d calls, at most %d are right", keys, got, most)
		}
		w.Faults.Reset()
		s := w.call("hash0", window)
		if n, full := s.Excess(); n == 0 || full != (keys > 10) {
			t.Errorf("%d keys: %d refused calls, the ceiling of the account: %v", keys, n, full)
		}
		if got := w.Faults.Operations(); got != "UpdateItem" {
			t.Errorf("a refused call took %s", got)
		}
		if n, _ := w.call("hash0", window+1).Excess(); n != 0 {
			t.Errorf("%d keys: the next window begins with %d refused calls", keys, n)
		}
	}
}

func TestAKeyThatBeginsBeyondTheCeilingMakesNoCall(t *testing.T) {
	var all []credential.Credential
	for k := range 11 {
		all = append(all, credentialSecret(fmt.Sprint("hash", k)))
	}
	w := newCredentialWorld(t, all...)
	if got := w.calls(10, 60); got != 600 {
		t.Fatalf("%d calls", got)
	}
	for want := 1; want <= 3; want++ {
		if n, full := w.call("hash10", window).Excess(); n != want || !full {
			t.Errorf("call %d: %d refused, %v", want, n, full)
		}
	}
	// Neither does a rotation help.
	w.rotate("hash10", "new", 0)
	if n, full := w.call("new", window).Excess(); n != 4 || !full {
		t.Errorf("after a rotation: %d refused, %v", n, full)
	}
	// Nor does the other mode share the ceiling.
	other := credentialSecret("live")
	other.Mode = "live"
	w.commit(func(tx *store.Tx) { credential.Create(tx, other) })
	if n, _ := w.call("live", window).Excess(); n != 0 {
		t.Errorf("the other mode: %d refused", n)
	}
}

func TestRefusedCallsAreCountedByTheWindow(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("active"), credentialSecret("ended"))
	w.commit(func(tx *store.Tx) { credential.Revoke(tx, "ended", w.Clock.Now()) })
	for _, hash := range []string{"active", "ended"} {
		for n := int64(window); n < window+2; n++ {
			for want := 1; want <= 3; want++ {
				s := w.call(hash, n)
				if got, err := w.counter.CountDenied(t.Context(), s, n); err != nil || got != want {
					t.Errorf("%s, window %d: %d, %v, want %d", hash, n, got, err, want)
				}
			}
		}
		w.Faults.Reset()
		if _, err := w.counter.CountDenied(t.Context(), w.call(hash, window+1), window+1); err != nil {
			t.Error(err)
		}
		if got := w.Faults.Operations(); got != "UpdateItem UpdateItem" {
			t.Errorf("%s: a refused call took %s", hash, got)
		}
	}
}

// usage reads the usage of the key.
func (w *credentialWorld) usage(hash string) credential.Usage {
	w.T.Helper()
	now := w.Clock.Now()
	days, err := w.DB.GetAll(w.T.Context(), credential.UsageKeys("key_1", now)...)
	var chain []store.Item
	if err == nil {
		chain, err = credential.ChainOf(w.T.Context(), w.DB, hash)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return credential.UsageOf(days, chain, now)
}

func TestUsage(t *testing.T) {
	w := newCredentialWorld(t, credentialSecret("hash"))
	minute := func() int64 { return w.Clock.Now().Unix() / 60 }
	check := func(day, month credential.Calls) {
		t.Helper()
		if got := w.usage("hash"); got.LastDay != day || got.LastMonth != month {
			t.Errorf("at %v: got %+v, want %+v and %+v", w.Clock.Now(), got, day, month)
		}
	}
	check(credential.Calls{}, credential.Calls{})
	for range 62 { // two beyond the limit
		w.call("hash", minute())
	}
	if _, err := w.counter.CountDenied(t.Context(), w.call("hash", minute()), minute()); err != nil {
		t.Fatal(err)
	}
	// The running minute is in it, and a minute that is over is not counted twice.
	check(credential.Calls{Requests: 63, Refused: 4}, credential.Calls{Requests: 63, Refused: 4})
	w.Clock.Add(time.Minute)
	w.call("hash", minute())
	check(credential.Calls{Requests: 64, Refused: 4}, credential.Calls{Requests: 64, Refused: 4})
	// Whole hours and days: noon is in it until the noon after.
	w.Clock.Add(23*time.Hour + 50*time.Minute)
	check(credential.Calls{Requests: 64, Refused: 4}, credential.Calls{Requests: 64, Refused: 4})
	w.Clock.Add(10 * time.Minute)
	check(credential.Calls{}, credential.Calls{Requests: 64, Refused: 4})
	w.call("hash", minute())
	w.Clock.Add(28 * 24 * time.Hour)
	check(credential.Calls{}, credential.Calls{Requests: 65, Refused: 4})
	w.Clock.Add(24 * time.Hour)
	check(credential.Calls{}, credential.Calls{Requests: 1})
	w.Clock.Add(24 * time.Hour)
	check(credential.Calls{}, credential.Calls{})
	// Calls with a secret that has ended are those of the key, too.
	w.commit(func(tx *store.Tx) { credential.Revoke(tx, "hash", w.Clock.Now()) })
	for range 2 {
		if _, err := w.counter.CountDenied(t.Context(), w.call("hash", minute()), minute()); err != nil {
			t.Fatal(err)
		}
	}
	check(credential.Calls{Requests: 2, Refused: 2}, credential.Calls{Requests: 2, Refused: 2})
}
