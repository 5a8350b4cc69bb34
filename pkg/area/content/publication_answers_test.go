package content_test

import (
	"context"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/platforms/control"
)

// answering is an adapter whose calls of one kind answer an error.
type answering struct {
	platform.Adapter
	start, metrics error
}

// Start implements platform.Publisher.
func (a answering) Start(ctx context.Context, acct platform.Account, p platform.Post) (platform.Step, error) {
	if a.start != nil {
		return platform.Step{}, a.start
	}
	return a.Adapter.Start(ctx, acct, p)
}

// Metrics implements platform.Publisher.
func (a answering) Metrics(ctx context.Context, acct platform.Account, p platform.PublishedPost) (platform.Metrics,
	error) {
	if a.metrics != nil {
		return platform.Metrics{}, a.metrics
	}
	return a.Adapter.Metrics(ctx, acct, p)
}

func (w *publicationWorld) social() *social.Record {
	w.t.Helper()
	it, err := w.db.Get(w.t.Context(), store.IDKey(w.account.ID))
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := social.Decode(&it)
	if err != nil {
		w.t.Fatal(err)
	}
	return &r
}

// A reading that lacks a right is shown at the account, which goes on publishing. No more readings are tried until it
// is connected again, whatever kind of error the adapter makes of it.
func TestAReadingWithoutARightLeavesPublishingAlone(t *testing.T) {
	for name, denied := range map[string]error{
		"as an end of the access": platform.NeedsReconnect(platform.CodeMissingPermission, "Connect it again."),
		"as a refusal":            platform.Reject(platform.CodeMissingPermission, "It lacks a right."),
	} {
		t.Run(name, func(t *testing.T) {
			w := newPublicationWorld(t, "rutube")
			w.last()
			adapter := w.worker.Platforms.(only).Adapter
			w.worker.Platforms = only{answering{Adapter: adapter, metrics: denied}}
			at := w.posted()
			if all := w.to(at, time.Hour); len(all) != 0 {
				t.Fatalf("there are readings: %+v", all)
			}
			if r := w.social(); r.State != social.Connected || !r.View().Figures.Reconnect {
				t.Fatalf("the account is %s, and %+v", r.State, r.View().Figures)
			}
			w.makeItem("cnt_2")
			w.posted()
			// A later reading is no call: it would succeed.
			w.item, w.worker.Platforms = "cnt_1", only{adapter}
			if all := w.to(at, 6*time.Hour); len(all) != 0 {
				t.Errorf("a reading was tried again: %+v", all)
			}
			it, err := w.db.Get(t.Context(), store.IDKey(w.account.ID))
			if err != nil {
				t.Fatal(err)
			}
			again := w.social()
			w.commit(func(tx *store.Tx) error { return again.Connect(tx, w.clock.Now(), it, platform.Token{}) })
			if all := w.to(at, day); len(all) != 1 || w.social().View().Figures.Reconnect {
				t.Errorf("after it was connected again: %+v, %+v", all, w.social().View().Figures)
			}
		})
	}
}

// A right to publish that is lost ends the account, and the reason of the platform reaches the publication and the
// account.
func TestALostRightToPublishEndsTheAccount(t *testing.T) {
	w := newPublicationWorld(t, "rutube")
	w.worker.Platforms = only{answering{Adapter: w.worker.Platforms.(only).Adapter, start: platform.NeedsReconnect(
		platform.CodeMissingPermission, "The account may not post.").Saying("need administrator rights")}}
	w.publish()
	r := w.end()
	failed := r.Item.Publications[0].Failure
	account := w.social()
	if failed == nil || failed.Code != "missing_permission" || failed.PlatformMessage == nil ||
		*failed.PlatformMessage != "need administrator rights" {
		t.Errorf("the publication has failed with %+v", failed)
	}
	if account.State != social.NeedsReconnect || account.Failure == nil || account.Failure.Code != "missing_permission" ||
		*account.Failure.PlatformMessage != "need administrator rights" {
		t.Errorf("the account is %s with %+v", account.State, account.Failure)
	}
}

// A refusal of one post leaves the account, and has the platform's words.
func TestARefusalOfOnePostLeavesTheAccount(t *testing.T) {
	for _, kind := range []error{platform.Reject(platform.CodeContentRefused, "No.").Saying("Too many cashtags."),
		platform.Odd().Saying("Too many cashtags.")} {
		w := newPublicationWorld(t, "rutube")
		adapter := w.worker.Platforms.(only).Adapter
		w.worker.Platforms = only{answering{Adapter: adapter, start: kind}}
		w.publish()
		r := w.end()
		if f := r.Item.Publications[0].Failure; f == nil || f.Code != "content_refused" || f.PlatformMessage == nil ||
			*f.PlatformMessage != "Too many cashtags." {
			t.Errorf("%v: the publication has failed with %+v", kind, f)
		}
		w.worker.Platforms = only{adapter}
		w.makeItem("cnt_2")
		w.publish()
		if r := w.end(); r.Item.State != item.Published || w.social().State != social.Connected {
			t.Errorf("%v: the next item is %s, and the account %s", kind, r.Item.State, w.social().State)
		}
	}
}

// A token that the platform refuses although it was just refreshed costs at most five calls in an hour, and ends the
// account. A token endpoint that is out of order costs no calls with the refused token.
func TestTheCallsOfABrokenToken(t *testing.T) {
	for name, c := range map[string]struct {
		token control.Answer
		state social.State
		most  int
	}{
		"refreshed in vain": {state: social.NeedsReconnect, most: 5},
		"no refresh": {control.Answer{Call: regexp.MustCompile(`/token/?$`), Times: -1, Status: 503,
			Body: `{"error":"Service Unavailable"}`}, social.Connected, 12},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPublicationWorld(t, "tiktok")
			fake := w.fake.(interface{ Say(control.Answer) })
			if c.token.Status > 0 {
				fake.Say(c.token)
			}
			fake.Say(control.Answer{Call: regexp.MustCompile(`/v2/post/`), Times: -1, Status: http.StatusUnauthorized,
				Body: `{"data":{},"error":{"code":"access_token_invalid","message":"The token is not valid."}}`})
			w.refreshes, w.woken = true, map[string]bool{}
			w.publish()
			calls := w.fake.Calls()
			for range 720 {
				w.deliver(w.due(publication.Post, social.Refresh), 1)
				w.clock.Advance(5 * time.Second)
			}
			if n := w.fake.Calls() - calls; n < 2 || n > c.most {
				t.Errorf("there were %d calls in an hour, want at most %d", n, c.most)
			}
			if r := w.social(); r.State != c.state {
				t.Errorf("the account is %s, want %s", r.State, c.state)
			}
			if _, r := w.read(); c.state == social.NeedsReconnect {
				if f := r.Item.Publications[0].Failure; f == nil || f.Code != "needs_reconnect" ||
					f.PlatformMessage == nil ||
					*f.PlatformMessage != "The token is not valid." {
					t.Errorf("the publication has failed with %+v", f)
				}
			}
		})
	}
}
