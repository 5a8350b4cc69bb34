package content_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
)

func TestEachKindIsGenerated(t *testing.T) {
	const png, square = "image image/png ", "image image/"
	for name, c := range map[string]struct {
		members []any
		files   []string // the beginning of each file's shape
		end     string   // of its shape
	}{
		"post":       {[]any{"kind", "post"}, []string{png}, "4:5"},
		"short":      {[]any{"kind", "video"}, []string{"video video/mp4 "}, "9:16"},
		"long":       {[]any{"kind", "video", "format", "long"}, []string{"video video/mp4 "}, "16:9"},
		"carousel":   {[]any{"kind", "carousel"}, []string{square, square, square, square, square}, "1:1"},
		"two slides": {[]any{"kind", "carousel", "slides", []object{{"text": "Eins"}, {}}}, []string{square, square}, "1:1"},
		"story":      {[]any{"kind", "story"}, []string{png}, "9:16"},
		"music clip": {[]any{"kind", "music_clip"}, []string{square, "audio audio/mpeg"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			made := w.create(c.members...)
			at := w.clock.Now()
			if wait := w.do(made.ID); wait != 0 {
				t.Fatalf("the worker asks for %v", wait)
			}
			got := w.get(made.ID)
			if got.State != content.Generated || got.Failure != nil || got.GeneratedAt == nil || !got.GeneratedAt.Equal(at) || got.PublishedAt != nil || got.CostCredits != 0 || got.Attempt != 1 {
				t.Errorf("%+v", got)
			}
			if got.Title == "" || got.Caption == "" || len(got.Hashtags) == 0 || !strings.Contains(got.Caption, "Laufschuh") {
				t.Errorf("texts: %q, %q, %v", got.Title, got.Caption, got.Hashtags)
			}
			if len(got.Media) != len(c.files) {
				t.Fatalf("there are %d files: %+v", len(got.Media), got.Media)
			}
			seen := map[string]bool{}
			for i, v := range got.Media {
				if s := shape(v); !strings.HasPrefix(s, c.files[i]) || !strings.HasSuffix(s, c.end) {
					t.Errorf("file %d is %s", i, s)
				}
				if seen[v.ID] || v.Bytes == 0 || len(v.SHA256) != 64 || v.Type != media.Image && v.DurationSeconds < 1 {
					t.Errorf("file %d is %+v", i, v)
				}
				seen[v.ID] = true
			}
			if len(w.objects.files) != len(c.files) {
				t.Errorf("%d objects were stored", len(w.objects.files))
			}
			for i, s := range got.Slides {
				if s.Text == "" || s.MediaID == nil || *s.MediaID != got.Media[i].ID {
					t.Errorf("slide %d: %+v", i, s)
				}
			}
			if name == "two slides" && got.Slides[0].Text != "Eins" {
				t.Errorf("slides %+v", got.Slides)
			}
			w.happened(made.ID, event.ContentGenerated)
		})
	}
}

func TestWhatTheCallerGaveStays(t *testing.T) {
	w := newWorld(t)
	got := w.generated("kind", "carousel", "title", "Titel", "caption", "Text", "hashtags", []string{"laufen"}, "slides", []object{{"text": "Eins"}, {"text": "Zwei"}})
	if got.Title != "Titel" || got.Caption != "Text" || !slices.Equal(got.Hashtags, []string{"laufen"}) || got.Slides[0].Text != "Eins" || got.Slides[1].Text != "Zwei" {
		t.Errorf("%+v", got)
	}
}

func TestTheEventShowsTheItemAsItsGETDoes(t *testing.T) {
	for outcome, types := range map[string][]event.Type{
		"generated": {event.ContentGenerated}, "failed": {event.ContentFailed}, "published": {event.ContentGenerated, event.ContentPublished},
	} {
		w := newWorld(t)
		made := w.create("sandbox", object{"outcome": outcome}, "metadata", object{"campaign": "spring"})
		tick := w.clock.Now()
		// Time goes on while the worker works.
		w.worker = content.NewWorker(w.db, w.provider, w.objects, func() time.Time { tick = tick.Add(7 * time.Millisecond); return tick })
		w.do(made.ID)
		w.happened(made.ID, types...)
		var got content.Item
		a := w.Call(http.MethodGet, "/v1/content-items/"+made.ID, nil)
		a.Into(t, http.StatusOK, &got)
		if string(got.State) != outcome {
			t.Errorf("%s: the state is %s", outcome, got.State)
		}
		last := types[len(types)-1]
		listed := apitest.All[event.Event](w.Caller, "/v1/events?type="+string(last), 10)
		if len(listed) != 1 || listed[0].Mode != "test" || listed[0].AccountID != w.Principal.Account || listed[0].APIVersion != "v1" {
			t.Fatalf("%s: the events are %+v", outcome, listed)
		}
		var object, item any
		if json.Unmarshal(listed[0].Data.Object, &object) != nil || json.Unmarshal(a.Data, &item) != nil || !reflect.DeepEqual(object, item) {
			t.Errorf("%s: the event shows\n%s\nthe GET\n%s", outcome, listed[0].Data.Object, a.Data)
		}
	}
}

func TestARehearsedFailure(t *testing.T) {
	for _, kind := range []string{"post", "video", "carousel", "story", "music_clip"} {
		w := newWorld(t)
		it := w.generated("kind", kind, "sandbox", object{"outcome": "failed"})
		want := &content.Failure{Stage: "generate", Code: "sandbox_failure", Message: it.Failure.Message, Retryable: true}
		if it.State != content.Failed || !reflect.DeepEqual(it.Failure, want) || it.Failure.Message == "" || len(it.Media) != 0 || it.GeneratedAt != nil || it.Version != 2 || !it.UpdatedAt.Equal(w.clock.Now()) {
			t.Errorf("%s: %+v", kind, it)
		}
		w.happened(it.ID, event.ContentFailed)
	}
}

func TestARehearsedPublication(t *testing.T) {
	w := newWorld(t)
	it := w.generated("sandbox", object{"outcome": "published"})
	if it.State != content.Published || it.PublishedAt == nil || it.GeneratedAt == nil || len(it.Media) != 1 {
		t.Errorf("%+v", it)
	}
	w.happened(it.ID, event.ContentGenerated, event.ContentPublished)
	events := apitest.All[event.Event](w.Caller, "/v1/events?type=content.generated", 10)
	var then content.Item
	if err := json.Unmarshal(events[0].Data.Object, &then); err != nil || then.State != content.Generated || then.PublishedAt != nil {
		t.Errorf("content.generated shows %+v, %v", then, err)
	}
}

func TestADelayIsWaitedForInTheQueue(t *testing.T) {
	for _, outcome := range []string{"generated", "failed", "published"} {
		w := newWorld(t)
		it := w.create("kind", "music_clip", "sandbox", object{"outcome": outcome, "delay_seconds": 30})
		begun := time.Now()
		if again := w.deliver(t.Context(), it.ID, 1); again {
			t.Fatal("the message is to come again")
		}
		if took := time.Since(begun); took > 15*time.Second {
			t.Errorf("the worker took %v", took)
		}
		// A second has passed since the item was accepted.
		if !slices.Equal(w.queue.waits, []time.Duration{29 * time.Second}) || w.queue.jobs[0] != w.job(it.ID) {
			t.Errorf("put back: %v after %v", w.queue.jobs, w.queue.waits)
		}
		if got := w.get(it.ID); got.State != content.Generating || got.Version != 2 {
			t.Errorf("%+v", got)
		}
		w.happened(it.ID)
		// Too early it changes nothing, and waits for what is left.
		w.clock.Add(10 * time.Second)
		before := storetest.Snapshot(t, w.db)
		if wait := w.do(it.ID); wait != 19*time.Second || storetest.Snapshot(t, w.db) != before {
			t.Errorf("the worker asks for %v, or has changed something", wait)
		}
		w.clock.Add(19 * time.Second)
		if wait := w.do(it.ID); wait != 0 {
			t.Errorf("the worker asks for %v", wait)
		}
		if got := w.get(it.ID); string(got.State) != outcome {
			t.Errorf("%+v", got)
		}
	}
}

func TestPartsThatAreDoneAreKept(t *testing.T) {
	w := newWorld(t)
	it := w.create("kind", "music_clip")
	// The text is answered at once; picture and track take their time.
	w.provider.status = &provider.Status{State: provider.Running}
	if wait := w.do(it.ID); wait != 2*time.Second {
		t.Errorf("without a hint the worker asks for %v", wait)
	}
	w.provider.status = &provider.Status{State: provider.Running, Wait: time.Minute}
	if wait := w.do(it.ID); wait != time.Minute {
		t.Errorf("the worker asks for %v", wait)
	}
	w.provider.status, w.provider.running = nil, provider.KindMusic
	for range 3 { // the picture is done at the first of them
		w.do(it.ID)
	}
	if got := w.get(it.ID); got.State != content.Generating || got.Version != 3 || len(got.Media) != 0 || w.objects.saves != 1 {
		t.Errorf("after %d saves: %+v", w.objects.saves, got)
	}
	w.provider.running = "none"
	if wait := w.do(it.ID); wait != 0 {
		t.Errorf("the worker asks for %v", wait)
	}
	if n := len(w.provider.requests); n != 3 || w.objects.saves != 2 {
		t.Errorf("there were %d submissions and %d saves", n, w.objects.saves)
	}
	for _, row := range storetest.Rows(t, w.db) {
		if row["pk"] == it.ID && strings.Contains(row["doc"], "handle") {
			t.Errorf("the item that is done keeps how it was made: %s", row["doc"])
		}
	}
	if got := w.get(it.ID); got.State != content.Generated || len(got.Media) != 2 || got.Media[0].Type != media.Image || got.Media[1].Type != media.Audio {
		t.Errorf("%+v", got)
	}
}

func TestWhatProvidersAreAskedFor(t *testing.T) {
	w := newWorld(t)
	it := w.generated("kind", "carousel", "slides", []object{{}, {}, {}}, "model", "nano-banana", "language", "fr")
	if len(w.provider.requests) != 2 {
		t.Fatalf("%+v", w.provider.requests)
	}
	text, image := w.provider.requests[0], w.provider.requests[1]
	if text.Kind != provider.KindText || text.Slides != 3 || text.Language != "fr" || text.Prompt != it.Prompt || text.ClientToken == image.ClientToken || !strings.Contains(text.ClientToken, it.ID) {
		t.Errorf("%+v", text)
	}
	if image.Kind != provider.KindImage || image.Count != 3 || image.AspectRatio != "1:1" || image.Model != "nano-banana" {
		t.Errorf("%+v", image)
	}
}

func TestAJobThatIsDoneTwiceHappensOnce(t *testing.T) {
	for _, outcome := range []string{"generated", "failed", "published"} {
		w := newWorld(t)
		it := w.generated("sandbox", object{"outcome": outcome})
		before := storetest.Snapshot(t, w.db)
		if again := w.deliver(t.Context(), it.ID, 2); again {
			t.Error("the message is to come again")
		}
		if storetest.Snapshot(t, w.db) != before {
			t.Errorf("%s: the second delivery has changed something", outcome)
		}
	}
}

func TestAJobThatIsDoneSideBySideHappensOnce(t *testing.T) {
	for _, outcome := range []string{"generated", "failed", "published"} {
		w := newWorld(t)
		it := w.create("kind", "music_clip", "sandbox", object{"outcome": outcome})
		j := w.job(it.ID)
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				for range 10 { // as often as the queue brings it
					_, err := w.worker.Do(t.Context(), j)
					if err == nil {
						return
					}
					if !errors.Is(err, store.ErrConflict) {
						t.Errorf("%s: %v", outcome, err)
					}
				}
				t.Errorf("%s: no end", outcome)
			})
		}
		all.Wait()
		if got := w.get(it.ID); string(got.State) != outcome {
			t.Errorf("%+v", got)
		}
		want := map[string][]event.Type{"generated": {event.ContentGenerated}, "failed": {event.ContentFailed}, "published": {event.ContentGenerated, event.ContentPublished}}
		w.happened(it.ID, want[outcome]...)
	}
}

func TestJobsThatAreNoLongerWanted(t *testing.T) {
	w := newWorld(t)
	gone := job.Job{ID: "job#x", Queue: job.Generate, Subject: id.New(id.ContentItem, w.clock.Now()), Attempt: 1, Account: w.Principal.Account, Mode: "test"}
	canceled := w.create()
	w.set(canceled.ID, func(it *content.Item) { it.State = content.Canceled })
	begun := w.create()
	w.set(begun.ID, func(it *content.Item) { it.Attempt = 2 })
	before := storetest.Snapshot(t, w.db)
	for name, j := range map[string]job.Job{"deleted": gone, "canceled": w.job(canceled.ID), "an earlier attempt": w.job(begun.ID)} {
		if wait, err := w.worker.Do(t.Context(), j); wait != 0 || err != nil {
			t.Errorf("%s: %v, %v", name, wait, err)
		}
		if err := w.worker.GiveUp(t.Context(), j, errInjected); err != nil {
			t.Errorf("%s: give up: %v", name, err)
		}
	}
	if storetest.Snapshot(t, w.db) != before || len(w.provider.requests) != 0 {
		t.Error("something was done")
	}
}

// set changes an item in the table.
func (w *world) set(itemID string, change func(*content.Item)) {
	w.t.Helper()
	it, err := w.db.Get(w.t.Context(), store.IDKey(itemID))
	if err != nil {
		w.t.Fatal(err)
	}
	var v content.Item
	if err := it.Decode(&v); err != nil {
		w.t.Fatal(err)
	}
	change(&v)
	if err := it.Encode(v); err != nil {
		w.t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if err := w.db.Commit(w.t.Context(), tx); err != nil {
		w.t.Fatal(err)
	}
}
