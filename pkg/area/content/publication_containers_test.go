package content_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/media"
	fakeinstagram "github.com/content-automation/api/testdata/platforms/instagram"
)

// Items of a factory that publishes by itself are not checked when they are scheduled.
func TestWhatDoesNotFitIsNotSent(t *testing.T) {
	w := newPublicationWorld(t, "instagram")
	before := w.fake.Calls()
	r := w.run(func(r *item.Record) { r.Item.Hashtags = []string{"a", "b", "c", "d", "e", "f"} })
	failed := r.Item.Publications[0].Failure
	if failed == nil || failed.Code != "content_refused" ||
		!strings.Contains(failed.Message, "up to 5 hashtags; there are 6") || w.fake.Calls() != before {
		t.Errorf("it ended as %+v after %d calls", failed, w.fake.Calls()-before)
	}
}

// A carousel of ten slides takes eleven containers, of which an account has 400 in any 24
// hours.
func TestContainersOfAnAccount(t *testing.T) {
	w := newPublicationWorld(t, "instagram")
	f := w.fake.(*fakeinstagram.Fake)
	f.Most, w.worker.Budgets = 40, map[string]int{"instagram": 40}
	w.clock.Advance(13 * time.Hour) // late in the day
	var slides []media.File
	for n := range 10 {
		slides = append(slides, media.File{ID: fmt.Sprint("s", n), Role: media.Final, Type: media.Image,
			MIMEType: "image/jpeg", Key: fmt.Sprint("slide-", n), Bytes: 2000, Width: 1080, Height: 1350})
	}
	var ids []string
	for n := range 7 {
		w.makeItem(fmt.Sprint("cnt_1", n), slides...)
		ids = append(ids, w.item)
		w.publish()
	}
	w.pass(time.Hour, time.Minute)
	if got := w.states(ids); got[item.Published] != 3 {
		t.Errorf("after an hour the items are %v, want 3 of 11 containers each", got)
	}
	w.pass(72*time.Hour, 10*time.Minute)
	if got := w.states(ids); got[item.Published] != 7 || f.Refused > 0 || len(w.fake.Posts()) != 7 {
		t.Errorf("the items are %v, with %d posts and %d refusals", got, len(w.fake.Posts()), f.Refused)
	}
}
