package social_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/store"
)

func TestATokenIsRefreshedAheadOfItsEnd(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	first := w.token(id)
	w.work(1)
	if w.token(id).Access != first.Access {
		t.Error("the token was refreshed at once")
	}
	for round := range 3 {
		before := w.token(id)
		w.Clock.Add(20*time.Hour + time.Minute)
		w.work(1)
		after := w.token(id)
		_, r := w.read(id)
		if after.Access == before.Access || after.Refresh == before.Refresh || !w.fake.Good(after.Access.Reveal()) ||
			r.State != social.Connected || !r.TokenExpiresAt.After(w.Now().Add(23*time.Hour)) {
			t.Fatalf("round %d: the account is %+v", round, r.Account)
		}
	}
	if got := w.events(); got["social_account.connected"] != 1 || len(got) != 1 {
		t.Errorf("the events are %v", got)
	}
}

// TikTok takes a refresh token once: a second refresher would lose the account.
func TestSeveralWorkersRefreshOnce(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	w.Clock.Add(21 * time.Hour)
	w.work(8)
	w.work(8)
	if _, r := w.read(id); r.State != social.Connected || w.fake.Calls() != 1 || r.Tokens != 2 {
		t.Errorf("after %d calls the account is %s with token %d", w.fake.Calls(), r.State, r.Tokens)
	}
}

func TestAPublicationAsksForARefresh(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	w.fake.Expire()
	w.Clock.Add(time.Minute)
	_, used := w.read(id)
	for range 3 { // several publications find it out at once
		it, _ := w.read(id)
		w.commit(func(tx *store.Tx) error {
			return social.Expired(tx, w.Now(), it, used.Tokens, platform.TokenExpired())
		})
		w.Clock.Add(time.Millisecond)
	}
	w.work(2)
	if _, r := w.read(id); r.Tokens != 2 || r.State != social.Connected || !w.fake.Good(w.token(id).Access.Reveal()) ||
		w.fake.Calls() != 1 {
		t.Errorf("after %d calls the account is %s with token %d", w.fake.Calls(), r.State, r.Tokens)
	}
	// The token of before is none of the account's any more.
	it, _ := w.read(id)
	w.commit(func(tx *store.Tx) error { return social.Lose(tx, w.Now(), it, used.Tokens, platform.Disconnected()) })
	if _, r := w.read(id); r.State != social.Connected {
		t.Errorf("an old token has ended the account: %s", r.State)
	}
}

// A 401 that a refresh does not cure ends the account, with the platform's words. One after a while is refreshed again.
func TestATokenThatARefreshDoesNotCureEndsTheAccount(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	refused := func() {
		it, r := w.read(id)
		w.commit(func(tx *store.Tx) error {
			return social.Expired(tx, w.Now(), it, r.Tokens, platform.TokenExpired().Saying("The user is suspended."))
		})
		w.Clock.Add(time.Minute)
		w.work(1)
	}
	w.Clock.Add(time.Hour)
	refused()
	w.Clock.Add(time.Hour)
	if _, r := w.read(id); r.Tokens != 2 || r.State != social.Connected || r.Failure != nil {
		t.Fatalf("after one refusal the account is %s with token %d", r.State, r.Tokens)
	}
	refused()
	if _, r := w.read(id); r.Tokens != 3 || r.State != social.Connected {
		t.Fatalf("after a refusal an hour later the account is %s with token %d", r.State, r.Tokens)
	}
	refused()
	_, r := w.read(id)
	if r.State != social.NeedsReconnect || r.Tokens != 3 || r.Failure == nil || r.Failure.Code != "needs_reconnect" ||
		*r.Failure.PlatformMessage != "The user is suspended." || w.events()["social_account.needs_reconnect"] != 1 {
		t.Errorf("after the refusal of a fresh token: %+v, %+v, %v", r.State, r.Failure, w.events())
	}
}

func TestAPlatformThatRefusesEndsTheAccount(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	w.fake.Revoke()
	w.Clock.Add(21 * time.Hour)
	w.work(2)
	_, r := w.read(id)
	if r.State != social.NeedsReconnect || r.TokenExpiresAt != nil {
		t.Errorf("the account is %+v", r.Account)
	}
	w.Clock.Add(48 * time.Hour)
	w.work(1)
	if got := w.events(); got["social_account.needs_reconnect"] != 1 || w.fake.Calls() != 1 {
		t.Errorf("after %d calls the events are %v", w.fake.Calls(), got)
	}
	if got := w.token(id); got.Refresh == "" {
		t.Error("the token is not kept for its revocation")
	}
}

func TestTroubleWithARefresh(t *testing.T) {
	for fault, want := range map[platformtest.Fault]social.State{
		// Nothing was refreshed: the same refresh token is good.
		platformtest.RequestLost: social.Connected, platformtest.ServerError: social.Connected,
		platformtest.RateLimited: social.Connected,
		// The new token is lost, and TikTok takes the old refresh token no more.
		platformtest.AnswerLost: social.NeedsReconnect, platformtest.Garbage: social.NeedsReconnect,
	} {
		t.Run(string(fault), func(t *testing.T) {
			w := accountNewWorld(t)
			id := w.connect()
			w.fake.Fail(1, fault)
			w.Clock.Add(21 * time.Hour)
			w.work(1)
			if _, r := w.read(id); r.State != social.Connected || r.Tokens != 1 {
				t.Fatalf("at once the account is %s with token %d", r.State, r.Tokens)
			}
			w.Clock.Add(15 * time.Minute)
			w.work(1)
			if _, r := w.read(id); r.State != want {
				t.Errorf("the account is %s, not %s", r.State, want)
			}
		})
	}
}

// A key that is wrong is an operator's mistake, which can be mended.
func TestCredentialsThatCannotBeOpenedAreTriedRarely(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	right := w.Vault
	w.Vault = social.Vault{Envelope: sealtest.Envelope("another key")}
	w.Clock.Add(21 * time.Hour)
	w.work(1)
	w.Clock.Add(14 * time.Minute)
	if due := w.due(); len(due) != 0 {
		t.Errorf("too early: %+v", due)
	}
	w.Clock.Add(2 * time.Minute)
	w.Vault = right
	w.work(1)
	if _, r := w.read(id); r.State != social.Connected || r.Tokens != 2 {
		t.Errorf("the account is %s with token %d", r.State, r.Tokens)
	}
}

// A worker that dies after the call leaves a lease. The next one tries the same token.
func TestAWorkerThatDiesInARefresh(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	w.Clock.Add(21 * time.Hour)
	for _, row := range storetest.Rows(t, w.DB) {
		if row["pk"] != "task#social.refresh#"+id+"#1" {
			continue
		}
		it, err := w.DB.Get(t.Context(), store.IDKey(row["pk"]))
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := it.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		doc["lease"] = map[string]any{"by": "the dead", "until": w.Now().Add(15 * time.Second)}
		if err := it.Encode(doc); err != nil {
			t.Fatal(err)
		}
		w.commit(func(tx *store.Tx) error { tx.Replace(it); return nil })
	}
	w.work(1)
	if w.fake.Calls() != 0 {
		t.Fatal("a second worker refreshes while the first holds the lease")
	}
	w.Clock.Add(16 * time.Second)
	w.work(1)
	if _, r := w.read(id); r.Tokens != 2 {
		t.Errorf("the account is %s with token %d", r.State, r.Tokens)
	}
}

func TestADisconnectedAccountIsForgottenAndRevoked(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect("fac_1")
	token := w.token(id)
	it, r := w.read(id)
	w.commit(func(tx *store.Tx) error { return r.Disconnect(tx, w.Now(), it) })
	for range 4 {
		w.work(2)
	}
	_, r = w.read(id)
	if r.State != social.Disconnected || len(r.SealedAccount) != 0 || len(r.FactoryIDs) != 0 || r.TokenExpiresAt !=
		nil {
		t.Errorf("the account is %+v", r)
	}
	if w.fake.Good(token.Access.Reveal()) {
		t.Error("the token is still good at the platform")
	}
	for _, row := range storetest.Rows(t, w.DB) {
		if strings.Contains(row["doc"], `"sealed":"`) {
			t.Errorf("a token is kept in %s", row["pk"])
		}
	}
	w.Clock.Add(48 * time.Hour)
	calls := w.fake.Calls()
	w.work(1)
	if w.fake.Calls() != calls {
		t.Error("the token of a disconnected account is refreshed")
	}
	w.Clock.Add(89 * 24 * time.Hour)
	if _, err := w.DB.Get(t.Context(), store.IDKey(id)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after 90 days: %v", err)
	}
}

// The platform has answered a refresh, but the account was disconnected meanwhile.
func TestATokenThatComesTooLateIsRevoked(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	w.Clock.Add(21 * time.Hour)
	late := &social.Worker{DB: w.DB, Vault: w.Vault, Platforms: w.Platforms, Now: func() time.Time {
		if it, r := w.read(id); r.State == social.Connected && w.fake.Calls() == 1 {
			w.commit(func(tx *store.Tx) error { return r.Disconnect(tx, w.Clock.Now(), it) })
		}
		return w.Clock.Now()
	}}
	before := w.Worker
	w.Worker = late
	w.work(1)
	w.Worker = before
	if _, r := w.read(id); r.State != social.Disconnected || len(r.SealedAccount) != 0 {
		t.Fatalf("the account is %+v", r)
	}
	for range 4 {
		w.work(1)
	}
	for n := 1; n <= 2; n++ {
		if access := "access-token-000" + string(rune('0'+n)) + "-secret"; w.fake.Good(access) {
			t.Errorf("%s is still good", access)
		}
	}
}

func TestATokenOpensForItsAccountOnly(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	_, r := w.read(id)
	if bytes.Contains(r.SealedAccount, []byte("access-token")) {
		t.Error("the token can be read")
	}
	for name, other := range map[string]struct {
		o  tenant.Owner
		id string
	}{"another id": {owner, social.NewID(w.Now())}, "another mode": {tenant.Of("acc_1", tenant.Test), id},
		"another customer": {tenant.Of("acc_2", tenant.Live), id}} {
		stolen := r
		stolen.ID = other.id
		if _, _, err := w.Vault.Token(t.Context(), other.o, &stolen); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("%s: %v", name, err)
		}
	}
	shown, err := json.Marshal(r.View())
	if err != nil || strings.Contains(string(shown), "sealed") || strings.Contains(string(shown), "platform_id") {
		t.Errorf("shown is %s, %v", shown, err)
	}
}
