package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	eventsPath = "/settings/events"
	auditPath  = "/settings/audit-log"
)

func addEvents(open func(string, func(*request) error)) {
	open("GET "+eventsPath, listEvents)
	open("GET "+eventsPath+"/{id}", showEvent)
	open("GET "+auditPath, listAudit)
	open("GET "+auditPath+"/{request}", showCall)
	open("GET "+auditPath+".csv", exportAudit)
}

// event is an event as the API answers it.
type event struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"created_at"`
	Data      struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

// Subject returns the id of the resource of the event, and the page that shows it, if there is one.
func (e event) Subject() (s struct{ ID, Page string }) {
	_ = json.Unmarshal(e.Data.Object, &s) // an event without an id has no page
	s.Page = pageOf(s.ID)
	return s
}

// pageOf returns the page that shows a resource, or an empty text.
func pageOf(id string) string {
	prefix, _, _ := strings.Cut(id, "_")
	if page, ok := pagesOf[prefix]; ok {
		return page + "/" + id
	}
	return ""
}

// pagesOf are the pages of resources by the prefixes of their ids.
var pagesOf = map[string]string{"cnt": contentPath, "key": keysPath, "whk": webhooksPath, "prf": profilesPath,
	"aut": automationsPath, "int": integrationsPath}

// Body returns the object of the event, indented.
func (e event) Body() string {
	var value any
	if json.Unmarshal(e.Data.Object, &value) != nil {
		return ""
	}
	text, _ := json.MarshalIndent(value, "", "  ") // it was decoded before
	return string(text)
}

// filters are the values of the fields that filter a list.
func (r *request) filters(names ...string) (given map[string]string, query url.Values) {
	given, query = map[string]string{}, cursor(r)
	for _, name := range names {
		value := strings.TrimSpace(r.URL.Query().Get(name))
		given[name] = value
		if value == "" {
			continue
		}
		// A form has days, and the API times. The last day is included.
		if day, err := time.Parse(time.DateOnly, value); err == nil && (name == "from" || name == "to") {
			if name == "to" {
				day = day.AddDate(0, 0, 1)
			}
			value = day.Format(time.RFC3339)
		}
		query.Set(name, value)
	}
	return given, query
}

// more returns the link to the next page of a list with the filters of this one.
func (r *request) more(next string) string {
	if next == "" {
		return ""
	}
	q := r.URL.Query()
	q.Set("cursor", next)
	return r.site.prefix + r.URL.Path + "?" + q.Encode()
}

func listEvents(r *request) error {
	given, query := r.filters("type", "object_id", "from", "to")
	var all []event
	v := r.view("Events", eventsPath)
	next, err := r.api.list(r.Context(), "/v1/events", query, &all)
	found, err := refused(err)
	if err != nil {
		return err
	}
	v.mend(found)
	v.Data = map[string]any{"Events": all, "More": r.more(next), "Filters": given, "Areas": patterns[1:],
		"Types": eventTypes, "Chips": chipsOf(r, v, given, nil)}
	return r.show(http.StatusOK, "events", v)
}

// eventDelivery is the delivery of an event to one webhook.
type eventDelivery struct {
	Webhook webhook
	delivery
}

// showEvent shows one event, and what became of it at each webhook.
func showEvent(r *request) error {
	var e event
	if err := r.api.get(r.Context(), r.apiPath("events"), nil, &e); err != nil {
		return err
	}
	var hooks []webhook
	if _, err := r.api.list(r.Context(), "/v1/webhooks", url.Values{"limit": {"100"}}, &hooks); err != nil {
		return err
	}
	found := make([][]delivery, len(hooks))
	failed := make([]error, len(hooks))
	var reads sync.WaitGroup
	for i, w := range hooks {
		reads.Go(func() {
			failed[i] = r.api.get(r.Context(), "/v1/webhooks/"+url.PathEscape(w.ID)+"/deliveries",
				url.Values{"event_id": {e.ID}}, &found[i])
		})
	}
	reads.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	var all []eventDelivery
	for i, some := range found {
		for _, d := range some {
			all = append(all, eventDelivery{hooks[i], d})
		}
	}
	v := r.view(e.Type, eventsPath)
	v.Data = map[string]any{"Event": e, "Deliveries": all}
	return r.show(http.StatusOK, "event", v)
}
