package publishing_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

const publications = "/v1/publications/"

// The worker dies before and after each of its steps. Each change of a text is made, and none is lost.
func TestAWorkerThatDiesDuringAnEdit(t *testing.T) {
	w := newWorld(t)
	pub := w.published(w.connect("telegram"))
	for n := 0; ; n++ {
		died := false
		for _, after := range []bool{false, true} {
			text := fmt.Sprintf("Version %d, %v", n, after)
			w.Call(http.MethodPatch, publications+pub.ID, object{"caption": text}).Into(t, http.StatusOK, &pub)
			w.fuse.Light(n, after)
			w.work()
			died = w.fuse.Douse() || died
			if pub = w.get(pub.ID); pub.Change.State != item.ChangeDone || string(pub.Posted.Text) != text ||
				!slices.Equal(w.texts(), []string{text}) {
				t.Fatalf("after a death at the step %d: %+v, posts %v", n, pub.Change, w.posts)
			}
		}
		if !died {
			if n < 5 {
				t.Errorf("an edit has %d steps", n)
			}
			return
		}
	}
}

// The worker dies before and after each of its steps. Each post is deleted once, with one event.
func TestAWorkerThatDiesDuringADeletion(t *testing.T) {
	w := newWorld(t)
	channel := w.connect("telegram")
	for n := 0; ; n++ {
		died := false
		for _, after := range []bool{false, true} {
			pub := w.published(channel)
			w.Call(http.MethodDelete, publications+pub.ID, nil).Into(t, http.StatusOK, &pub)
			w.fuse.Light(n, after)
			w.work()
			died = w.fuse.Douse() || died
			if pub = w.get(pub.ID); pub.State != item.PublicationDeleted || pub.Change.State != item.ChangeDone ||
				len(w.posts) != 0 {
				t.Fatalf("after a death at the step %d: %+v, posts %v", n, pub, w.posts)
			}
			if got := w.events(pub.ID)[event.PublicationDeleted]; got != 1 {
				t.Errorf("after a death at the step %d there are %d events", n, got)
			}
		}
		if !died {
			if n < 5 {
				t.Errorf("a deletion has %d steps", n)
			}
			return
		}
	}
}

// A change that the platform refuses ends as failed, and another one may follow. One that it does not confirm ends
// after an hour. Neither alters what is shown.
func TestChangesThatFail(t *testing.T) {
	w := newWorld(t)
	pub := w.published(w.connect("telegram"))
	edit := func(text string) int {
		return w.Call(http.MethodPatch, publications+pub.ID, object{"caption": text}).Status
	}
	w.refused = platform.Reject(platform.CodeContentRefused, "The post is too old.")
	if got := edit("Second"); got != http.StatusOK {
		t.Fatal(got)
	}
	w.work()
	if got := w.get(pub.ID); got.Change.State != item.ChangeFailed || got.Change.Failure == nil ||
		got.Change.Failure.Code != string(platform.CodeContentRefused) || got.Posted.Text != "Words" || w.calls != 1 {
		t.Errorf("refused: %+v after %d calls", got.Change, w.calls)
	}
	w.refused = platform.Lost(nil)
	edit("Third")
	for range 20 {
		w.round()
		w.Clock.Add(2 * time.Minute)
	}
	if got := edit("Fourth"); got != http.StatusConflict || w.calls < 3 {
		t.Errorf("a second change while the first is under way: %d, after %d calls", got, w.calls)
	}
	w.Clock.Add(time.Hour)
	w.work()
	if got := w.get(pub.ID); got.Change.State != item.ChangeFailed || got.Change.Failure == nil ||
		got.Change.Failure.Code != string(platform.CodeOutcomeUnknown) || got.Posted.Text != "Words" {
		t.Errorf("without an answer: %+v", got.Change)
	}
	w.refused = nil
	w.Call(http.MethodPatch, publications+pub.ID, object{"caption": "Last"}).Into(t, http.StatusOK, &pub)
	w.work()
	if got := w.get(pub.ID); got.Change.State != item.ChangeDone || got.Posted.Text != "Last" {
		t.Errorf("afterwards: %+v", got.Change)
	}
}

// Only published posts that the platform can change are changed, and only in the version that was read.
func TestChangesThatAreRefused(t *testing.T) {
	w := newWorld(t)
	telegram := w.connect("telegram")
	pub := w.published(telegram)
	w.Call(http.MethodPatch, publications+pub.ID, object{"caption": "Else"}, "If-Match", `"99"`).
		Refused(t, http.StatusPreconditionFailed, errs.VersionMismatch, "If-Match")
	for _, body := range []object{{}, {"caption": ""}, {"caption": "  "}, {"caption": "x", "title": "y"}} {
		if got := w.Call(http.MethodPatch, publications+pub.ID, body); got.Status != http.StatusUnprocessableEntity {
			t.Errorf("%v: %d", body, got.Status)
		}
	}
	w.Call(http.MethodPatch, publications+"pub_01h455vb4pex5vsknk084sn02q", object{"caption": "Else"}).
		Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Stranger().Call(http.MethodDelete, publications+pub.ID, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	planned := w.provide("publish_at", w.Now().Add(time.Hour), "social_account_ids", []string{telegram})
	w.work()
	w.Call(http.MethodGet, "/v1/content-items/"+planned.ID, nil).Into(t, http.StatusOK, &planned)
	w.Call(http.MethodDelete, publications+planned.Publications[0].ID, nil).
		Refused(t, http.StatusConflict, errs.InvalidState, "")
	w.Call(http.MethodDelete, publications+pub.ID, nil).Into(t, http.StatusOK, &pub)
	w.work()
	for _, method := range []string{http.MethodDelete, http.MethodPatch} {
		var body any
		if method == http.MethodPatch {
			body = object{"caption": "Else"}
		}
		w.Call(method, publications+pub.ID, body).Refused(t, http.StatusConflict, errs.InvalidState, "")
	}
	if w.calls != 1 {
		t.Errorf("the platform got %d calls", w.calls)
	}
}

// The deletion of a thread names all of its posts, the last first.
func TestAThreadIsDeletedAsAWhole(t *testing.T) {
	w := newWorld(t)
	w.more = "second,third"
	pub := w.published(w.connect("telegram"))
	w.Call(http.MethodDelete, publications+pub.ID, nil).Into(t, http.StatusOK, &pub)
	w.work()
	if want := []string{"third", "second", *pub.PlatformPostID}; !slices.Equal(w.deleted, want) {
		t.Errorf("deleted are %v, want %v", w.deleted, want)
	}
	if pub = w.get(pub.ID); pub.State != item.PublicationDeleted {
		t.Errorf("%+v", pub)
	}
}
