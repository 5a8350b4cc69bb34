package social_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/platforms/instagram"
)

const days = 24 * time.Hour

// An owner hears in time that the access to an account ends which no refresh puts off, and
// the account can be published to until then.
func TestTheEndOfAccessIsToldInTime(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		w := accountNewWorld(t)
		w.graph.Fixed = fixed
		began := w.Now()
		access, _ := w.graph.Grant(60 * days)
		token := platform.Token{Access: platform.Secret(access), Refresh: platform.Secret(access),
			ExpiresAt: began.Add(60 * days), EndsAt: began.Add(90 * days)}
		if fixed {
			w.graph.End(began.Add(60 * days))
		}
		id := w.connectTo("instagram", platform.Account{ID: instagram.User, Token: token})
		told, ended := 76, 90
		if fixed {
			told, ended = 53, 60 // when the refresh finds out that the token is not prolonged
		}
		for day := range 95 {
			w.Clock.Add(began.Add(time.Duration(day)*days + time.Hour).Sub(w.Now()))
			for range 3 {
				w.work(2)
			}
			_, r := w.read(id)
			want := map[string]int{"social_account.connected": 1}
			state := social.Connected
			if day >= told {
				want["social_account.needs_reconnect"] = 1
			}
			if day >= ended {
				state = social.NeedsReconnect
				want["social_account.needs_reconnect"] = 2
			}
			got := w.events()
			if r.State != state || got["social_account.needs_reconnect"] != want["social_account.needs_reconnect"] ||
				got["social_account.connected"] != 1 {
				t.Fatalf("not prolonged %v, day %d: the account is %s, want %s; the events are %v, want %v", fixed, day,
					r.State, state, got, want)
			}
			if state == social.Connected && (r.ReconnectDueAt == nil || r.TokenExpiresAt == nil ||
				r.TokenExpiresAt.After(r.ReconnectDueAt.Time)) {
				t.Fatalf("not prolonged %v, day %d: the access ends at %v, before %v", fixed, day, r.TokenExpiresAt,
					r.ReconnectDueAt)
			}
		}
	}
}

// Connecting again begins a new access.
func TestConnectingAgainPutsOffTheEnd(t *testing.T) {
	w := accountNewWorld(t)
	began := w.Now()
	access, _ := w.graph.Grant(60 * days)
	token := platform.Token{Access: platform.Secret(access), Refresh: platform.Secret(access),
		ExpiresAt: began.Add(10 * days), EndsAt: began.Add(10 * days)}
	id := w.connectTo("instagram", platform.Account{ID: instagram.User, Token: token})
	w.Clock.Add(time.Minute)
	w.work(1)
	it, r := w.read(id)
	if !r.Announced || r.State != social.Connected || w.events()["social_account.needs_reconnect"] != 1 {
		t.Fatalf("it was not told: %+v", r)
	}
	token.ExpiresAt, token.EndsAt = began.Add(60*days), began.Add(90*days)
	w.commit(func(tx *store.Tx) error { return r.Connect(tx, w.Now(), it, token) })
	w.Clock.Add(30 * days)
	w.work(1)
	if _, r := w.read(id); r.Announced || r.State != social.Connected || !r.ReconnectDueAt.Equal(token.EndsAt) ||
		w.events()["social_account.needs_reconnect"] != 1 {
		t.Errorf("after it was connected again: %+v, %v", r, w.events())
	}
}
