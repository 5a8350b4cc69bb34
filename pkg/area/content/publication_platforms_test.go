package content_test

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/platforms/control"
	faketelegram "github.com/content-automation/api/testdata/platforms/telegram"
	fakeyoutube "github.com/content-automation/api/testdata/platforms/youtube"
)

// A video shows the cover of the variant of its platform in place of the poster, and YouTube gets its captions.
func TestTheCoverOfAVariantAndCaptions(t *testing.T) {
	own := media.File{ID: "med_1_1", Role: media.Final, Type: media.Image, MIMEType: "image/png", Key: "own", Bytes: 7}
	w := newPublicationWorld(t, "youtube")
	w.wish = `{"privacy":"public","captions":true}`
	done := w.run(func(r *item.Record) {
		r.Files = append(r.Files,
			media.File{ID: "cnt_1_2", Role: media.Poster, Type: media.Image, MIMEType: "image/jpeg", Key: "poster",
				Bytes: 9},
			media.File{ID: "cnt_1_3", Role: media.Subtitles, Type: media.Captions, MIMEType: "text/vtt", Key: "words",
				Bytes: 11})
		r.Item.Variants = map[string]item.Variant{"youtube": {Cover: &own.ID}}
		r.VariantFiles = map[string]media.File{own.ID: own}
	})
	f := w.fake.(*fakeyoutube.Fake)
	pub := done.Item.Publications[0]
	read, err := w.worker.Files.Range(t.Context(), own.Key, 0, own.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	_, sum, err := control.Sum(read)
	if err != nil || f.Covers[*pub.PlatformPostID] != sum || !strings.Contains(f.Posts()[0], "captions ") ||
		len(pub.Warnings) > 0 {
		t.Errorf("%v, want %s; %q, %+v, %v", f.Covers, sum, f.Posts(), pub.Warnings, err)
	}
}

// run publishes the item, whose record is changed before, until it has ended.
func (w *publicationWorld) run(change func(*item.Record)) *item.Record {
	w.t.Helper()
	w.change(change)
	w.publish()
	return w.end()
}

// change changes the record of the item.
func (w *publicationWorld) change(change func(*item.Record)) {
	w.t.Helper()
	w.write(func(_ *store.Tx, r *item.Record) error { change(r); return nil })
}

// end takes steps until the item has ended.
func (w *publicationWorld) end() *item.Record {
	w.t.Helper()
	for range 400 {
		if _, r := w.read(); r.Item.State == item.Published || r.Item.State == item.Failed {
			return r
		}
		w.deliver(w.due(), 1)
		w.clock.Advance(10 * time.Second)
	}
	_, r := w.read()
	w.t.Fatalf("it has not ended: %+v", r.Item.Publications)
	return nil
}

func TestTheTypeOfTheFactoryIsTheTopic(t *testing.T) {
	for kind, want := range map[string]string{"musician": "| 6 |", "news": "| 13 |", "": "| 13 |"} {
		w := newPublicationWorld(t, "rutube")
		w.run(func(r *item.Record) { r.Brief.Type = kind })
		if posts := w.fake.Posts(); len(posts) != 1 || !strings.Contains(posts[0], want) {
			t.Errorf("%q: %q, want the category %s", kind, posts, want)
		}
	}
}

// Telegram keeps counts of reactions for a day. Counts that were read before stay.
func TestWhatAPlatformNoLongerSaysStays(t *testing.T) {
	w := newPublicationWorld(t, "telegram")
	w.fake.(*faketelegram.Fake).Allow("message_reaction_count")
	at := w.run(func(*item.Record) {}).Item.PublishedAt
	for _, after := range []time.Duration{time.Hour, 25 * time.Hour, 8 * 24 * time.Hour} {
		w.clock.Advance(at.Add(after).Sub(w.clock.Now()))
		w.deliver(w.due(publication.Read), 1)
		_, r := w.read()
		if m := r.Item.Publications[0].Metrics; m == nil || m.Likes == nil || *m.Likes != 7 ||
			!m.ReadAt.Equal(w.clock.Now()) {
			t.Errorf("after %v: %+v", after, m)
		}
	}
}
