package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	funds = 100
	price = 10
)

// order is the prepared order of an effect outside.
type order struct {
	ID   string
	Name string
}

// outside is the system on which the effects happen. It recognizes a repeated order.
type outside struct {
	mu    sync.Mutex
	times map[string]int
	asked int
	// reject is the error that an effect fails with, if it is set.
	reject error
}

func (o *outside) have(ordered string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.times[ordered]++
}

// effects counts the effects, and reports whether one was had twice.
func (o *outside) effects() (n int, twice bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, times := range o.times {
		n += times
		twice = twice || times > 1
	}
	return n, twice
}

// tasks returns the messages of the tasks that have not ended.
func (w *acting) tasks() (all []task.Message) {
	w.t.Helper()
	for _, row := range storetest.Rows(w.t, w.things.db) {
		if row["kind"] != task.ItemKind || row["ttl"] != "" {
			continue
		}
		var t task.Task
		if err := json.Unmarshal([]byte(row["doc"]), &t); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, t.Message)
	}
	return all
}

// acting is a fixture with an operation that has an effect outside and costs money.
type acting struct {
	*fixture
	outside *outside
	clock   *apitest.Clock
	faults  *storetest.Faults
	// worker ends claims, as another process.
	worker *task.Kernel
	// preparing, doing and settling are done in the midst of the operation, where they are set.
	preparing       func()
	doing, settling func(ctx context.Context, ordered string)
}

var money = store.IDKey("money")

func newActing(t *testing.T, find bool) *acting {
	w := &acting{outside: &outside{times: map[string]int{}}, clock: apitest.NewClock(), faults: &storetest.Faults{}}
	w.fixture = newFixtureAt(t, w.clock.Now, w.faults.Attach)
	other := httpapi.NewRouter(w.things.db, w.log, w.clock.Now)
	w.worker = servicetest.Kernel(w.things.db, w.clock.Now,
		map[task.Kind]task.Handler{httpapi.ClaimKind: task.Func(httpapi.Claims{Router: other}.End)})
	for _, r := range []*httpapi.Router{w.router, other} {
		r.SealWith(seal.FixedSecret([]byte("the system's secret")))
		httpapi.Act(r, httpapi.Op{ID: "orderThing", Method: http.MethodPost, Path: "/v1/things/order",
			Scope: auth.FactoriesWrite, Function: "things", Status: http.StatusCreated}, w.action(find))
	}
	tx := &store.Tx{}
	tx.Count(money, funds, funds, nil)
	if err := w.things.db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.faults.Reset()
	return w
}

type orderInput struct{ Body thingBody }

func (w *acting) action(find bool) httpapi.Action[orderInput, order, string, thing] {
	a := httpapi.Action[orderInput, order, string, thing]{
		Within: 20 * time.Second, Queue: topology.GenerateText,
		Prepare: func(_ context.Context, tx *store.Tx, in *orderInput) (order, error) {
			if in.Body.Name == "no" {
				return order{}, errs.Invalid("/name", "must not be no")
			}
			if w.preparing != nil {
				w.preparing()
			}
			tx.Count(money, -price, funds, errs.New(errs.InsufficientBalance, "There is not enough money."))
			return order{id.New(id.Factory, w.clock.Now()), in.Body.Name}, nil
		},
		Do: func(ctx context.Context, o order) (string, error) {
			if w.doing != nil {
				w.doing(ctx, o.ID)
			}
			if w.outside.reject != nil || ctx.Err() != nil {
				return "", fmt.Errorf("outside: %w", w.outside.failure(ctx))
			}
			w.outside.have(o.ID)
			return "made " + o.Name, nil
		},
		Settle: func(ctx context.Context, tx *store.Tx, o order, result string) (thing, error) {
			if w.settling != nil {
				w.settling(ctx, o.ID)
			}
			p := auth.FromContext(ctx)
			v := thing{Resource: resource.New(o.ID, w.clock.Now(), nil), Name: result}
			it, err := store.NewItem("thing", p.Owner, v.ID, v)
			tx.Create(it, nil)
			return v, err
		},
		Release: func(_ context.Context, tx *store.Tx, _ order, _ error) error {
			tx.Count(money, price, funds, nil)
			return nil
		},
	}
	if find {
		a.Find = func(_ context.Context, o order) (string, error) {
			w.outside.mu.Lock()
			defer w.outside.mu.Unlock()
			if w.outside.asked++; w.outside.asked == 1 {
				return "", errs.New(errs.ProviderUnavailable, "It cannot be asked just now.")
			}
			if w.outside.times[o.ID] == 0 {
				return "", errs.New(errs.NotFound, "The order was not carried out.")
			}
			return "made " + o.Name, nil
		}
	}
	return a
}

func (o *outside) failure(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return o.reject
}

// order makes a call with a key; without one if it is empty.
func (w *acting) order(key string) answer {
	w.t.Helper()
	if key == "" {
		return w.call("POST", "/v1/things/order", `{"name":"a"}`)
	}
	return w.call("POST", "/v1/things/order", `{"name":"a"}`, "Idempotency-Key", key)
}

// resolve takes the steps of all tasks, each at its time.
func (w *acting) resolve() {
	w.t.Helper()
	for _, m := range w.tasks() {
		next := &task.Next{Message: m}
		for err := error(nil); next != nil; {
			if next, err = w.worker.Do(w.t.Context(), next.Message, ""); err != nil {
				w.t.Fatal(err)
			}
			if next != nil {
				w.clock.Add(next.Delay)
			}
		}
	}
}

// settled checks the state once nothing runs any more.
func (w *acting) settled(find bool) {
	w.t.Helper()
	made, inProgress := 0, 0
	for _, row := range storetest.Rows(w.t, w.things.db) {
		switch {
		case row["kind"] == "thing":
			made++
		case row["kind"] == "answer" && strings.Contains(row["doc"], `"claim"`):
			inProgress++
		}
	}
	effects, twice := w.outside.effects()
	if twice || effects > 1 {
		w.t.Errorf("the effect was had %d times", effects)
	}
	if made > effects || find && made != effects {
		w.t.Errorf("%d effects have led to %d things", effects, made)
	}
	it, err := w.things.db.Get(w.t.Context(), money)
	if want := int64(funds - price*made); err != nil || it.Count() != want {
		w.t.Errorf("%d of the money are left, want %d; %v", it.Count(), want, err)
	}
	if tasks := w.tasks(); inProgress > 0 || len(tasks) > 0 {
		w.t.Errorf("%d claims are left, and the tasks %v", inProgress, tasks)
	}
}

// The places at which a call dies, or the table's answer is lost.
var deaths = map[string]func(w *acting){
	"before the claim": func(w *acting) { w.faults.Before("TransactWriteItems", die) },
	"after the claim":  func(w *acting) { w.faults.After = after(1, die) },
	"the claim's answer is lost": func(w *acting) {
		w.faults.Lose("TransactWriteItems", storetest.Attempts)
	},
	"before the effect": func(w *acting) { w.doing = func(context.Context, string) { die() } },
	"after the effect": func(w *acting) {
		w.doing = func(_ context.Context, ordered string) { w.outside.have(ordered); die() }
	},
	"the effect takes too long": func(w *acting) {
		w.doing = func(ctx context.Context, ordered string) { w.outside.have(ordered); <-ctx.Done() }
	},
	"before the commit": func(w *acting) { w.settling = func(context.Context, string) { die() } },
	"on the way to the commit": func(w *acting) {
		w.faults.Before("TransactWriteItems", func() {})
		w.faults.Before("TransactWriteItems", die)
	},
	"the commit is refused for long": func(w *acting) {
		w.faults.Before("TransactWriteItems", func() {})
		w.faults.Reject("TransactWriteItems", "InternalServerError", 1000)
	},
	"the commit's answer is lost": func(w *acting) {
		w.faults.Before("TransactWriteItems", func() {})
		w.faults.Lose("TransactWriteItems", storetest.Attempts)
	},
	"after the commit": func(w *acting) { w.faults.After = after(2, die) },
	"never":            func(*acting) {},
}

func die() { panic("killed") }

// after does something after the n-th transaction.
func after(n int, do func()) func(storetest.Call) error {
	return func(c storetest.Call) error {
		if c.Operation == "TransactWriteItems" {
			if n--; n == 0 {
				do()
			}
		}
		return nil
	}
}

func TestACallThatDiesIsSettledAndHasOneEffect(t *testing.T) {
	for name, kill := range deaths {
		for _, find := range []bool{false, true} {
			for _, key := range []string{"order-17", ""} {
				t.Run(fmt.Sprintf("%s, find %v, key %q", name, find, key), func(t *testing.T) {
					w := newActing(t, find)
					kill(w)
					survives, within := name == "never" || strings.HasSuffix(name, "answer is lost"),
						2200*time.Millisecond
					if survives {
						within = 10 * time.Second // a slow machine takes its time
					}
					first := w.orderWithin(key, within)
					w.doing, w.settling, w.faults.After = nil, nil, nil
					w.faults.Reset()
					if survives && (first.status != http.StatusCreated ||
						first.header.Get("Idempotent-Replayed") != "") {
						t.Errorf("%d %v %s", first.status, first.header, first.raw)
					}
					if key == "" {
						w.clock.Add(time.Minute)
						w.resolve()
						w.settled(find)
						return
					}
					again := w.order(key)
					switch again.status {
					case http.StatusConflict:
						if again.code() != "idempotency_in_progress" || again.header.Get("Retry-After") != "30" {
							t.Errorf("while it may run: %v %s", again.header, again.raw)
						}
					case http.StatusCreated, http.StatusGatewayTimeout:
						if first.status != http.StatusInternalServerError && first.raw != again.raw {
							t.Errorf("it answered\n%s\nthen\n%s", first.raw, again.raw)
						}
					default:
						t.Errorf("%d %s", again.status, again.raw)
					}
					w.clock.Add(time.Minute)
					w.resolve()
					w.settled(find)
					last := w.order(key)
					if last.header.Get("Idempotent-Replayed") != "true" || last.status >= 500 &&
						last.code() != "timeout" {
						t.Errorf("in the end: %d %s", last.status, last.raw)
					}
					if again.status != http.StatusConflict && last.raw != again.raw {
						t.Errorf("it answered\n%s\nthen\n%s", again.raw, last.raw)
					}
					w.settled(find)
				})
			}
		}
	}
}

// orderWithin is order in a function with so much time.
func (w *acting) orderWithin(key string, d time.Duration) answer {
	w.t.Helper()
	was := w.within
	defer func() { w.within = was }()
	w.within = d
	return w.order(key)
}

func TestAnActionsAnswerIsRemembered(t *testing.T) {
	w := newActing(t, false)
	w.faults.Reset()
	first := w.order("order-17")
	if first.status != http.StatusCreated || first.header.Get("ETag") != `"1"` ||
		first.header.Get("Idempotent-Replayed") != "" {
		t.Fatalf("%d %v %s", first.status, first.header, first.raw)
	}
	if got := w.faults.Operations(); got != "TransactWriteItems TransactWriteItems" {
		t.Errorf("it took %s", got)
	}
	again := w.order("order-17")
	if again.raw != first.raw || again.header.Get("ETag") != `"1"` ||
		again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %v %s", again.status, again.header, again.raw)
	}
	if other := w.call("POST", "/v1/things/order", `{"name":"b"}`, "Idempotency-Key",
		"order-17"); other.code() != "idempotency_key_reused" {
		t.Errorf("%s", other.raw)
	}
}

func TestARefusedEffectIsAnAnswer(t *testing.T) {
	w := newActing(t, false)
	w.outside.reject = errs.Invalid("/name", "is not liked outside")
	first := w.order("order-17")
	if first.status != http.StatusUnprocessableEntity || first.Error.Param != "/name" {
		t.Fatalf("%d %s", first.status, first.raw)
	}
	w.outside.reject = nil
	again := w.order("order-17")
	if again.raw != first.raw || again.status != first.status || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", again.status, again.raw)
	}
	if last := w.log.calls[len(w.log.calls)-1]; last.ErrorCode != "validation_failed" {
		t.Errorf("the repeat is audited as %+v", last)
	}
	w.clock.Add(time.Minute)
	w.resolve()
	w.settled(true)
}

func TestARefusalBeforeTheClaimDoesNotUseTheKeyUp(t *testing.T) {
	w := newActing(t, false)
	if a := w.call("POST", "/v1/things/order", `{"name":"no"}`, "Idempotency-Key", "order-17"); a.status != 422 {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if a := w.order("order-17"); a.status != http.StatusCreated {
		t.Errorf("%d %s", a.status, a.raw)
	}
	for range funds/price - 1 {
		w.order("")
	}
	if a := w.order("order-18"); a.status != http.StatusPaymentRequired {
		t.Errorf("without money: %d %s", a.status, a.raw)
	}
}

func TestActionsSideBySideHaveOneEffect(t *testing.T) {
	w := newActing(t, false)
	var wg sync.WaitGroup
	answers := make([]answer, 8)
	for i := range answers {
		wg.Go(func() { answers[i] = w.order("side-by-side") })
	}
	wg.Wait()
	first := w.order("side-by-side")
	for _, a := range answers {
		if a.raw != first.raw && a.code() != "idempotency_in_progress" {
			t.Errorf("%d %s", a.status, a.raw)
		}
	}
	w.clock.Add(time.Minute)
	w.resolve()
	w.settled(true)
}

// A function may be frozen in the middle of a call and go on when the task has ended
// its claim.
func TestACallThatGoesOnTooLateChangesNothing(t *testing.T) {
	for name, freeze := range map[string]func(w *acting, thaw func()){
		"before the effect": func(w *acting, thaw func()) { w.faults.After = after(1, thaw) },
		"after the effect": func(w *acting, thaw func()) {
			w.settling = func(context.Context, string) { w.settling = nil; thaw() }
		},
		"on the way to the commit": func(w *acting, thaw func()) {
			w.faults.Before("TransactWriteItems", func() {})
			w.faults.Before("TransactWriteItems", thaw)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newActing(t, false)
			freeze(w, func() {
				w.clock.Add(time.Minute)
				w.resolve()
			})
			first := w.order("order-17")
			if first.status != http.StatusGatewayTimeout || first.code() != "timeout" {
				t.Errorf("%d %s", first.status, first.raw)
			}
			if again := w.order("order-17"); again.raw != first.raw {
				t.Errorf("it answered\n%s\nthen\n%s", first.raw, again.raw)
			}
			w.settled(false)
			if effects, _ := w.outside.effects(); name == "before the effect" && effects > 0 {
				t.Error("the effect was had after its claim had ended")
			}
		})
	}
}

// The claim of a later call with the same key is another one.
func TestACallThatGoesOnAfterADayDoesNotEndAnotherClaim(t *testing.T) {
	w := newActing(t, false)
	w.settling = func(context.Context, string) {
		w.settling = nil
		old := w.tasks()[0]
		w.clock.Add(25 * time.Hour)
		deaths["after the claim"](w)
		w.order("order-17")
		w.faults.After = nil
		w.clock.Add(time.Minute)
		if _, err := w.worker.Do(t.Context(), old, ""); err != nil || len(w.tasks()) != 1 {
			t.Errorf("the first task has left the tasks %v, %v", w.tasks(), err)
		}
	}
	if a := w.order("order-17"); a.code() != "timeout" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := w.order("order-17"); a.code() != "idempotency_in_progress" {
		t.Errorf("the second claim is gone: %d %s", a.status, a.raw)
	}
}

// A claim reveals nothing to a reader of the table.
func TestAClaimHoldsNothingInClear(t *testing.T) {
	w := newActing(t, false)
	deaths["after the claim"](w)
	w.call("POST", "/v1/things/order", `{"name":"secret"}`, "Idempotency-Key", "order-17")
	for _, row := range storetest.Rows(t, w.things.db) {
		if strings.Contains(row["doc"], "secret") || strings.Contains(row["doc"], "order-17") {
			t.Errorf("%v", row)
		}
	}
}
