package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/media/probe"
)

// receiver is a webhook endpoint on loopback that keeps its requests.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []received
	// status is the status of its responses; 0 means 204.
	status int
}

type received struct {
	header http.Header
	body   []byte
	event  webhookEvent
}

type webhookEvent struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	AccountID string `json:"account_id"`
	Mode      string `json:"mode"`
	Data      struct {
		Object contentItem `json:"object"`
	} `json:"data"`
}

type contentItem struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Format    string `json:"format"`
	State     string `json:"state"`
	Title     string `json:"title"`
	Caption   string `json:"caption"`
	Version   int    `json:"version"`
	Attempt   int    `json:"attempt"`
	Published string `json:"published_at"`
	Cost      int64  `json:"cost_credits"`
	Progress  int    `json:"progress"`
	Quality   string `json:"quality"`
	// Hooks are the first lines that were considered, and PromptVersion is that of their prompt.
	Hooks         []string `json:"hooks"`
	PromptVersion string   `json:"prompt_version"`
	Media         []file   `json:"media"`
	Slides        []struct {
		Text    string `json:"text"`
		MediaID string `json:"media_id"`
	} `json:"slides"`
	Failure *struct {
		Stage     string `json:"stage"`
		Code      string `json:"code"`
		Retryable bool   `json:"retryable"`
	} `json:"failure"`
}

type file struct {
	ID              string  `json:"id"`
	Role            string  `json:"role"`
	Type            string  `json:"type"`
	MIMEType        string  `json:"mime_type"`
	URL             string  `json:"url"`
	ThumbnailURL    *string `json:"thumbnail_url"`
	AltText         string  `json:"alt_text"`
	Width           int     `json:"width"`
	Height          int     `json:"height"`
	DurationSeconds float64 `json:"duration_seconds"`
	Bytes           int     `json:"bytes"`
	SHA256          string  `json:"sha256"`
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Errorf("receiver: %v", err)
		}
		var e webhookEvent
		if err := json.Unmarshal(body, &e); err != nil {
			t.Errorf("receiver got no JSON: %v", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, received{req.Header.Clone(), body, e})
		if r.status == 0 {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

// about returns the deliveries about a resource.
func (r *receiver) about(id string) (found []received) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.got {
		if d.event.Data.Object.ID == id {
			found = append(found, d)
		}
	}
	return found
}

// subscribe makes a webhook and returns its secret.
func (r *receiver) subscribe(t *testing.T, key string, types ...string) string {
	t.Helper()
	w := into[struct{ ID, Secret string }](call(t, key, "POST", "/v1/webhooks", object{
		"url": r.URL + "/hook", "event_types": types,
	}), http.StatusCreated)
	return w.Secret
}

// TestMainJob does the first job of a caller: it makes a factory, a webhook and one content item
// of each kind, and checks the signed events and the media.
func TestMainJob(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	key := c.test.Secret
	hooks := newReceiver(t)
	secret := hooks.subscribe(t, key, "*")
	factory := c.factory(key)

	kinds := []struct {
		name   string
		body   object
		files  []string
		width  int
		height int
	}{
		{"post", object{"kind": "post"}, []string{"image/jpeg", "image/jpeg"}, 1080, 1350},
		{"short video", object{"kind": "video", "duration_seconds": 10}, []string{"video/mp4", "image/jpeg", "text/vtt",
			"audio/", "video/mp4", "video/mp4"}, 9, 16},
		{"long video", object{"kind": "video", "format": "long", "duration_seconds": 30, "visuals": "stills"},
			append([]string{"video/mp4", "image/jpeg", "text/vtt", "audio/"},
				slices.Repeat([]string{"image/"}, 6)...), 16, 9},
		{"carousel", object{"kind": "carousel", "slides": []object{{"text": "One"}, {}, {}}},
			append(slices.Repeat([]string{"image/jpeg"}, 3), slices.Repeat([]string{"image/"}, 3)...), 4, 5},
		{"story", object{"kind": "story"}, []string{"image/jpeg", "image/jpeg"}, 9, 16},
		{"music clip", object{"kind": "music_clip", "duration_seconds": 15},
			[]string{"video/mp4", "image/jpeg", "image/", "audio/"}, 9, 16},
	}
	ids := map[string]string{}
	for _, kind := range kinds {
		kind.body["factory_id"], kind.body["prompt"] = factory, "A shoe made of recycled nets"
		item := into[contentItem](call(t, key, "POST", "/v1/content-items", kind.body), http.StatusAccepted)
		if item.State != "queued" || item.Attempt != 1 || item.Media == nil || len(item.Media) != 0 {
			t.Errorf("%s: just made, it is %+v", kind.name, item)
		}
		ids[kind.name] = item.ID
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			poll.Until(t, "the webhook of "+kind.name, func() bool { return len(hooks.about(ids[kind.name])) > 0 })
			d := hooks.about(ids[kind.name])[0]
			if err := verifier.Verify(d.body, d.header); err != nil {
				t.Errorf("signature: %v", err)
			}
			e := d.event
			if e.Type != "content.generated" || e.AccountID != c.id || e.Mode != "test" ||
				d.header.Get("webhook-id") != e.ID {
				t.Errorf("event: %+v", e)
			}
			item := into[contentItem](call(t, key, "GET", "/v1/content-items/"+ids[kind.name], nil), http.StatusOK)
			if item.State != "generated" || item.Title == "" || item.Caption == "" ||
				item.Version != e.Data.Object.Version || e.Data.Object.State != "generated" {
				t.Errorf("item: %+v\nevent: %+v", item, e.Data.Object)
			}
			for _, media := range [][]file{item.Media, e.Data.Object.Media} {
				if len(media) != len(kind.files) {
					t.Fatalf("%d files: %+v", len(media), media)
				}
				for i, f := range media {
					width, height := kind.width, kind.height
					if f.Role == "cover" {
						width, height = 1, 1
					}
					checkFile(t, f, kind.files[i], width, height)
				}
			}
			for i, s := range item.Slides {
				if s.Text == "" || s.MediaID != item.Media[i].ID {
					t.Errorf("slide %d: %+v", i, s)
				}
			}
			if kind.name == "carousel" && (len(item.Slides) != 3 || item.Slides[0].Text != "One") {
				t.Errorf("slides: %+v", item.Slides)
			}
		})
	}
}

// checkFile fetches a file at its signed address and reads it.
func checkFile(t *testing.T, f file, mimeType string, width, height int) {
	t.Helper()
	resp, err := http.Get(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("media: %d %v %s", resp.StatusCode, err, content)
	}
	info, err := probe.Bytes(content)
	if err != nil {
		t.Fatalf("media: %v", err)
	}
	if info.MIMEType != f.MIMEType || len(content) != f.Bytes || len(f.MIMEType) < len(mimeType) ||
		f.MIMEType[:len(mimeType)] != mimeType {
		t.Errorf("media is %s of %d bytes, announced as %s of %d, wanted as %s", info.MIMEType, len(content),
			f.MIMEType, f.Bytes, mimeType)
	}
	if got := resp.Header.Get("Content-Type"); got != f.MIMEType {
		t.Errorf("media is served as %s", got)
	}
	visible, lasting := f.Type == "image" || f.Type == "video", f.Type == "audio" || f.Type == "video"
	if off := f.Width*height - f.Height*width; visible && (max(off, -off)*100 > f.Height*width*2 || f.Width == 0) {
		t.Errorf("media is %d x %d, not %d:%d", f.Width, f.Height, width, height)
	}
	if lasting && f.DurationSeconds < 1 {
		t.Errorf("media lasts %v s", f.DurationSeconds)
	}
}

func TestRehearsedOutcomes(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	key := c.test.Secret
	hooks := newReceiver(t)
	hooks.subscribe(t, key, "content.failed", "content.published")
	body := object{"factory_id": c.factory(key), "kind": "post", "prompt": "A shoe"}

	body["sandbox"] = object{"outcome": "failed"}
	failed := into[contentItem](call(t, key, "POST", "/v1/content-items", body), http.StatusAccepted)
	body["sandbox"] = object{"outcome": "published"}
	published := into[contentItem](call(t, key, "POST", "/v1/content-items", body), http.StatusAccepted)
	body["sandbox"] = object{"delay_seconds": 4}
	began := time.Now()
	delayed := into[contentItem](call(t, key, "POST", "/v1/content-items", body), http.StatusAccepted)

	poll.Until(t, "content.failed", func() bool { return len(hooks.about(failed.ID)) > 0 })
	if e := hooks.about(failed.ID)[0].event; e.Type != "content.failed" || e.Data.Object.State != "failed" ||
		e.Data.Object.Failure == nil || e.Data.Object.Failure.Stage != "generate" || e.Data.Object.Failure.Code == "" {
		t.Errorf("%+v", e)
	}
	poll.Until(t, "content.published", func() bool { return len(hooks.about(published.ID)) > 0 })
	if e := hooks.about(published.ID)[0].event; e.Type != "content.published" || e.Data.Object.State != "published" ||
		e.Data.Object.Published == "" {
		t.Errorf("%+v", e)
	}
	get := func() contentItem {
		return into[contentItem](call(t, key, "GET", "/v1/content-items/"+delayed.ID, nil), http.StatusOK)
	}
	if s := get().State; time.Since(began) < 3*time.Second && s != "queued" && s != "generating" {
		t.Errorf("before its delay the item is %s", s)
	}
	poll.Until(t, "the delayed item", func() bool { return get().State == "generated" })
	if took := time.Since(began); took < 4*time.Second {
		t.Errorf("the delay of 4 s took %v", took)
	}
}

// TestEvents reads the events of the webhooks from the API.
func TestEvents(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	from := time.Now().Add(-time.Second).UTC().Format(time.RFC3339)
	body := object{"factory_id": c.factory(key), "kind": "post", "prompt": "A shoe",
		"sandbox": object{"outcome": "published"}}
	item := into[contentItem](call(t, key, "POST", "/v1/content-items", body), http.StatusAccepted)
	var events []webhookEvent
	poll.Until(t, "two events", func() bool {
		events = into[[]webhookEvent](call(t, key, "GET", "/v1/events?type=content.*&from="+from, nil), http.StatusOK)
		return len(events) == 2
	})
	if events[0].Data.Object.ID != item.ID || len(events[0].Data.Object.Media) != 2 {
		t.Fatalf("%+v", events)
	}
	checkFile(t, events[0].Data.Object.Media[0], "image/", 4, 5)
	one := into[webhookEvent](call(t, key, "GET", "/v1/events/"+events[0].ID, nil), http.StatusOK)
	if one.ID != events[0].ID || one.Type != events[0].Type {
		t.Errorf("%+v", one)
	}
	only := into[[]webhookEvent](call(t, key, "GET", "/v1/events?type=content.published", nil), http.StatusOK)
	if len(only) != 1 || only[0].Type != "content.published" {
		t.Errorf("%+v", only)
	}
	about := into[[]webhookEvent](call(t, key, "GET",
		"/v1/events?type=studio.*,content.published,content.generated&order=asc&object_id="+item.ID, nil),
		http.StatusOK)
	if len(about) != 2 || about[0].ID != events[1].ID || about[1].ID != events[0].ID {
		t.Errorf("%+v", about)
	}
	if none := into[[]webhookEvent](call(t, key, "GET", "/v1/events?type=content.*&to="+from, nil),
		http.StatusOK); len(none) != 0 {
		t.Errorf("%+v", none)
	}
	// The other mode and other accounts do not see the events.
	for _, other := range []string{c.live.Secret, newCustomer(t).test.Secret} {
		if err := call(t, other, "GET", "/v1/events/"+one.ID, nil).refused(404, "not_found"); err != nil {
			t.Error(err)
		}
		if none := into[[]webhookEvent](call(t, other, "GET", "/v1/events?type=content.*", nil),
			http.StatusOK); len(none) != 0 {
			t.Errorf("%+v", none)
		}
	}
}

// TestWebhookRetries has a receiver that first fails.
func TestWebhookRetries(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	key := c.test.Secret
	hooks := newReceiver(t)
	hooks.status = http.StatusInternalServerError
	hooks.subscribe(t, key, "content.generated")
	item := into[contentItem](call(t, key, "POST", "/v1/content-items", object{
		"factory_id": c.factory(key), "kind": "story", "prompt": "A shoe",
	}), http.StatusAccepted)
	poll.Until(t, "the first attempt", func() bool { return len(hooks.about(item.ID)) == 1 })
	hooks.mu.Lock()
	hooks.status = 0
	hooks.mu.Unlock()
	poll.Until(t, "the second attempt", func() bool { return len(hooks.about(item.ID)) == 2 })
	d := hooks.about(item.ID)
	if d[0].event.ID != d[1].event.ID {
		t.Errorf("the repeat has another id: %s, %s", d[0].event.ID, d[1].event.ID)
	}
}
