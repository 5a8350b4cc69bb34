package content_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// live makes the caller one with a live key of the account, which gets credits, and
// the factory of the world one of live keys.
func (w *world) live(credits int64) {
	w.T.Helper()
	tx := &store.Tx{}
	if err := ledger.Open(tx, w.Principal.Account, 10, ledger.DefaultLostLimit, object{}); err != nil {
		w.T.Fatal(err)
	}
	w.commit(tx)
	apitest.TopUp(w.T, w.DB, w.Now(), w.Principal.Account, credits)
	w.Caller = w.Live()
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Live"})
}

func (w *world) commit(tx *store.Tx) {
	w.T.Helper()
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// credits returns the credits that can be spent, without the reserved ones.
func (w *world) credits() int64 {
	w.T.Helper()
	return apitest.Balance(w.T, w.DB, w.Principal.Account)
}

// entries are the states of the reservations, in any order.
func (w *world) entries() (states map[string]int64) {
	w.T.Helper()
	states = map[string]int64{}
	w.Clock.Add(1) // an id of the same moment could sort before it
	for _, e := range apitest.All[ledger.Entry](w.Caller, "/v1/balance/entries", 100) {
		if e.State != nil {
			states[string(*e.State)] -= e.Credits
		}
	}
	return states
}

// The price of a post with the default models: a text, rounded up, and a picture.
const postPrice = 5

func TestLiveWorkIsPaidFor(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	w.Faults.Reset()
	it := w.create()
	if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" {
		t.Errorf("it took %s", ops)
	}
	if it.State != item.Queued || it.CostCredits != 0 || w.credits() != 1000-postPrice {
		t.Errorf("%+v, and there are %d credits", it, w.credits())
	}
	w.do(it.ID)
	if got := w.get(it.ID); got.State != item.Generated || got.CostCredits != postPrice ||
		w.credits() != 1000-postPrice {
		t.Errorf("%+v, and there are %d credits", got, w.credits())
	}
	if got := w.entries(); got["charged"] != postPrice || len(got) != 1 {
		t.Errorf("the entries are %v", got)
	}
	w.happened(it.ID, event.ContentGenerated)
	// Another attempt is paid for, too, and shown with the cost of the first one.
	var again item.Item
	w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/regenerate", nil).Into(t, http.StatusAccepted, &again)
	if again.CostCredits != postPrice || w.credits() != 1000-2*postPrice {
		t.Errorf("%+v, and there are %d credits", again, w.credits())
	}
	w.doAttempt(it.ID, 2)
	if got := w.get(it.ID); got.CostCredits != 2*postPrice || w.entries()["charged"] != 2*postPrice {
		t.Errorf("%+v, %v", got, w.entries())
	}
}

func TestLiveWorkThatFailsIsFree(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	it := w.create()
	w.objects.err = errs.New(errs.UnsupportedMedia, "no picture")
	w.do(it.ID)
	if got := w.get(it.ID); got.State != item.Failed || got.CostCredits != 0 || w.credits() != 1000 {
		t.Errorf("%+v, and there are %d credits", got, w.credits())
	}
	if got := w.entries(); got["released"] == 0 || got["charged"] != 0 {
		t.Errorf("the entries are %v", got)
	}
}

func TestLiveWorkIsRefused(t *testing.T) {
	w := newWorld(t)
	ofSandbox := w.body()
	w.live(postPrice - 1)
	before := storetest.Snapshot(t, w.DB)
	for name, c := range map[string]struct {
		body   any
		status int
		code   errs.Code
		param  string
	}{
		"too little":              {w.body(), 402, errs.InsufficientBalance, ""},
		"a rehearsal":             {w.body("sandbox", object{}), 422, errs.ValidationFailed, "/sandbox"},
		"an unknown model":        {w.body("model", "nobody"), 422, errs.UnsupportedModel, "/model"},
		"a retired model":         {w.body("model", "nano-banana-2"), 422, errs.UnsupportedModel, "/model"},
		"a model of another kind": {w.body("model", "veo-3.1"), 422, errs.UnsupportedModel, "/model"},
		"another shape":           {w.body("kind", "post", "model", "flux-pro-1.1-ultra"), 422, errs.UnsupportedModel, "/model"},
		"a provider not set up": {w.body("kind", "video", "model", "runway-gen-4.5"), 422,
			errs.UnsupportedModel, "/model"},
		"a language nobody speaks": {w.body("kind", "video", "language", "eo"), 422, errs.UnsupportedModel,
			"/language"},
		"a factory of the sandbox":  {ofSandbox, 404, errs.NotFound, "/factory_id"},
		"what is wrong in any mode": {w.body("prompt", ""), 422, errs.ValidationFailed, "/prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			a := w.Call(http.MethodPost, "/v1/content-items", c.body, "Idempotency-Key", "order-17")
			a.Refused(t, c.status, c.code, c.param)
			if name == "a retired model" && !strings.Contains(a.Raw, "successor") {
				t.Errorf("it names no successor: %s", a.Raw)
			}
			if name != "a factory of the sandbox" { // as one of many it is refused alike
				param := c.param
				if param != "" {
					param = "/items/0" + param
				}
				w.Call(http.MethodPost, "/v1/content-items/batch", object{"items": []any{c.body}}).Refused(t, c.status,
					c.code, param)
			}
		})
	}
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was made")
	}
}

func TestAFullQueueIsRefused(t *testing.T) {
	for mode, most := range map[string]int{"test": generate.MaxWaitingTests, "live": generate.MaxWaiting} {
		w := newWorld(t)
		if mode == "live" {
			w.live(100_000)
		}
		many := make([]object, 50)
		for i := range many {
			many[i] = w.body()
		}
		for range most / len(many) {
			w.Call(http.MethodPost, "/v1/content-items/batch", object{"items": many}).Into(t, http.StatusAccepted,
				&[]item.Item{})
			w.Clock.Add(1_000_000)
		}
		before := storetest.Snapshot(t, w.DB)
		a := w.Call(http.MethodPost, "/v1/content-items", w.body())
		a.Refused(t, 429, errs.QueueFull, "")
		if a.Header.Get("Retry-After") == "" {
			t.Error("it does not tell when to come again")
		}
		w.Call(http.MethodPost, "/v1/content-items/batch", object{"items": many[:1]}).Refused(t, 429,
			errs.QueueFull, "")
		if storetest.Snapshot(t, w.DB) != before {
			t.Error("something was made")
		}
	}
}

// lost returns the account's losses of today, and the price of its work in flight.
func (w *world) lost() (lost, risk int64) {
	w.T.Helper()
	items, err := w.DB.GetAll(w.T.Context(), generate.RoomKeys(w.Principal.Owner, w.Now())...)
	if err != nil {
		w.T.Fatal(err)
	}
	return ledger.FundsOf(items).LostCredits, items[len(items)-1].Numbers["risk"]
}

// The limit of losses holds for work that is accepted side by side, all of which fails later.
func TestAStormStopsAtTheLimitOfWhatMayBeLost(t *testing.T) {
	const limit, before, calls = 160, 144, 24
	w := newWorld(t)
	w.live(1000)
	balance, err := w.DB.Get(t.Context(), ledger.BalanceKey(w.Principal.Account))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	if err := ledger.Change(tx, w.Now(), w.Principal.Account, ledger.BalanceOf(balance), 10, limit,
		object{}); err != nil {
		t.Fatal(err)
	}
	ledger.Lose(tx, w.Now(), w.Principal.Account, before)
	w.commit(tx)
	w.objects.err = errs.New(errs.UnsupportedMedia, "no picture")
	var mu sync.Mutex
	var accepted []string
	storm := func() {
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				a := w.Call(http.MethodPost, "/v1/content-items", w.body())
				mu.Lock()
				defer mu.Unlock()
				if a.Status == http.StatusAccepted {
					var it item.Item
					a.Into(t, http.StatusAccepted, &it)
					accepted = append(accepted, it.ID)
					return
				}
				a.Refused(t, http.StatusTooManyRequests, errs.RateLimited, "")
				if a.Header.Get("Retry-After") == "" {
					t.Error("it does not tell when to come again")
				}
			})
		}
		all.Wait()
	}
	storm()
	if _, risk := w.lost(); len(accepted) != (limit-before)/postPrice || risk != int64(len(accepted)*postPrice) {
		t.Errorf("%d of %d are accepted, and %d credits are in flight", len(accepted), calls, risk)
	}
	// One is canceled, and gives its place to another.
	w.Call(http.MethodPost, path(accepted[0], "cancel"), nil).Into(t, http.StatusOK, new(item.Item))
	accepted = accepted[1:]
	w.Clock.Add(time.Second)
	storm()
	for _, id := range accepted {
		w.do(id)
	}
	lost, risk := w.lost()
	if lost > limit || lost <= before || risk != 0 || w.credits() != 1000 {
		t.Errorf("%d are lost of %d, %d are in flight, and the balance is %d", lost, limit, risk, w.credits())
	}
	n := len(accepted)
	w.Clock.Add(time.Second)
	storm()
	if n != (limit-before)/postPrice || len(accepted) != n {
		t.Errorf("%d and then %d are accepted", n, len(accepted)-n)
	}
}

// An account of which nothing was lost has ten times its limit in flight, and one piece of
// work may cost any amount.
func TestGoodAccountsHaveMuchInFlight(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	balance, err := w.DB.Get(t.Context(), ledger.BalanceKey(w.Principal.Account))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	if err := ledger.Change(tx, w.Now(), w.Principal.Account, ledger.BalanceOf(balance), 10, 1,
		object{}); err != nil {
		t.Fatal(err)
	}
	w.commit(tx)
	big := object{"items": many(50, w.body())}
	var made []item.Item
	w.Call(http.MethodPost, batchPath, big).Into(t, http.StatusAccepted, &made)
	w.Call(http.MethodPost, batchPath, big).Refused(t, http.StatusTooManyRequests, errs.RateLimited, "")
	w.begin(made[0].ID)
	for _, it := range made {
		w.do(it.ID)
	}
	for range 2 {
		w.create()
	}
	w.Call(http.MethodPost, "/v1/content-items", w.body()).Refused(t, http.StatusTooManyRequests, errs.RateLimited, "")
	if _, risk := w.lost(); risk != 2*postPrice {
		t.Errorf("%d are in flight", risk)
	}
}

// Items of a batch that are canceled before it has begun are not in flight any more.
func TestACanceledBatchIsNotInFlight(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	var made []item.Item
	w.Call(http.MethodPost, batchPath, object{"items": many(3, w.body())}).Into(t, http.StatusAccepted, &made)
	w.Call(http.MethodPost, path(made[1].ID, "cancel"), nil).Into(t, http.StatusOK, new(item.Item))
	w.begin(made[0].ID)
	if _, risk := w.lost(); risk != 2*postPrice {
		t.Errorf("%d are in flight", risk)
	}
	w.do(made[0].ID)
	w.do(made[2].ID)
	if lost, risk := w.lost(); risk != 0 || lost != 0 {
		t.Errorf("%d are in flight, and %d lost", risk, lost)
	}
}
