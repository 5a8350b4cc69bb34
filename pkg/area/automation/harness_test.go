package automation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/craft/source/fetch"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

type object = map[string]any

const automations, feedURL = "/v1/automations", "https://www.example.com/feed.xml"

// world is a table with a caller of the operations, and the worker of automations.
type world struct {
	*servicetest.World
	site   *site
	kernel *task.Kernel
	// service is also that of a second worker.
	service *automation.Service
}

// site serves a feed.
type site struct {
	status  int
	entries []string
	dates   map[string]time.Time // of entries that have one
	mu      sync.Mutex
	asked   []http.Header
	// gate is called by each request, unless it is nil.
	gate func()
}

// CheckURL permits the address of the feed alone.
func (s *site) CheckURL(context.Context, string) error { return nil }

// Do serves the feed, with its number of entries as ETag.
func (s *site) Do(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, req.Header)
	s.mu.Unlock()
	if s.gate != nil {
		s.gate()
	}
	answer := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, ContentLength: -1, Header: http.Header{"Etag": {s.tag()}},
			Body: io.NopCloser(strings.NewReader(body))}, nil
	}
	switch {
	case s.status != 0:
		return answer(s.status, "")
	case req.Header.Get("If-None-Match") == s.tag():
		return answer(http.StatusNotModified, "")
	}
	var b strings.Builder
	for _, e := range s.entries {
		date := ""
		if at, ok := s.dates[e]; ok {
			date = "<pubDate>" + at.Format(time.RFC1123Z) + "</pubDate>"
		}
		fmt.Fprintf(&b, "<item><guid>%s</guid><title>&lt;b&gt;%[1]s&lt;/b&gt; is new</title>"+
			"<link>https://www.example.com/%[1]s?utm_source=feed</link>%[2]s</item>", e, date)
	}
	return answer(http.StatusOK, `<rss version="2.0"><channel><title>News</title>`+b.String()+"</channel></rss>")
}

func (s *site) tag() string { return fmt.Sprintf(`"%d"`, len(s.entries)) }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: servicetest.New(t), site: &site{}}
	factories := factory.NewService(w.DB, w.Now)
	items := content.NewService(w.DB, factories, nil, catalog.NewOffer("bedrock,fal", "eu-central-1", nil), w.Now)
	service := automation.NewService(w.DB, factories, items, w.site, w.Now)
	w.Serve(factories, items, service, quote.NewService(w.DB, w.Now),
		product.NewService(w.DB, nil, safehttp.New(safehttp.Options{}), w.Now))
	w.service = service
	w.kernel = w.Kernel(service.Handlers(fetch.ParseFeed))
	w.Kept()
	return w
}

// makeFactory makes a factory of a type in a time zone.
func (w *world) makeFactory(kind, zone string) string {
	w.T.Helper()
	var f factory.Factory
	settings := object{}
	if kind == "brand" {
		settings["brand_name"] = "Acme"
	} else {
		settings["currency"] = "EUR"
	}
	w.Call(http.MethodPost, "/v1/factories", object{"type": kind, "name": "Acme", "settings": settings,
		"quality": "draft", "schedule": object{"timezone": zone, "times": []string{}}}).
		Into(w.T, http.StatusCreated, &f)
	return f.ID
}

// create makes an automation.
func (w *world) create(factoryID string, trigger object, members ...any) (a automation.Details) {
	w.T.Helper()
	b := object{"factory_id": factoryID, "trigger": trigger, "max_per_day": 100,
		"template": object{"kind": "post", "prompt": "What is new?"}}
	w.Call(http.MethodPost, automations, servicetest.Body(b, members...)).Into(w.T, http.StatusCreated, &a)
	return a
}

func (w *world) get(automationID string) (a automation.Details) {
	w.T.Helper()
	w.Call(http.MethodGet, automations+"/"+automationID, nil).Into(w.T, http.StatusOK, &a)
	return a
}

// do takes the next step of an automation's task, and returns when the one after it is due. It returns false if the
// task has ended.
func (w *world) do(automationID string) (due time.Time, more bool) {
	w.T.Helper()
	at := store.IDKey(task.ID(automation.Kind, automationID, 1))
	it, err := w.DB.Get(w.T.Context(), at)
	if err != nil {
		w.T.Fatal(err)
	}
	var was task.Task
	if err := it.Decode(&was); err != nil {
		w.T.Fatal(err)
	}
	was.Message.Wake = true
	if _, err := w.kernel.Do(w.T.Context(), was.Message, ""); err != nil {
		w.T.Fatal(err)
	}
	if it, err = w.DB.Get(w.T.Context(), at); err != nil {
		w.T.Fatal(err)
	}
	var is task.Task
	if err := it.Decode(&is); err != nil {
		w.T.Fatal(err)
	}
	return is.DueAt, it.Filters["state"] == "running"
}

// items returns the content items, oldest first.
func (w *world) items() (all []item.Item) {
	w.T.Helper()
	return apitest.All[item.Item](w.Caller, "/v1/content-items?order=asc", 100)
}

// prompts returns the prompts of all items, oldest first.
func (w *world) prompts() (all []string) {
	w.T.Helper()
	for _, it := range w.items() {
		all = append(all, it.Prompt)
	}
	return all
}

// events returns the types of the events.
func (w *world) events() (types []string) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] == "event" {
			var e struct{ Type string }
			if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
				w.T.Fatal(err)
			}
			types = append(types, e.Type)
		}
	}
	return types
}
