package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// topUp adds credits to the customer's balance.
func (c *customer) topUp(credits int64) {
	c.t.Helper()
	db, tx := store.Open(running.AWS(), running.Table), &store.Tx{}
	if _, err := ledger.TopUp(tx, time.Now(), tenant.Account(c.id), credits); err != nil {
		c.t.Fatal(err)
	}
	if err := db.Commit(c.t.Context(), tx); err != nil {
		c.t.Fatal(err)
	}
}

// balance returns the credits that the account can spend.
func (c *customer) balance() int64 {
	me := into[struct{ Balance struct{ Credits int64 } }](call(c.t, c.live.Secret, http.MethodGet, "/v1/me", nil),
		http.StatusOK)
	return me.Balance.Credits
}

// entries returns the sum of the balance's entries, and the reservations by state.
func (c *customer) entries() (sum int64, states map[string]int) {
	states = map[string]int{}
	for _, e := range into[[]struct {
		Credits int64
		State   *string
	}](call(c.t, c.live.Secret, http.MethodGet, "/v1/balance/entries?limit=100", nil), http.StatusOK) {
		sum += e.Credits
		if e.State != nil {
			states[*e.State]++
		}
	}
	return sum, states
}

// fault makes one call of a provider's fake fail, which is about a text that no other test sends: works of other tests
// may still be in progress.
func fault(t *testing.T, provider, operation, kind, match string) {
	t.Helper()
	order, err := json.Marshal(object{"provider": provider, "operation": operation, "faults": []object{{"kind": kind, "match": match}}})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(running.Providers+"/_control", "application/json", bytes.NewReader(order))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		t.Fatalf("the fakes answer %s", resp.Status)
	}
}

// Generations of a live key use the providers' protocols, are charged exactly, and cost nothing
// if they fail.
func TestLiveGenerations(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	const credits = 700
	c.topUp(credits)
	secret := c.live.Secret
	spent := int64(0)
	for name, g := range map[string]struct {
		path string
		body object
	}{
		"fal": {"images", object{"prompt": "A shoe", "model": "flux-pro-1.1", "count": 2,
			"aspect_ratio": "4:5"}},
		"bedrock": {"images", object{"prompt": "A shoe", "model": "stable-image-core"}},
		"replicate": {"videos", object{"prompt": "A shoe", "model": "runway-gen-4.5", "duration_seconds": 5,
			"aspect_ratio": "9:16"}},
		"elevenlabs": {"voices", object{"text": "Made of recycled nets.", "model": "eleven-flash-2.5",
			"language": "en"}},
		"polly":      {"voices", object{"text": "Aus alten Netzen.", "model": "polly-neural", "language": "de"}},
		"fal, music": {"music", object{"prompt": "Calm piano over soft rain", "duration_seconds": 30}},
	} {
		t.Run(name, func(t *testing.T) {
			kind := map[string]string{"images": "image", "videos": "video", "voices": "voice", "music": "music"}[g.path]
			input := object{}
			for member, value := range g.body {
				if member != "model" {
					input[member] = value
				}
			}
			estimate := into[struct{ Credits int64 }](call(t, secret, http.MethodPost, "/v1/studio/estimates",
				object{"kind": kind, "model": g.body["model"], "input": input}), http.StatusOK)
			made := into[generation](call(t, secret, http.MethodPost, "/v1/studio/"+g.path, g.body, "Idempotency-Key",
				name), http.StatusAccepted)
			again := into[generation](call(t, secret, http.MethodPost, "/v1/studio/"+g.path, g.body, "Idempotency-Key",
				name), http.StatusAccepted)
			if again.ID != made.ID {
				t.Errorf("the repeat made %s", again.ID)
			}
			got := generated(t, secret, made.ID)
			if got.State != "generated" || len(got.Media) == 0 || got.CostCredits != estimate.Credits ||
				estimate.Credits == 0 {
				t.Fatalf("%+v %+v, estimated %d", got, got.Failure, estimate.Credits)
			}
			for _, f := range got.Media {
				if s := status(t, f.URL); s != http.StatusOK {
					t.Errorf("a file answers %d", s)
				}
			}
			spent += estimate.Credits
		})
	}
	if b := c.balance(); b != credits-spent {
		t.Errorf("the balance is %d after spending %d", b, spent)
	}
	t.Run("a job that fails", func(t *testing.T) {
		fault(t, "fal", "submit", "job_failed", "A shoe of glass")
		made := into[generation](call(t, secret, http.MethodPost, "/v1/studio/images",
			object{"prompt": "A shoe of glass", "model": "flux-pro-1.1"}), http.StatusAccepted)
		got := generated(t, secret, made.ID)
		if got.State != "failed" || got.Failure == nil || got.Failure.Code == "" || got.CostCredits != 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("an answer that is lost", func(t *testing.T) {
		fault(t, "fal", "submit", "drop_after_accept", "A shoe of steel")
		made := into[generation](call(t, secret, http.MethodPost, "/v1/studio/images",
			object{"prompt": "A shoe of steel", "model": "flux-pro-1.1"}), http.StatusAccepted)
		if got := generated(t, secret, made.ID); got.State != "generated" || got.CostCredits != 4 {
			t.Errorf("%+v", got)
		}
		spent += 4
	})
	sum, states := c.entries()
	if b := c.balance(); b != credits-spent || sum != b || states["held"] != 0 || states["released"] != 1 {
		t.Errorf("the balance is %d after spending %d; the entries add up to %d: %v", b, spent, sum, states)
	}
	t.Run("more than there is", func(t *testing.T) {
		a := call(t, secret, http.MethodPost, "/v1/studio/videos",
			object{"prompt": "A shoe", "model": "kling-4-1080p", "duration_seconds": 30})
		if err := a.refused(http.StatusPaymentRequired, "insufficient_balance"); err != nil {
			t.Error(err)
		}
		if after, _ := c.entries(); after != sum {
			t.Errorf("something was reserved: %d", sum-after)
		}
	})
}
