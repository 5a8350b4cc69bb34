package social_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/instagram"
	"github.com/content-automation/api/testdata/platforms/oauth"
	"github.com/content-automation/api/testdata/platforms/tiktok"
)

var owner = tenant.Of("acc_1", tenant.Live)

// accountWorld has an account of TikTok, which rotates refresh tokens, and its fake.
type accountWorld struct {
	*social.Worker
	T     *testing.T
	Clock *apitest.Clock
	fake  *tiktok.Fake
	graph *instagram.Fake
}

func accountNewWorld(t *testing.T) *accountWorld {
	w := &accountWorld{T: t, Clock: apitest.NewClock()}
	w.fake = tiktok.New(w.Clock.Now)
	mux := http.NewServeMux()
	mux.Handle("/tiktok/", http.StripPrefix("/tiktok", w.fake.Handler()))
	w.graph = instagram.New(w.Clock.Now)
	mux.Handle("/instagram/", http.StripPrefix("/instagram", w.graph.Handler()))
	db := storetest.Open(t, w.Clock.Now)
	w.Worker = &social.Worker{
		DB: db, Vault: social.Vault{Envelope: sealtest.Envelope("key"), DB: db}, Now: w.Clock.Now,
		Platforms: social.NewPlatforms(social.PlatformsConfig{
			HTTP: control.Doer{Handler: mux}, Endpoint: "http://platforms.test", Now: w.Clock.Now,
			Apps: func(context.Context, string) (platform.App, error) {
				return platform.App{ID: oauth.ClientID, Secret: oauth.ClientSecret}, nil
			},
		}),
	}
	return w
}

// kernel returns a worker of its own.
func (w *accountWorld) kernel() *task.Kernel {
	return servicetest.Kernel(w.DB, w.Now, w.Handlers())
}

// connect connects an account whose token ends in a day.
func (w *accountWorld) connect(factories ...string) string {
	w.T.Helper()
	access, refresh := w.fake.Grant(24 * time.Hour)
	return w.connectTo("tiktok", platform.Account{ID: tiktok.User,
		Token: platform.Token{Access: platform.Secret(access), Refresh: platform.Secret(refresh),
			ExpiresAt: w.Now().Add(24 * time.Hour)}}, factories...)
}

// connectTo connects an account of a platform.
func (w *accountWorld) connectTo(name string, a platform.Account, factories ...string) string {
	w.T.Helper()
	now := w.Now()
	r := &social.Record{
		Account: social.Account{Resource: resource.New(social.NewID(now), now, nil), Platform: name,
			Handle: "Acme", FactoryIDs: factories},
		PlatformID: a.ID,
	}
	var err error
	if r.SealedAccount, err = w.Vault.Seal(w.T.Context(), owner, r.ID, a); err != nil {
		w.T.Fatal(err)
	}
	it, err := r.Item(owner)
	if err != nil {
		w.T.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { return r.Connect(tx, now, it, a.Token) })
	return r.ID
}

func (w *accountWorld) commit(add func(*store.Tx) error) {
	w.T.Helper()
	tx := &store.Tx{}
	if err := add(tx); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

func (w *accountWorld) read(id string) (store.Item, social.Record) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(id))
	if err != nil {
		w.T.Fatal(err)
	}
	r, err := social.Decode(&it)
	if err != nil {
		w.T.Fatal(err)
	}
	return it, r
}

// token returns the token of an account.
func (w *accountWorld) token(id string) platform.Token {
	w.T.Helper()
	_, r := w.read(id)
	_, a, err := w.Vault.Token(w.T.Context(), owner, &r)
	if err != nil {
		w.T.Fatal(err)
	}
	return a.Token
}

// due returns the messages of the steps that are due, and of the outbox.
func (w *accountWorld) due() (all []task.Message) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		var t task.Task
		switch {
		case row["kind"] == task.ItemKind && row["ttl"] == "", row["kind"] == task.OutboxKind:
			if err := json.Unmarshal([]byte(row["doc"]), &t); err != nil {
				w.T.Fatal(err)
			}
			// Package publication has the handler of Measure.
			if !t.DueAt.After(w.Now()) && t.Kind != social.Measure {
				all = append(all, t.Message)
			}
		}
	}
	return all
}

// work handles all due messages by several workers at once, each of which gets every message.
func (w *accountWorld) work(workers int) {
	w.T.Helper()
	messages := w.due()
	var all sync.WaitGroup
	for range workers {
		k := w.kernel()
		all.Go(func() {
			for _, m := range messages {
				if _, err := k.Do(context.Background(), m, ""); err != nil {
					w.T.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// events returns the types of the events, in no order.
func (w *accountWorld) events() map[string]int {
	w.T.Helper()
	types := map[string]int{}
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] == "event" {
			types[row["f_type"]]++
		}
	}
	return types
}
