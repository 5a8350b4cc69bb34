package content_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/event"
)

const batchPath = "/v1/content-items/batch"

// begin has the work of a batch started, which is named for its first item.
func (w *world) begin(first string) {
	w.T.Helper()
	for m := w.message(generate.Start, first, 1); ; {
		next, err := w.kernel.Do(w.T.Context(), m, "")
		if err != nil || next != nil && next.Delay > 0 {
			w.T.Fatalf("%+v, %v", next, err)
		}
		if next == nil {
			return
		}
		m = next.Message
	}
}

func TestABatchOfFifty(t *testing.T) {
	for _, mode := range []string{"test", "live"} {
		w := newWorld(t)
		if mode == "live" {
			w.live(100_000)
		}
		second := w.makeFactory(object{"type": "entertainment", "name": "News"})
		var items []object
		for i := range 50 {
			items = append(items, w.body("prompt", fmt.Sprint("Number ", i), "kind",
				[]string{"post", "story", "music_clip"}[i%3], "factory_id", []string{w.factory, second}[i%2]))
		}
		before := int64(0)
		if mode == "live" {
			before = w.credits()
		}
		w.Faults.Reset()
		a := w.Call(http.MethodPost, batchPath, object{"items": items}, "Idempotency-Key", "fifty")
		if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" {
			t.Errorf("it took %s", ops)
		}
		var made []item.Item
		a.Into(t, http.StatusAccepted, &made)
		if len(made) != 50 || a.Header.Get("ETag") != "" {
			t.Fatalf("%d items, ETag %q", len(made), a.Header.Get("ETag"))
		}
		again := w.Call(http.MethodPost, batchPath, object{"items": items}, "Idempotency-Key", "fifty")
		if again.Raw != a.Raw || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("repeated: %d %s", again.Status, again.Header.Get("Idempotent-Replayed"))
		}
		w.begin(made[0].ID)
		w.begin(made[0].ID) // told again
		var cost int64
		for i, it := range made {
			if it.Prompt != items[i]["prompt"] || it.FactoryID != items[i]["factory_id"] || it.State != item.Queued {
				t.Errorf("item %d is %+v", i, it)
			}
			w.do(it.ID)
			got := w.get(it.ID)
			if got.State != item.Generated || (got.CostCredits > 0) != (mode == "live") {
				t.Errorf("item %d became %+v", i, got)
			}
			cost += got.CostCredits
			w.happened(it.ID, event.ContentGenerated)
		}
		if mode == "live" && (w.credits() != before-cost || w.entries()["charged"] != cost ||
			w.entries()["held"] != 0) {
			t.Errorf("all cost %d; of %d there are %d left, and the entries are %v", cost, before,
				w.credits(), w.entries())
		}
	}
}

func TestABatchIsAllOrNothing(t *testing.T) {
	w := newWorld(t)
	good := w.body()
	unknown := id.New(id.Factory, w.Now())
	for name, c := range map[string]struct {
		items  []any
		status int
		code   errs.Code
		params string // of the details
	}{
		"none":      {[]any{}, 422, errs.ValidationFailed, "/items"},
		"fifty-one": {many(51, good), 422, errs.ValidationFailed, "/items"},
		"one without a kind": {[]any{good, object{"factory_id": w.factory, "prompt": "x"}}, 422, errs.ValidationFailed,
			"/items/1/kind"},
		"two of a bad shape": {[]any{w.body("kind", "podcast"), good, w.body("slides", "x")}, 422,
			errs.ValidationFailed, "/items/0/kind /items/2/slides"},
		"several bad ones": {[]any{good, w.body("slides", []object{{}, {}}), good, w.body("format", "short"),
			w.body("model", "nobody")}, 422, errs.ValidationFailed, "/items/1/slides /items/3/format /items/4/model"},
		"two blank ones": {[]any{w.body("prompt", " "), good, w.body("prompt", "\n\t")}, 422, errs.ValidationFailed,
			"/items/0/prompt /items/2/prompt"},
		"a model first": {[]any{w.body("model", "nobody"), w.body("language", "???")}, 422, errs.UnsupportedModel,
			"/items/0/model /items/1/language"},
		"an unknown factory": {[]any{good, w.body("factory_id", unknown), w.body("factory_id", "fac_1")}, 404,
			errs.NotFound, "/items/1/factory_id /items/2/factory_id"},
		"bad metadata": {[]any{w.body("metadata", object{"": "x"}), good, w.body("metadata", object{"a\n": "x"})},
			422, errs.ValidationFailed, "/items/0/metadata /items/2/metadata"},
		"nothing of an item": {[]any{nil}, 422, errs.ValidationFailed, "/items/0"},
		"a single unknown":   {[]any{w.body("promt", "x")}, 422, errs.ValidationFailed, "/items/0/promt"},
	} {
		t.Run(name, func(t *testing.T) {
			before := storetest.Snapshot(t, w.DB)
			a := w.Call(http.MethodPost, batchPath, object{"items": c.items}, "Idempotency-Key", "all-or-none")
			first, _, _ := strings.Cut(c.params, " ")
			a.Refused(t, c.status, c.code, first)
			var params []string
			for _, d := range a.Error.Details {
				params = append(params, d.Param)
				if d.Message == "" {
					t.Errorf("%s tells nothing", d.Param)
				}
			}
			if got := strings.Join(params, " "); got != c.params {
				t.Errorf("the details are of %s, want %s", got, c.params)
			}
			if storetest.Snapshot(t, w.DB) != before {
				t.Error("something was made")
			}
		})
	}
	w.Stranger().Call(http.MethodPost, batchPath, object{"items": []any{good}}).Refused(t, 404, errs.NotFound,
		"/items/0/factory_id")
}

// A batch that is too large for one transaction says how many of its items fit.
func TestABatchSaysHowManyFit(t *testing.T) {
	w := newWorld(t)
	provided := object{"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "Our own words"}
	refused := w.Call(http.MethodPost, batchPath, object{"items": many(50, provided)})
	refused.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/items")
	_, said, _ := strings.Cut(refused.Error.Message, "Send at most ")
	var most int
	if _, err := fmt.Sscan(said, &most); err != nil || most < 10 {
		t.Fatalf("it says %q", refused.Error.Message)
	}
	w.Call(http.MethodPost, batchPath, object{"items": many(most+1, provided)}).Refused(t,
		http.StatusUnprocessableEntity, errs.ValidationFailed, "/items")
	var made []item.Item
	w.Call(http.MethodPost, batchPath, object{"items": many(most, provided)}).Into(t, http.StatusAccepted, &made)
	if len(made) != most {
		t.Errorf("%d items, want %d", len(made), most)
	}
}

func many(n int, one any) (all []any) {
	for range n {
		all = append(all, one)
	}
	return all
}

func TestABatchThatIsTooDearMakesNothing(t *testing.T) {
	w := newWorld(t)
	w.live(2*postPrice - 1)
	before := storetest.Snapshot(t, w.DB)
	w.Call(http.MethodPost, batchPath, object{"items": many(2, w.body())}).Refused(t, 402, errs.InsufficientBalance, "")
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was made")
	}
	var made []item.Item
	w.Call(http.MethodPost, batchPath, object{"items": many(1, w.body())}).Into(t, http.StatusAccepted, &made)
	if w.credits() != postPrice-1 {
		t.Errorf("there are %d credits", w.credits())
	}
}

// Items that are canceled, regenerated or deleted before their batch is started are refunded, and their work does not
// begin.
func TestPartsOfABatchAreCanceledBeforeItBegins(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	var made []item.Item
	w.Call(http.MethodPost, batchPath, object{"items": many(4, w.body())}).Into(t, http.StatusAccepted, &made)
	w.Clock.Add(1_000_000)
	w.Call(http.MethodPost, "/v1/content-items/"+made[0].ID+"/cancel", nil).Into(t, http.StatusOK, &made[0])
	w.Call(http.MethodDelete, "/v1/content-items/"+made[1].ID, nil).Into(t, http.StatusOK, &made[1])
	w.Call(http.MethodPost, "/v1/content-items/"+made[2].ID+"/cancel", nil).Into(t, http.StatusOK, &made[2])
	w.Call(http.MethodPost, "/v1/content-items/"+made[2].ID+"/regenerate", nil).Into(t, http.StatusAccepted, &made[2])
	w.begin(made[0].ID)
	if w.credits() != 1000-2*postPrice {
		t.Errorf("there are %d credits", w.credits())
	}
	w.doAttempt(made[2].ID, 2)
	w.do(made[3].ID)
	if w.get(made[0].ID).State != item.Canceled || w.get(made[2].ID).State != item.Generated ||
		w.get(made[3].ID).State != item.Generated {
		t.Errorf("%+v", made)
	}
	if got := w.entries(); got["charged"] != 2*postPrice || got["held"] != 0 {
		t.Errorf("the entries are %v", got)
	}
}
