package console

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	client "github.com/content-automation/api/clients/go"
	eventrecord "github.com/content-automation/api/pkg/record/event"
)

// webhook is a webhook, with its secret when it was just made.
type webhook struct {
	client.Webhook
	Secret *string `json:"secret"`
}

// Target returns the address of the webhook.
func (w webhook) Target() string {
	switch {
	case w.URL != nil:
		return *w.URL
	case w.Destination != nil:
		return w.Destination.ARN
	}
	return ""
}

// Tone returns the tone of the state.
func (w webhook) Tone() string {
	switch {
	case w.State != client.WebhookStateEnabled:
		return ""
	case w.FailingSince != nil:
		return "warn"
	default:
		return "good"
	}
}

const webhooksPath = "/settings/webhooks"

// webhookInputs are the inputs of the forms of a webhook.
var webhookInputs = []input{
	{Name: "url", Member: "url", Label: "Address", Kind: asURL, Must: true,
		Holder: "https://crm.example.com/hooks/content"},
	{Name: "description", Member: "description", Label: "Description"},
	{Name: "event_types", Member: "event_types", Label: "Events", Kind: asEvents, Added: "Adds the events %s",
		Removed: "Removes the events %s"},
}

var webhooks = page[webhook]{
	Title: "Webhooks", Lead: "Your system receives signed events at these addresses.", Path: webhooksPath,
	API: "/v1/webhooks", List: "webhooks", Icon: "webhook", Empty: "There are no webhooks yet",
	Hint: "Add one, and your system learns when content is ready.",
	Columns: []column{{Text: "Address"}, {Text: "Events", At: "md"}, {Text: "Last success", At: "sm"},
		{Text: "State"}},
	Show: "webhook", Name: webhook.Target, Below: deliveriesOf,
	Create: &form[webhook]{Title: "Add a webhook", Verb: "Add the webhook", Inputs: webhookInputs, Recent: true,
		Made: showWebhookSecret},
	Edit: &form[webhook]{Title: "Edit the webhook", Verb: "Review the changes", Inputs: webhookInputs, Recent: true,
		Review:  true,
		Effects: map[string]string{"url": "Deliveries that wait are sent to the new address at once."},
		Fixed: func(w webhook) map[string]choice { // a destination in AWS is changed by the API
			if w.URL != nil {
				return nil
			}
			return map[string]choice{"url": {w.Target(), "Destination"}}
		}},
	Actions: []action[webhook]{
		{Name: "test", Method: http.MethodPost, API: "/test", Done: "test", Body: func(*request) map[string]any {
			return map[string]any{"event_type": "content.generated"}
		}},
		{Name: "state", Method: http.MethodPatch, Recent: true, Body: stateOf},
		{Name: "disable", Ask: &confirmation{Title: "Disable the webhook", Verb: "Disable", Action: "/state",
			Text: "Events are not sent to it until you enable it. Those of the meantime can be sent later, for 30 " +
				"days.",
			Fields: []choice{{"state", "disabled"}}}, Effects: waitingDeliveries},
		{Name: "delete", Method: http.MethodDelete, Done: "deleted", ToList: true, Ask: &confirmation{
			Title: "Delete the webhook",
			Text:  "Events are no longer sent to this address. Its deliveries are no longer listed."},
			Effects: waitingDeliveries},
		{Name: "rotate-secret", Method: http.MethodPost, API: "/rotate-secret", Recent: true, Ask: &confirmation{
			Title: "Rotate the signing secret", Verb: "Rotate the secret", Harmless: true,
			Text: "Events are signed with the new and the earlier secret for a while, so that your system has time " +
				"to change."}, Then: showWebhookSecret},
	},
	Done: map[string]string{"test": "A test event is on its way. Its delivery is in the list below.",
		"redeliver": "The event is sent again. Its attempts are in the list below.",
		"replay":    "The events that did not arrive are sent again. Their deliveries are in the list below.",
		"changed":   "The webhook is changed.", "deleted": "The webhook is deleted. It receives nothing any more.",
		"enabled": "The webhook is enabled.", "disabled": "The webhook is disabled. Events are not sent to it."},
}

// stateOf returns a change of the state.
func stateOf(r *request) map[string]any { return map[string]any{"state": r.PostFormValue("state")} }

func addWebhooks(open func(string, func(*request) error)) {
	open("GET "+webhooksPath+"/{id}/replay", replayForm)
	open("POST "+webhooksPath+"/{id}/replay", replay)
}

// deliveryStates are the states by which deliveries are filtered.
var deliveryStates = []choice{{"", "All"}, {"delivered", "delivered"}, {"failed", "failed"}, {"pending", "pending"}}

// eventTypes are the types of events by area, and patterns those that forms offer: all, and those of each area.
var eventTypes, patterns = func() (types, areas []string) {
	areas = []string{"*"}
	for _, t := range eventrecord.Types {
		area, _, _ := strings.Cut(string(t.Type), ".")
		if types = append(types, string(t.Type)); !slices.Contains(areas, area+".*") {
			areas = append(areas, area+".*")
		}
	}
	return types, areas
}()

func showWebhookSecret(r *request, made webhook) error {
	v := r.view("The signing secret", webhooksPath)
	v.Data = made
	return r.show(http.StatusOK, "webhook-secret", v)
}

// deliveriesOf adds the deliveries of a webhook to its page.
func deliveriesOf(r *request, v *view, w webhook, to map[string]any) error {
	v.Title = "Webhook"
	if w.Description != nil && *w.Description != "" {
		v.Title = *w.Description
	}
	given, query := r.filters("state")
	var all []delivery
	next, err := r.api.list(r.Context(), r.at("/v1/webhooks/{id}/deliveries"), query, &all)
	to["Deliveries"], to["Next"], to["State"], to["States"] = all, next, given["state"], deliveryStates
	return err
}

// waitingDeliveries tells how many deliveries wait to be sent.
func waitingDeliveries(r *request, v *view, _ webhook) (effects []string, err error) {
	n, more, err := countOf(r, r.at("/v1/webhooks/{id}/deliveries"), url.Values{"state": {"pending"}})
	if n > 0 {
		effects = []string{v.T("Deliveries that wait to be sent: %s.", number(n, more))}
	}
	return effects, err
}

// periods are the periods whose events can be sent again. Events are kept for 30 days; the form may stay open for an
// hour.
var periods = []choice{{"1h", "Last hour"}, {"24h", "Last 24 hours"}, {"168h", "Last 7 days"}, {"719h", "Last 30 days"}}

// sinceFailing is the period since the first failure of the webhook.
const sinceFailing = "failing"

// replayForm shows the form to send the events of a period again, with the number of those that did not arrive.
func replayForm(r *request) error {
	w, err := webhooks.read(r)
	if err != nil {
		return err
	}
	n, more, err := countOf(r, r.apiPath("webhooks")+"/deliveries", url.Values{"state": {"failed,pending"}})
	if err != nil {
		return err
	}
	chosen := periods[1].Value
	if w.FailingSince != nil {
		chosen = sinceFailing
	}
	v := r.view("Send events of a period again", webhooksPath)
	v.Data = map[string]any{"Webhook": w, "Periods": periods, "Chosen": chosen, "Missed": number(n, more),
		"Opened": r.site.Now().Unix()}
	return r.show(http.StatusOK, "webhook-replay", v)
}

// replay sends the events of a period again that did not arrive. The period counts from the time at which the form was
// opened, so that a repeat of the form is the same call.
func replay(r *request) error {
	opened, err := strconv.ParseInt(r.PostFormValue("opened"), 10, 64)
	if err != nil {
		opened = r.site.Now().Unix()
	}
	since := time.Unix(opened, 0)
	if r.PostFormValue("period") == sinceFailing {
		w, err := webhooks.read(r)
		if err != nil {
			return err
		}
		if w.FailingSince != nil {
			since = w.FailingSince.Add(-time.Minute)
		}
	} else if by, err := time.ParseDuration(r.PostFormValue("period")); err == nil {
		since = since.Add(-by)
	}
	if err := r.api.change(r.Context(), http.MethodPost, r.apiPath("webhooks")+"/replay", r.once(),
		map[string]any{"since": since.UTC().Format(time.RFC3339)}, nil); err != nil {
		return err
	}
	return r.redirect(webhooks.one(r) + "?done=replay")
}

// delivery is a delivery. Only that of one has its request.
type delivery client.DeliveryDetails

var deliveries = page[delivery]{
	Active: webhooksPath, Path: webhooksPath + "/{id}/deliveries", API: "/v1/webhooks/{id}/deliveries", ID: "delivery",
	Show: "delivery", Heading: "Delivery",
	Below: func(r *request, _ *view, _ delivery, to map[string]any) error {
		w, err := webhooks.read(r)
		if to["Webhook"] = w; missing(err) {
			return nil
		}
		return err
	},
	Actions: []action[delivery]{{Name: "redeliver", Method: http.MethodPost, API: "/redeliver",
		To: webhooksPath + "/{id}?done=redeliver"}},
}

// Tone returns the tone of the state.
func (d delivery) Tone() string {
	return map[client.DeliveryState]string{"delivered": "good", "failed": "bad", "pending": "warn"}[d.State]
}

// Last returns the status of the last attempt, or 0 without an answer.
func (d delivery) Last() int64 {
	if n := len(d.Attempts); n > 0 && d.Attempts[n-1].Status != nil {
		return *d.Attempts[n-1].Status
	}
	return 0
}

// Latency returns the milliseconds of the last attempt.
func (d delivery) Latency() int64 {
	if n := len(d.Attempts); n > 0 {
		return d.Attempts[n-1].LatencyMs
	}
	return 0
}

// Headers are the headers of the request, in the order of their names.
func (d delivery) Headers() (all []formField) {
	for _, name := range slices.Sorted(maps.Keys(d.Request.Headers)) {
		all = append(all, formField{name, d.Request.Headers[name]})
	}
	return all
}

// Curl is the command that repeats the request. It is empty for a destination in AWS, and without a body.
func (d delivery) Curl() string {
	if d.Request == nil || d.Request.Body == nil || !strings.HasPrefix(d.Request.Address, "http") {
		return ""
	}
	lines := []string{"curl " + shell(d.Request.Address)}
	for _, h := range d.Headers() {
		lines = append(lines, "-H "+shell(h.Name+": "+h.Value))
	}
	return strings.Join(append(lines, "--data-raw "+shell(*d.Request.Body)), " \\\n  ")
}

// shell quotes a text for a POSIX shell.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

const (
	eventsPath = "/settings/events"
	auditPath  = "/settings/audit-log"
)

func addAudit(open func(string, func(*request) error)) {
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
		value := strings.TrimSpace(r.FormValue(name))
		if id, err := r.resolve(name, value); err == nil {
			value = id
		}
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

var eventPages = page[event]{
	Title: "Events", Lead: "What has happened in the last 30 days, as webhooks receive it.", Path: eventsPath,
	API: "/v1/events", List: "events", Icon: "list", Empty: "There are no events here",
	Columns: []column{{Text: "Type"}, {Text: "Time"}, {Text: "Resource", At: "sm"}},
	Filters: []string{"type", "object_id", "from", "to"},
	More: func(r *request, v *view, to map[string]any) error {
		given, _ := to["Filters"].(map[string]string)
		to["Areas"], to["Types"], to["Chips"] = patterns[1:], eventTypes, chipsOf(r, v, given, nil)
		return nil
	},
	Show: "event", Name: func(e event) string { return e.Type }, Below: deliveriesOfEvent,
}

// eventDelivery is the delivery of an event to one webhook.
type eventDelivery struct {
	Webhook webhook
	delivery
}

// deliveriesOfEvent adds what became of an event at each webhook.
func deliveriesOfEvent(r *request, _ *view, e event, to map[string]any) error {
	var hooks []webhook
	if _, err := r.api.list(r.Context(), "/v1/webhooks", url.Values{"limit": {"100"}}, &hooks); err != nil {
		return err
	}
	found := make([][]delivery, len(hooks))
	var reads []func() error
	for i, w := range hooks {
		reads = append(reads, func() error {
			return r.api.get(r.Context(), "/v1/webhooks/"+url.PathEscape(w.ID)+"/deliveries",
				url.Values{"event_id": {e.ID}}, &found[i])
		})
	}
	err := atOnce(reads...)
	var all []eventDelivery
	for i, some := range found {
		for _, d := range some {
			all = append(all, eventDelivery{hooks[i], d})
		}
	}
	to["Deliveries"] = all
	return err
}
