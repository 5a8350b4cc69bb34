package record_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// area has one operation, which accepts work as those of the API do: it reads all items at once, and returns a
// transaction of the work and its price.
type area struct{ w *ledgerWorld }

type accepted struct {
	ID   string      `json:"id"`
	Hold ledger.Hold `json:"hold"`
}

func (a area) Register(r *httpapi.Router) {
	httpapi.Write(r, httpapi.Op{
		ID: "accept", Method: http.MethodPost, Path: "/v1/work", Scope: auth.StudioUse, Function: "studio", Tag: "Work",
		Status: http.StatusAccepted,
	}, func(ctx context.Context, tx *store.Tx, in *struct {
		Body struct {
			Price int64 `json:"price"`
		}
	}) (work accepted, err error) {
		p, now := auth.FromContext(ctx), a.w.Clock.Now()
		items, err := a.w.DB.GetAll(ctx, ledger.BalanceKey(p.Account))
		if err != nil {
			return work, err
		}
		work.ID = id.New(id.Generation, now)
		if work.Hold, err = ledger.Reserve(tx, now, ledger.Reservation{Account: p.Account, Subject: work.ID,
			Credits: in.Body.Price}, ledger.BalanceOf(items[0])); err != nil {
			return work, err
		}
		it, err := store.NewItem("work", p.Owner, work.ID, work)
		if err != nil {
			return work, err
		}
		tx.Create(it, nil)
		return work, nil
	})
}

func (w *ledgerWorld) worker() *apitest.Caller {
	return apitest.New(w.T, w.DB, &apitest.Log{}, w.Clock.Now, area{w}).
		As(func(p *auth.Principal) { p.Account, p.Mode = acc, tenant.Live })
}

// tries counts the transactions that were sent, by the commit that they belong to.
func (w *ledgerWorld) tries() map[string]int {
	w.T.Helper()
	tries := map[string]int{}
	for _, c := range w.Faults.Calls() {
		if c.Operation != "TransactWriteItems" {
			continue
		}
		var sent struct{ ClientRequestToken string }
		if err := json.Unmarshal(c.Body, &sent); err != nil {
			w.T.Fatal(err)
		}
		tries[sent.ClientRequestToken]++
	}
	return tries
}

// most is how often one commit may be tried, and runs how often an operation may
// be run again.
const most, runs = 9, 16

// atOnce makes calls at once, and counts how they were answered.
func (w *ledgerWorld) atOnce(calls int, price int64) (answers map[int]int, spent int64) {
	w.T.Helper()
	w.Faults.Bodies = true
	c := w.worker()
	answers = map[int]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	gate := make(chan struct{})
	for range calls {
		all.Go(func() {
			<-gate
			a := c.Call(http.MethodPost, "/v1/work", map[string]any{"price": price}, "Idempotency-Key",
				id.New("try", w.Clock.Now()))
			mu.Lock()
			defer mu.Unlock()
			answers[a.Status]++
			switch a.Status {
			case http.StatusAccepted:
				spent += price
			case http.StatusPaymentRequired:
				a.Refused(w.T, http.StatusPaymentRequired, errs.InsufficientBalance, "")
			default:
				a.Refused(w.T, http.StatusServiceUnavailable, errs.ProviderUnavailable, "")
			}
		})
	}
	close(gate)
	all.Wait()
	return answers, spent
}

// TestManyAcceptAtOnce has 200 calls spend a balance that suffices for 150 of them.
func TestManyAcceptAtOnce(t *testing.T) {
	const calls, price, credits, threshold = 200, 2, 300, 100
	for name, conflicts := range map[string]bool{"one after another": false, "meeting on the balance": true} {
		t.Run(name, func(t *testing.T) {
			w := ledgerNewWorld(t)
			w.open(threshold, credits)
			w.Faults.Reset()
			if conflicts {
				w.Faults.Contend()
			}
			answers, spent := w.atOnce(calls, price)
			var sent, longest int
			tries := w.tries()
			for _, n := range tries {
				sent += n
				longest = max(longest, n)
			}
			t.Logf("answered %v by %d commits and %d tries, up to %d of one", answers, len(tries), sent, longest)
			if longest > most || len(tries) > calls*runs {
				t.Errorf("of %d commits one was tried %d times", len(tries), longest)
			}
			if spent > credits || answers[http.StatusAccepted] == 0 {
				t.Errorf("%d credits of %d were spent", spent, credits)
			}
			if !conflicts && (spent != credits || answers[http.StatusPaymentRequired] != 50) {
				t.Errorf("without conflicts %d credits of %d were spent", spent, credits)
			}
			w.check("after all", credits-spent, 1+answers[http.StatusAccepted])
			// Refused work has left nothing.
			made := map[string]int{}
			for _, row := range storetest.Rows(t, w.DB) {
				made[row["kind"]]++
			}
			if made["work"] != answers[http.StatusAccepted] || made["answer"] != answers[http.StatusAccepted] {
				t.Errorf("there are %v for %v", made, answers)
			}
			if lows := len(w.lows()); (lows == 1) != (spent > credits-threshold) || lows > 1 {
				t.Errorf("it was notified %d times after %d credits", lows, spent)
			}
		})
	}
}

// A transaction that always meets contention fails in the end, and writes nothing.
func TestEndlessContention(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	w.Faults.Reset()
	w.Faults.Cancel(1000, "None", "None", "TransactionConflict", "None") // on the balance
	w.unchanged("the call", func() {
		if answers, _ := w.atOnce(1, 1); answers[http.StatusServiceUnavailable] != 1 {
			t.Errorf("answered %v", answers)
		}
	})
	for _, n := range w.tries() {
		if n != most {
			t.Errorf("it was tried %d times", n)
		}
	}
}

// A balance that keeps changing across the threshold makes an operation run again,
// but not for ever.
func TestABalanceThatKeepsChanging(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	c := w.worker()
	w.Faults.Reset()
	// Its conditions fail each time though the balance is there.
	row := `{"pk":{"S":"balance#acc_1"},"sk":{"S":"#"},"n_credits":{"N":"100"},"n_above":{"N":"100"}}`
	w.Faults.Fail(1000, json.RawMessage(row))
	w.unchanged("the call", func() {
		c.Call(http.MethodPost, "/v1/work", map[string]any{"price": 1}).Refused(t, http.StatusServiceUnavailable,
			errs.ProviderUnavailable, "")
	})
	if n := len(w.tries()); n != runs {
		t.Errorf("it was run %d times", n)
	}
	// As soon as it stands still, the next run succeeds.
	w.Faults.Reset()
	w.Faults.Fail(runs-1, json.RawMessage(row))
	c.Call(http.MethodPost, "/v1/work", map[string]any{"price": 1}).Into(t, http.StatusAccepted, new(accepted))
	w.check("at last", 99, 2)
}
