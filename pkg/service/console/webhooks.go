package console

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	client "github.com/content-automation/api/clients/go"
	eventrecord "github.com/content-automation/api/pkg/record/event"
)

// webhook is a webhook, with its secret when it was just made.
type webhook struct {
	client.Webhook
	Secret *string `json:"secret"`
}

func (w webhook) Target() string { return cmp.Or(given(w.URL), client.Value(w.Destination).ARN) }

// Broken reports whether the webhook fails, or was disabled because it has failed.
func (w webhook) Broken() bool { return w.FailingSince != nil || w.DisabledReason != nil }

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
	Columns: []column{{Text: "Address"}, {Text: "Events", At: "lg"}, {Text: "24 hours", At: "md"},
		{Text: "Last success", At: "sm"}, {Text: "State"}},
	Filters: []string{"state"}, States: []string{"enabled", "disabled", failingState}, Rows: rowsOfWebhooks,
	NoMatch: "There are no webhooks in this state",
	Show:    "webhook", Name: webhook.Target, Below: deliveriesOf, More: daysOfWebhooks,
	Create: &form[webhook]{Title: "Add a webhook", Verb: "Add the webhook", Inputs: webhookInputs, Recent: true,
		Made: showWebhookSecret},
	Edit: &form[webhook]{Title: "Edit the webhook", Verb: "Review the changes", Inputs: webhookInputs, Recent: true,
		Review: true,
		Effects: func(patch map[string]any) []string {
			if patch["url"] == nil {
				return nil
			}
			return []string{"Deliveries that wait are sent to the new address at once."}
		},
		Fixed: func(w webhook) map[string]choice { // a destination in AWS is changed by the API
			if w.URL != nil {
				return nil
			}
			return map[string]choice{"url": {w.Target(), "Destination"}}
		}},
	Actions: []action[webhook]{
		{Name: "test", Method: http.MethodPost, API: "/test", Done: "test", Body: func(*request) (any, error) {
			return map[string]any{"event_type": "content.generated"}, nil
		}},
		{Name: "state", Method: http.MethodPatch, Recent: true, Body: sentAs("state", "state")},
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
		{Name: "replay", Method: http.MethodPost, API: "/replay", Done: "replay", Choice: periodsToResend,
			Body: sentAs("since", "since"),
			Ask: &confirmation{Title: "Resend events", Verb: "Resend", Harmless: true,
				Text: "Events that match the webhook and did not arrive are sent, each once. Those that arrived are " +
					"not sent again. Events from before the webhook was created are part of them."}},
	},
	Done: map[string]string{"test": "A test event is on its way. Its delivery is in the list below.",
		"redeliver": "The event is sent again. Its attempts are in the list below.",
		"replay":    "The events that did not arrive are sent again. Their deliveries are in the list below.",
		"changed":   "The webhook is changed.", "deleted": "The webhook is deleted. It receives nothing any more.",
		"enabled": "The webhook is enabled.", "disabled": "The webhook is disabled. Events are not sent to it."},
}

// failingState is the state of webhooks that fail, which the API does not filter by. An account has few of them.
const failingState = "failing"

func rowsOfWebhooks(r *request, query url.Values) (all []webhook, next string, err error) {
	fails := query.Get("state") == failingState
	if fails {
		query.Del("state")
		query.Set("limit", "100")
	}
	next, err = r.api.list(r.Context(), "/v1/webhooks", query, &all)
	return slices.DeleteFunc(all, func(w webhook) bool { return fails && !w.Broken() }), next, err
}

// sentAs returns the body of an action that passes on one field of its form as a member.
func sentAs(field, member string) func(*request) (any, error) {
	return func(r *request) (any, error) { return map[string]any{member: r.PostFormValue(field)}, nil }
}

// The states of deliveries as people see them: the API's pending is one that waits for its first attempt, or for
// another one.
const (
	retryingState = "retrying"
	waitingState  = "waiting"
)

// deliveryStates are the states by which deliveries are filtered.
var deliveryStates = []choice{{"", "All"}, {"delivered", "delivered"}, {retryingState, retryingState},
	{"failed", "given up"}, {waitingState, waitingState}}

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
	v.Title = cmp.Or(given(w.Description), "Webhook")
	given, query := r.filters("state")
	state := given["state"]
	split := state == retryingState || state == waitingState
	if split {
		query.Set("state", "pending")
		query.Set("limit", "100")
	}
	var all []delivery
	next, err := r.api.list(r.Context(), r.at("/v1/webhooks/{id}/deliveries"), query, &all)
	if split {
		all = slices.DeleteFunc(all, func(d delivery) bool { return d.Shown().Value != state })
	}
	// What an act of the person has begun is followed until it has an answer.
	follows := slices.Contains([]string{"test", "redeliver", "replay"}, r.URL.Query().Get("done"))
	waits := slices.ContainsFunc(all, func(d delivery) bool { return d.State == "pending" })
	to["Polled"] = follows && (waits || len(all) == 0)
	to["Deliveries"], to["Next"], to["State"], to["States"] = all, next, state, deliveryStates
	if err != nil {
		return err
	}
	to["Day"], err = dayOfWebhook(r, v, w.ID)
	return err
}

// daysOfWebhooks adds the last day of each webhook to their list.
func daysOfWebhooks(r *request, v *view, rows []webhook, to map[string]any) error {
	var mu sync.Mutex
	days := map[string]*dayBar{}
	to["DaysOf"] = days
	return each(rows, func(w *webhook) error {
		bar, err := dayOfWebhook(r, v, w.ID)
		mu.Lock()
		defer mu.Unlock()
		days[w.ID] = bar
		return err
	})
}

// hours are the hours of the bar of a webhook.
const hours = 24

// hourOfWebhook is an hour of the bar, with the deliveries that arrived and those that did not.
type hourOfWebhook struct{ Arrived, Missed int }

// Class returns the colour of the hour.
func (h hourOfWebhook) Class() string {
	switch {
	case h.Missed > 0:
		return "cbad"
	case h.Arrived > 0:
		return "good"
	}
	return "rest"
}

type dayBar struct {
	Hours           []hourOfWebhook
	Arrived, Missed int
	Text            string
}

// dayOfWebhook reads the deliveries of the last day.
func dayOfWebhook(r *request, v *view, id string) (*dayBar, error) {
	var all []delivery
	if _, err := r.api.list(r.Context(), "/v1/webhooks/"+url.PathEscape(id)+"/deliveries", url.Values{"limit": {"100"}},
		&all); err != nil {
		return nil, err
	}
	bar := &dayBar{Hours: make([]hourOfWebhook, hours)}
	for _, d := range all {
		ago := int(v.Now.Sub(d.CreatedAt) / time.Hour)
		if ago < 0 || ago >= hours {
			continue
		}
		switch hour := &bar.Hours[hours-1-ago]; {
		case d.State == "delivered":
			hour.Arrived++
			bar.Arrived++
		case len(d.Attempts) > 0:
			hour.Missed++
			bar.Missed++
		}
	}
	bar.Text = v.T("In 24 hours: delivered %d, not delivered %d", bar.Arrived, bar.Missed)
	return bar, nil
}

// waitingDeliveries tells how many deliveries wait to be sent.
func waitingDeliveries(r *request, v *view, _ webhook) (effects []string, err error) {
	waits, err := countOf(r.Context(), r.api, r.at("/v1/webhooks/{id}/deliveries"), url.Values{"state": {"pending"}})
	if waits.N > 0 {
		effects = []string{v.T("Deliveries that wait to be sent: %s.", waits.Text())}
	}
	return effects, err
}

// periods are the periods whose events can be sent again. Events are kept for 30 days; the form may stay open for an
// hour.
var periods = []choice{{"1h", "Last hour"}, {"24h", "Last 24 hours"}, {"168h", "Last 7 days"}, {"719h", "Last 30 days"}}

// mostResent bounds the events of a period that are counted.
const mostResent = 500

// resend is what can be sent again to a webhook.
type resend struct {
	webhook    webhook
	events     []event
	deliveries []delivery
	more       bool
}

// resendOf reads the events and the deliveries of the last 30 days.
func resendOf(r *request, w webhook) (s resend, err error) {
	s.webhook = w
	from := url.Values{"from": {r.site.Now().UTC().AddDate(0, 0, -30).Format(time.RFC3339)}}
	err = atOnce(
		func() (err error) {
			s.events, err = listAll[event](r.Context(), r.api, "/v1/events", from, mostResent)
			return err
		},
		func() (err error) {
			s.deliveries, err = listAll[delivery](r.Context(), r.api, r.apiPath("webhooks")+"/deliveries", nil,
				mostResent)
			return err
		})
	s.more = len(s.events) >= mostResent || len(s.deliveries) >= mostResent
	return s, err
}

// failingSince returns the time of the first event that has not arrived since the webhook fails.
func (s resend) failingSince() time.Time {
	since := *s.webhook.FailingSince
	for _, d := range s.deliveries {
		tried := slices.ContainsFunc(d.Attempts, func(a client.DeliveryAttempt) bool {
			return !a.At.Before(*s.webhook.FailingSince)
		})
		if d.State != "delivered" && tried && d.CreatedAt.Before(since) {
			since = d.CreatedAt
		}
	}
	return since.Truncate(time.Second)
}

// count returns the number of events since a time that are sent: those that the webhook wants, and that have neither
// arrived nor are on their way.
func (s resend) count(since time.Time) string {
	done := map[string]bool{}
	for _, d := range s.deliveries {
		if d.State == "delivered" || d.WaitingFor != nil && *d.WaitingFor == "response" {
			done[d.EventID] = true
		}
	}
	n := 0
	for _, e := range s.events {
		if !e.CreatedAt.Before(since) && !done[e.ID] && wants(s.webhook, e.Type) {
			n++
		}
	}
	return number(n, s.more)
}

// wants reports whether a webhook is for events of a type.
func wants(w webhook, of string) bool {
	return slices.ContainsFunc(w.EventTypes, func(p client.EventPattern) bool {
		pattern := string(p)
		area, all := strings.CutSuffix(pattern, "*")
		return pattern == of || all && strings.HasPrefix(of, area)
	})
}

// periodsToResend returns the periods whose events can be sent again, with the number of those that are. The value of
// each is the time at which it begins, so that a repeat of the form is the same call.
func periodsToResend(r *request, v *view, w webhook) (*chosen, error) {
	s, err := resendOf(r, w)
	if err != nil {
		return nil, err
	}
	c := &chosen{Name: "since", Legend: "Period", Counts: map[string]string{}}
	add := func(text string, since time.Time) string {
		value := since.UTC().Format(time.RFC3339)
		c.Of = append(c.Of, choice{value, text})
		c.Counts[value] = v.T("Events: %s", s.count(since))
		return value
	}
	if since := s.webhook.FailingSince; since != nil {
		c.Value = add(v.T("Since it fails: %s", v.At(*since)), s.failingSince())
	}
	for i, p := range periods {
		by, _ := time.ParseDuration(p.Value) // they are durations
		if value := add(p.Text, r.site.Now().Add(-by)); i == 1 {
			c.Value = cmp.Or(c.Value, value)
		}
	}
	return c, nil
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

// Shown returns the state as people see it, with its word.
func (d delivery) Shown() choice {
	switch {
	case d.State == "pending" && len(d.Attempts) > 0:
		return choice{retryingState, retryingState}
	case d.State == "pending":
		return choice{waitingState, waitingState}
	case d.State == "failed":
		return choice{"failed", "given up"}
	}
	return choice{string(d.State), string(d.State)}
}

func (d delivery) last() (a client.DeliveryAttempt) {
	if n := len(d.Attempts); n > 0 {
		return d.Attempts[n-1]
	}
	return a
}

// Last returns the status of the last attempt, or 0 without an answer.
func (d delivery) Last() int64 { return client.Value(d.last().Status) }

func (d delivery) Latency() int64 { return d.last().LatencyMs }

// Headers are the headers of the request, in the order of their names.
func (d delivery) Headers() (all []formField) {
	for _, name := range slices.Sorted(maps.Keys(d.Request.Headers)) {
		all = append(all, formField{name, d.Request.Headers[name]})
	}
	return all
}

// Curl is the command that repeats the request with a new signature: a receiver refuses one that is five minutes old.
// The secret is in the variable WEBHOOK_SECRET. It is empty for a destination in AWS, and without a body.
func (d delivery) Curl() string {
	if d.Request == nil || d.Request.Body == nil || !strings.HasPrefix(d.Request.Address, "http") {
		return ""
	}
	lines := []string{"curl " + shell(d.Request.Address)}
	for _, h := range d.Headers() {
		switch strings.ToLower(h.Name) {
		case "webhook-id":
			lines = append(lines, `-H "webhook-id: $id"`)
		case "webhook-timestamp":
			lines = append(lines, `-H "webhook-timestamp: $at"`)
		case "webhook-signature":
			lines = append(lines, `-H "webhook-signature: v1,$signature"`)
		default:
			lines = append(lines, "-H "+shell(h.Name+": "+h.Value))
		}
	}
	return "# WEBHOOK_SECRET is the signing secret of the webhook: whsec_…\n" +
		"id=" + shell(d.EventID) + "\nat=$(date +%s)\nbody=" + shell(*d.Request.Body) + "\n" +
		`key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')` + "\n" +
		`signature=$(printf %s "$id.$at.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary |` +
		` base64)` +
		"\n" + strings.Join(append(lines, `--data-raw "$body"`), " \\\n  ")
}

// shell quotes a text for a POSIX shell.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

const (
	eventsPath = "/settings/events"
	auditPath  = "/settings/audit-log"
)

func addAudit(open func(string, func(*request) error)) {
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
	"aut": automationsPath, "int": integrationsPath, "tpl": templatesPath}

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
		} else {
			slog.Warn("the name in a filter is not looked up", "filter", name, "error", err)
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
	Filters: []string{"type"},
	Folded: []input{{Name: "object_id", Label: "Resource", Holder: "cnt_…"},
		{Name: "from", Label: "From", Kind: asDate}, {Name: "to", Label: "To", Kind: asDate}},
	More: func(r *request, v *view, _ []event, to map[string]any) error {
		given, _ := to["Filters"].(map[string]string)
		to["Areas"], to["Types"], to["Chips"] = patterns[1:], eventTypes, chipsOf(r, v, given, nil)
		return nil
	},
	Show: "event", Name: func(e event) string { return e.Type }, Below: deliveriesOfEvent,
}

// eventHook is a webhook with the deliveries of one event to it.
type eventHook struct {
	webhook
	Deliveries []delivery `json:"-"`
}

// deliveriesOfEvent adds what became of an event at each webhook.
func deliveriesOfEvent(r *request, _ *view, e event, to map[string]any) error {
	var hooks []eventHook
	_, err := r.api.list(r.Context(), "/v1/webhooks", url.Values{"limit": {"100"}}, &hooks)
	if err != nil {
		return err
	}
	err = each(hooks, func(h *eventHook) error {
		return r.api.get(r.Context(), "/v1/webhooks/"+url.PathEscape(h.ID)+"/deliveries",
			url.Values{"event_id": {e.ID}}, &h.Deliveries)
	})
	to["Hooks"] = slices.DeleteFunc(hooks, func(h eventHook) bool { return len(h.Deliveries) == 0 })
	return err
}
