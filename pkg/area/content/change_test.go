package content_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

func path(itemID string, rest ...string) string {
	return strings.Join(append([]string{"/v1/content-items", itemID}, rest...), "/")
}

// put sets the state of an item: those of publishing come about elsewhere.
func (w *world) put(itemID string, state item.State) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(itemID))
	if err != nil {
		w.T.Fatal(err)
	}
	var doc object
	if err := it.Decode(&doc); err != nil {
		w.T.Fatal(err)
	}
	doc["item"].(map[string]any)["state"] = state
	if err := it.Encode(doc); err != nil {
		w.T.Fatal(err)
	}
	it.Filters["state"] = string(state)
	tx := &store.Tx{}
	tx.Replace(it)
	w.commit(tx)
}

// in makes an item that is in a state. A running one waits for its picture.
func (w *world) in(state item.State) string {
	w.T.Helper()
	it := w.create()
	switch state {
	case item.Canceled:
		w.Call(http.MethodPost, path(it.ID, "cancel"), nil).Into(w.T, http.StatusOK, &it)
		return it.ID
	case item.Queued:
		return it.ID
	case item.Generating:
		w.provider.running = "image"
	case item.Failed:
		w.objects.err = errs.New(errs.UnsupportedMedia, "no picture")
	}
	wait := w.do(it.ID)
	w.provider.running, w.objects.err = "none", nil
	if (wait > 0) != (state == item.Generating) {
		w.T.Fatalf("%s: the worker asks for %v", state, wait)
	}
	if !slices.Contains([]item.State{item.Generating, item.Generated, item.Failed}, state) {
		w.put(it.ID, state)
	}
	return it.ID
}

var states = []item.State{
	item.Queued, item.Generating, item.Generated, item.Scheduled, item.Publishing, item.Published, item.Failed,
	item.Canceled,
}

// textCost is the price of the completed part of an item in a state.
var textCost = map[item.State]int64{item.Generating: 1}

func TestCancelInEachState(t *testing.T) {
	may := []item.State{item.Queued, item.Generating}
	for _, state := range states {
		w := newWorld(t)
		w.live(1000)
		itemID := w.in(state)
		if !slices.Contains(may, state) {
			before := storetest.Snapshot(t, w.DB)
			a := w.Call(http.MethodPost, path(itemID, "cancel"), nil)
			a.Refused(t, 409, errs.InvalidState, "")
			if want := "can be canceled only while it is queued or generating"; !strings.Contains(a.Error.Message,
				want) {
				t.Errorf("%s: %s", state, a.Error.Message)
			}
			if storetest.Snapshot(t, w.DB) != before {
				t.Errorf("%s: something was changed", state)
			}
			continue
		}
		w.Faults.Reset()
		var got item.Item
		a := w.Call(http.MethodPost, path(itemID, "cancel"), nil, "Idempotency-Key", "stop")
		a.Into(t, http.StatusOK, &got)
		if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" {
			t.Errorf("%s: it took %s", state, ops)
		}
		again := w.Call(http.MethodPost, path(itemID, "cancel"), nil, "Idempotency-Key", "stop")
		if got.State != item.Canceled || again.Raw != a.Raw || w.get(itemID).State != item.Canceled {
			t.Errorf("%s: %+v, repeated %s", state, got, again.Raw)
		}
		// It is paid back at once, but for the text.
		if w.credits() != 1000-textCost[state] || got.CostCredits != textCost[state] {
			t.Errorf("%s: there are %d credits, %+v", state, w.credits(), got)
		}
		w.do(itemID) // a message that is still under way ends the run, and no more
		w.happened(itemID, event.ContentCanceled)
		if len(w.objects.Keys()) != 0 {
			t.Errorf("%s: there are the files %v", state, w.objects.Keys())
		}
	}
}

func TestRegenerateInEachState(t *testing.T) {
	may := []item.State{item.Failed, item.Generated, item.Canceled}
	for _, state := range states {
		w := newWorld(t)
		w.live(1000)
		itemID := w.in(state)
		if !slices.Contains(may, state) {
			before := storetest.Snapshot(t, w.DB)
			a := w.Call(http.MethodPost, path(itemID, "regenerate"), object{})
			a.Refused(t, 409, errs.InvalidState, "")
			if want := "can be regenerated only while it is generated, failed or canceled"; !strings.Contains(
				a.Error.Message, want) {
				t.Errorf("%s: %s", state, a.Error.Message)
			}
			if storetest.Snapshot(t, w.DB) != before {
				t.Errorf("%s: something was changed", state)
			}
			continue
		}
		was, had := w.get(itemID), w.credits()
		w.Faults.Reset()
		var got item.Item
		w.Call(http.MethodPost, path(itemID, "regenerate"),
			object{"prompt": "Another shoe", "model": "nano-banana"}).Into(t, http.StatusAccepted, &got)
		if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" {
			t.Errorf("%s: it took %s", state, ops)
		}
		if got.State != item.Queued || got.Attempt != 2 || got.Failure != nil || got.Prompt != "Another shoe" ||
			got.Model != "nano-banana" || got.Version != was.Version+1 || w.credits() >= had {
			t.Errorf("%s: %+v", state, got)
		}
		// The result of an earlier attempt is shown until there is a new one.
		if len(got.Media) != len(was.Media) || got.Title != was.Title {
			t.Errorf("%s: %+v, was %+v", state, got, was)
		}
		w.doAttempt(itemID, 2)
		got = w.get(itemID)
		if got.State != item.Generated || len(got.Media) != 2 || got.Media[0].Role != media.Final ||
			got.Media[0].ID != itemID+"_2_2" || !strings.Contains(string(got.Caption), "Another shoe") {
			t.Errorf("%s: became %+v", state, got)
		}
		if w.events(itemID)[event.ContentGenerated] < 1 {
			t.Errorf("%s: the events are %v", state, w.events(itemID))
		}
	}
}

func TestEveryChangeHonoursIfMatch(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		method, rest string
		state        item.State
		body         any
		status       int
	}{
		{http.MethodPatch, "", item.Queued, object{"title": "Mine"}, 200},
		{http.MethodPost, "cancel", item.Queued, nil, 200},
		{http.MethodPost, "regenerate", item.Failed, nil, 202}, {http.MethodDelete, "", item.Generated, nil, 200},
	} {
		itemID := w.in(c.state)
		at := strings.TrimSuffix(path(itemID, c.rest), "/")
		before := storetest.Snapshot(t, w.DB)
		w.Call(c.method, at, c.body, "If-Match", `"99"`).Refused(t, 412, errs.VersionMismatch, "If-Match")
		w.Call(c.method, at, c.body, "If-Match", "1").Refused(t, 400, errs.InvalidHeader, "If-Match")
		if storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%s %s: something was changed", c.method, at)
		}
		tag := w.Call(http.MethodGet, path(itemID), nil).Header.Get("ETag")
		if a := w.Call(c.method, at, c.body, "If-Match", tag); a.Status != c.status {
			t.Errorf("%s %s with %s: %d %s", c.method, at, tag, a.Status, a.Raw)
		}
	}
}

func TestRegenerateIsRefused(t *testing.T) {
	w := newWorld(t)
	itemID := w.in(item.Generated)
	before := storetest.Snapshot(t, w.DB)
	for name, c := range map[string]struct {
		body  any
		code  errs.Code
		param string
	}{
		"a blank prompt":    {object{"prompt": " "}, errs.ValidationFailed, "/prompt"},
		"an unknown member": {object{"caption": "x"}, errs.ValidationFailed, "/caption"},
		"an unknown model":  {object{"model": "nobody"}, errs.UnsupportedModel, "/model"},
		"another kind":      {object{"model": "veo-3.1"}, errs.UnsupportedModel, "/model"},
		"a long delay": {object{"sandbox": object{"delay_seconds": 61}}, errs.ValidationFailed,
			"/sandbox/delay_seconds"},
	} {
		w.Call(http.MethodPost, path(itemID, "regenerate"), c.body).Refused(t, 422, c.code, c.param)
		if storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%s: something was made", name)
		}
	}
	for _, operation := range []string{"regenerate", "cancel"} {
		w.Stranger().Call(http.MethodPost, path(itemID, operation), nil).Refused(t, 404, errs.NotFound, "")
		w.Live().Call(http.MethodPost, path(itemID, operation), nil).Refused(t, 404, errs.NotFound, "")
		for _, unknown := range []string{id.New(id.ContentItem, w.Now()), "cnt_1", w.factory} {
			w.Call(http.MethodPost, path(unknown, operation), nil).Refused(t, 404, errs.NotFound, "")
		}
	}
	// There is too little for another attempt.
	w = newWorld(t)
	w.live(postPrice)
	itemID = w.in(item.Generated)
	before = storetest.Snapshot(t, w.DB)
	w.Call(http.MethodPost, path(itemID, "regenerate"), nil).Refused(t, 402, errs.InsufficientBalance, "")
	w.Call(http.MethodPost, path(itemID, "regenerate"), object{"sandbox": object{}}).Refused(t, 422,
		errs.ValidationFailed, "/sandbox")
	w.Call(http.MethodPost, path(itemID, "regenerate"), object{"model": "runway-gen-4.5"}).Refused(t, 422,
		errs.UnsupportedModel, "/model")
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was made")
	}
}

func TestAnAttemptIsRehearsedByItself(t *testing.T) {
	w := newWorld(t)
	it := w.generated("sandbox", object{"outcome": "failed", "delay_seconds": 0})
	w.Call(http.MethodPost, path(it.ID, "regenerate"),
		object{"sandbox": object{"outcome": "published", "delay_seconds": 30}}).Into(t, http.StatusAccepted, &it)
	if wait := w.doAttempt(it.ID, 2); wait != 30*time.Second {
		t.Errorf("the worker asks for %v", wait)
	}
	w.Clock.Add(30 * time.Second)
	w.doAttempt(it.ID, 2)
	if got := w.get(it.ID); got.State != item.Published || got.Attempt != 2 {
		t.Errorf("%+v", got)
	}
	w.happened(it.ID, event.ContentFailed, event.ContentGenerated, event.ContentPublished)
}

// The settings are those that the factory had when the item was created.
func TestAnItemKeepsTheVoiceItWasCreatedWith(t *testing.T) {
	w := newWorld(t)
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog", "tone": "warm"})
	it := w.create()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"tone": "icy"}).Into(t, http.StatusOK, &object{})
	w.do(it.ID)
	w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &it)
	w.doAttempt(it.ID, 2)
	w.generated()
	var tones []bool
	for _, r := range w.provider.requests {
		if r.Kind == "text" {
			tones = append(tones, strings.Contains(r.User, "Its tone is warm."))
		}
	}
	if !slices.Equal(tones, []bool{true, true, false}) {
		t.Errorf("asked for warmly: %v", tones)
	}
}

func TestDeleteInEachState(t *testing.T) {
	for _, state := range states {
		w := newWorld(t)
		w.live(1000)
		itemID := w.in(state)
		if state == item.Publishing {
			w.Call(http.MethodDelete, path(itemID), nil).Refused(t, 409, errs.InvalidState, "")
			if got := w.events(itemID); got[event.ContentDeleted] != 0 {
				t.Errorf("the events are %v", got)
			}
			continue
		}
		etag := w.Call(http.MethodGet, path(itemID), nil).Header.Get("ETag")
		w.Call(http.MethodDelete, path(itemID), nil, "If-Match", `"99"`).Refused(t, 412,
			errs.VersionMismatch, "If-Match")
		had, told := w.credits(), w.events(itemID)
		w.Faults.Reset()
		var got item.Item
		w.Call(http.MethodDelete, path(itemID), nil, "If-Match", etag).Into(t, http.StatusOK, &got)
		if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" {
			t.Errorf("%s: it took %s", state, ops)
		}
		runs := state == item.Queued || state == item.Generating
		if want := map[bool]item.State{true: item.Canceled, false: state}[runs]; got.ID != itemID ||
			got.State != want || len(got.Media) != 0 {
			t.Errorf("%s: %+v", state, got)
		}
		if want := map[bool]int64{true: 1000 - textCost[state], false: had}[runs]; w.credits() != want {
			t.Errorf("%s: there are %d credits, want %d", state, w.credits(), want)
		}
		w.Call(http.MethodGet, path(itemID), nil).Refused(t, 404, errs.NotFound, "")
		w.Call(http.MethodDelete, path(itemID), nil).Refused(t, 404, errs.NotFound, "")
		// The messages that are still under way find nothing to do, and the files go.
		w.do(itemID)
		w.clearFiles(itemID)
		told[event.ContentDeleted] = 1
		if len(w.objects.Keys()) != 0 || !maps.Equal(w.events(itemID), told) {
			t.Errorf("%s: files %v, events %v", state, w.objects.Keys(), w.events(itemID))
		}
	}
}

// An item that was never published has no publications. The answer to its deletion and its events have an empty
// array.
func TestAnItemWithoutPublicationsHasAnArrayOfThem(t *testing.T) {
	w := newWorld(t)
	itemID := w.in(item.Canceled)
	w.Call(http.MethodPost, path(itemID, "regenerate"), object{}).Into(t, http.StatusAccepted, new(item.Item))
	if raw := w.Call(http.MethodDelete, path(itemID), nil).Raw; !strings.Contains(raw, `"publications":[]`) {
		t.Errorf("the answer is %s", raw)
	}
}

// clearFiles has the job done that removes the files of a deleted item.
func (w *world) clearFiles(itemID string) {
	w.T.Helper()
	if _, err := w.kernel.Do(w.T.Context(), w.message(generate.Remove, itemID, 1), ""); err != nil {
		w.T.Fatal(err)
	}
}

// A cancellation or deletion that comes between any two steps of the worker wins, or finds the item generated. It
// charges the completed parts: nothing, the text, or all.
func TestCancelingAtEachStepOfTheWorker(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		charged := []int64{}
		for n := 1; ; n++ {
			w := newWorld(t)
			w.live(1000)
			it := w.create()
			trips := 0
			w.Faults.After = func(storetest.Call) error {
				if trips++; trips == n {
					w.Faults.After = nil
					at := path(it.ID)
					if method == http.MethodPost {
						at = path(it.ID, "cancel")
					}
					a := w.Call(method, at, nil)
					if a.Status == http.StatusConflict {
						it = w.get(it.ID)
						return nil
					}
					a.Into(t, http.StatusOK, &it)
				}
				return nil
			}
			w.do(it.ID)
			if w.Faults.After != nil {
				break
			}
			if w.events(it.ID)[event.ContentGenerated] == 1 && it.CostCredits != postPrice {
				t.Errorf("%s after round trip %d: it was generated for %d credits", method, n, it.CostCredits)
			}
			if got := w.entries(); w.credits() != 1000-it.CostCredits || got["held"] != 0 {
				t.Errorf("%s after round trip %d: there are %d credits, the entries are %v", method, n,
					w.credits(), got)
			}
			charged = append(charged, it.CostCredits)
			if generated := w.events(it.ID)[event.ContentGenerated] == 1; method == http.MethodPost &&
				(generated != (it.State == item.Generated) || w.get(it.ID).State != it.State) {
				t.Errorf("canceled after round trip %d, it is %s, answered %s", n, w.get(it.ID).State, it.State)
			}
		}
		if !slices.IsSorted(charged) || !slices.Equal(slices.Compact(charged), []int64{0, postPrice - 4, postPrice}) {
			t.Errorf("%s charges %v", method, charged)
		}
	}
}

func TestADeletedItemIsAnsweredAsItWas(t *testing.T) {
	w := newWorld(t)
	it := w.generated("kind", "carousel")
	a := w.Call(http.MethodDelete, path(it.ID), nil)
	var got item.Item
	a.Into(t, http.StatusOK, &got)
	if got.Title != it.Title || len(got.Slides) != len(it.Slides) || got.Slides[0].MediaID != nil ||
		got.Slides[0].Text != it.Slides[0].Text {
		t.Errorf("%s", a.Raw)
	}
	var raw object
	if err := json.Unmarshal(a.Data, &raw); err != nil || raw["media"] == nil {
		t.Errorf("%s, %v", a.Raw, err)
	}
}
