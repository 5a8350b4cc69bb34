package content_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/store/storetest"
)

func TestErrorsThatPassAreTriedAgain(t *testing.T) {
	transient := &provider.Error{Kind: provider.Transient, Code: "busy", Message: "Later."}
	for name, fault := range map[string]func(w *world, err error){
		"submit": func(w *world, err error) { w.provider.submit = err },
		"poll":   func(w *world, err error) { w.provider.poll = err },
		"fetch":  func(w *world, err error) { w.provider.fetch = err },
		"save":   func(w *world, err error) { w.objects.err = err },
	} {
		for _, cause := range []error{
			transient, &provider.Error{Kind: provider.Quota, Code: "quota"}, &provider.Error{Kind: provider.UnknownOutcome, Code: "lost"},
			errInjected, errs.New(errs.ProviderUnavailable, "Later."),
		} {
			w := newWorld(t)
			it := w.create()
			fault(w, cause)
			if _, err := w.worker.Do(t.Context(), w.job(it.ID)); !errors.Is(err, cause) {
				t.Errorf("%s: %v gives %v", name, cause, err)
			}
			if got := w.get(it.ID); got.State != content.Queued && got.State != content.Generating || got.Failure != nil {
				t.Errorf("%s: %v: %+v", name, cause, got)
			}
			w.happened(it.ID)
			fault(w, nil)
			w.do(it.ID)
			if got := w.get(it.ID); got.State != content.Generated {
				t.Errorf("%s: %v: then %+v", name, cause, got)
			}
			w.happened(it.ID, event.ContentGenerated)
		}
	}
}

func TestErrorsThatDoNotPassEndTheItem(t *testing.T) {
	rejected := &provider.Error{Kind: provider.Rejected, Code: "policy", Message: "The prompt was refused."}
	bad := &provider.Error{Kind: provider.BadInput, Code: "bad_prompt", Message: "The prompt is not understood."}
	for name, c := range map[string]struct {
		fault     func(w *world)
		code      string
		message   string
		retryable bool
	}{
		"rejected at once":  {func(w *world) { w.provider.submit = rejected }, "policy", "The prompt was refused.", true},
		"rejected later":    {func(w *world) { w.provider.status = &provider.Status{State: provider.Failed, Failure: rejected} }, "policy", "The prompt was refused.", true},
		"rejected at last":  {func(w *world) { w.provider.fetch = rejected }, "policy", "The prompt was refused.", true},
		"ended by itself":   {func(w *world) { w.provider.status = &provider.Status{State: provider.Canceled} }, "generation_failed", "", true},
		"bad input":         {func(w *world) { w.provider.submit = bad }, "bad_prompt", "The prompt is not understood.", false},
		"an unknown handle": {func(w *world) { w.provider.poll = bad }, "bad_prompt", "The prompt is not understood.", false},
		"no media": {func(w *world) {
			w.objects.err = errs.Wrap(errInjected, errs.UnsupportedMedia, "The generated file is of no known format.")
		}, "unsupported_media", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			it := w.create()
			c.fault(w)
			w.do(it.ID)
			got := w.get(it.ID)
			if got.State != content.Failed || got.Failure == nil || got.Failure.Stage != "generate" || got.Failure.Code != c.code || got.Failure.Retryable != c.retryable ||
				got.Failure.Message == "" || c.message != "" && got.Failure.Message != c.message || len(got.Media) != 0 {
				t.Errorf("%+v, %+v", got, got.Failure)
			}
			if strings.Contains(got.Failure.Message, "injected") {
				t.Errorf("the message tells its cause: %s", got.Failure.Message)
			}
			w.happened(it.ID, event.ContentFailed)
			before := storetest.Snapshot(t, w.db)
			w.do(it.ID)
			if storetest.Snapshot(t, w.db) != before {
				t.Error("a later delivery has changed something")
			}
		})
	}
}

func TestGiveUp(t *testing.T) {
	for name, prepare := range map[string]func(w *world, itemID string){
		"queued": func(*world, string) {},
		"generating": func(w *world, itemID string) {
			w.provider.status = &provider.Status{State: provider.Running}
			w.do(itemID)
			w.provider.status = nil
		},
	} {
		w := newWorld(t)
		it := w.create("kind", "music_clip")
		prepare(w, it.ID)
		for range 2 {
			if err := w.worker.GiveUp(t.Context(), w.job(it.ID), errInjected); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		got := w.get(it.ID)
		if got.State != content.Failed || got.Failure.Code != "internal" || !got.Failure.Retryable || got.Failure.Stage != "generate" || strings.Contains(got.Failure.Message, "injected") {
			t.Errorf("%s: %+v, %+v", name, got, got.Failure)
		}
		w.happened(it.ID, event.ContentFailed)
		w.do(it.ID) // a late delivery
		w.happened(it.ID, event.ContentFailed)
	}
	w := newWorld(t)
	done := w.generated()
	if err := w.worker.GiveUp(t.Context(), w.job(done.ID), errInjected); err != nil {
		t.Error(err)
	}
	w.happened(done.ID, event.ContentGenerated)
}

func TestTheQueueGivesUpAfterFourTries(t *testing.T) {
	w := newWorld(t)
	it := w.create()
	w.provider.submit = errInjected
	for n := 1; n <= 3; n++ {
		if again := w.deliver(t.Context(), it.ID, n); !again {
			t.Fatalf("delivery %d is the last", n)
		}
		w.happened(it.ID)
	}
	if again := w.deliver(t.Context(), it.ID, 4); again {
		t.Error("the message is to come a fifth time")
	}
	w.happened(it.ID, event.ContentFailed)
}
